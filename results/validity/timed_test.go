package validity

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/results"
)

// timedCampaign is a healthy one whose requests have digests, the same in all runs.
// Attempts are off and on of each block in turn.
func timedCampaign(seed int) []results.Attempt {
	all := healthyCampaign()
	for i := range all {
		for k := range all[i].Requests {
			r := &all[i].Requests[k]
			r.OutputSHA256 = fmt.Sprint(seed, r.Phase, r.Index)
		}
	}
	return all
}

// single makes the first phase one of one stream.
func single(p *results.Plan) *results.Plan {
	p.Scenario.Phases[0].Arrival.Streams = 1
	return p
}

// A phase of one stream is an identity test: nothing but the arm can change an output
// that all runs of the baseline agree on. Two runs show it, one does not.
func TestTimedOutputsOfOneStream(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(all []results.Attempt)
		want   IdentityStatus
		found  []Rule
		say    string
	}{
		{"all agree", func([]results.Attempt) {}, IdentityOK, []Rule{}, ""},
		{"one run", func(all []results.Attempt) { all[3].Requests[2].OutputSHA256 = "x" }, IdentityInvalid, []Rule{"identity-not-reproduced"},
			"the output of request 2 of phase wide differs in 0002/on and in no other of 4 runs of on, while all of off agree"},
		{"two runs", func(all []results.Attempt) {
			all[3].Requests[2].OutputSHA256, all[5].Requests[2].OutputSHA256 = "x", "y"
		}, IdentityFail, []Rule{},
			"the output of request 2 of phase wide differs in 2 of 4 runs of on, first in 0002/on, and is equal in all 4 runs of off"},
		{"one run in one request, two in another", func(all []results.Attempt) {
			all[3].Requests[1].OutputSHA256, all[3].Requests[2].OutputSHA256, all[5].Requests[2].OutputSHA256 = "z", "x", "y"
		}, IdentityFail, []Rule{}, "request 2"},
		{"two runs, each in another request", func(all []results.Attempt) {
			all[3].Requests[1].OutputSHA256, all[5].Requests[2].OutputSHA256 = "x", "y"
		},
			IdentityInvalid, []Rule{"identity-not-reproduced"}, "request 1 of phase wide differs in 0002/on"},
		{"the baseline, too", func(all []results.Attempt) {
			all[3].Requests[2].OutputSHA256, all[5].Requests[2].OutputSHA256, all[0].Requests[3].OutputSHA256 = "x", "y", "z"
		}, IdentityNone, []Rule{}, "off does not agree with itself: request 3 has another output in 0002/off than in 0001/off"},
		{"the warm-up", func(all []results.Attempt) {
			all[3].Requests[0].OutputSHA256, all[5].Requests[0].OutputSHA256 = "x", "y"
		}, IdentityOK, []Rule{}, ""},
	} {
		all := timedCampaign(1)
		c.change(all)
		got := Compare(single(healthyPlan()), offOn, all)
		require.Len(t, got.Timed, 2, c.name)
		assert.Equal(t, c.want, got.Timed[0].Status, c.name)
		assert.Contains(t, got.Timed[0].Message, c.say, c.name)
		assert.Equal(t, c.found, append([]Rule{}, rules(got.Findings)...), c.name)
		assert.Equal(t, IdentityNone, got.Timed[1].Status, "an open loop decides nothing here")
		for _, f := range got.Findings {
			assertReads(t, f.Message)
		}
	}
}

// In a batch other requests of a step change the last bits: how much differs between
// two runs is counted, in all pairs.
func TestTimedOutputsOfSeveralStreams(t *testing.T) {
	all := timedCampaign(1)
	for _, i := range []int{1, 3, 5, 7} { // the candidate's
		all[i].Requests[1].OutputSHA256 = "x"
	}
	all[7].Requests[4].OutputSHA256 = "y"
	got := Compare(healthyPlan(), offOn, all).Timed[0]
	assert.Equal(t, IdentityNone, got.Status)
	assert.Equal(t, 4, got.Requests)
	want := func(i, k int) float64 {
		share := 0.0
		if (i < 4) != (k < 4) {
			share += 0.25
		}
		if (i == 7) != (k == 7) {
			share += 0.25
		}
		return share
	}
	for i := range 8 {
		for k := range 8 {
			assert.InDelta(t, want(i, k), got.Differ[i][k], 1e-12, "%d %d", i, k)
		}
	}
}

// Runs of earlier versions have no digests, and a request that failed in one run has
// no output there: neither is compared. A digest that only other runs have differs.
func TestTimedOutputsWithoutDigests(t *testing.T) {
	for _, none := range Compare(healthyPlan(), offOn, healthyCampaign()).Timed {
		assert.Zero(t, none.Requests)
		assert.Equal(t, IdentityNone, none.Status)
	}
	all := timedCampaign(1)
	all[2].Requests[3].Error, all[2].Requests[3].OutputSHA256 = "reset", "cut"
	assert.Equal(t, 3, Compare(healthyPlan(), offOn, all).Timed[0].Requests)

	all = timedCampaign(1)
	for _, i := range []int{1, 3, 5, 7} { // the candidate's
		for k := range all[i].Requests {
			all[i].Requests[k].OutputSHA256 = ""
		}
	}
	assert.Equal(t, IdentityFail, Compare(single(healthyPlan()), offOn, all).Timed[0].Status)
}

// With kernels that no batch moves, every phase is an identity test.
func TestTimedOutputsOfBatchInvariantKernels(t *testing.T) {
	plan, all := healthyPlan(), timedCampaign(1)
	all[3].Requests[2].OutputSHA256, all[5].Requests[2].OutputSHA256 = "x", "y"
	assert.Equal(t, IdentityNone, Compare(plan, offOn, all).Timed[0].Status)
	plan.Scenario.Engine.Env = map[string]string{"VLLM_BATCH_INVARIANT": "1"}
	got := Compare(plan, offOn, all)
	assert.Equal(t, IdentityFail, got.Timed[0].Status)
	assert.Equal(t, IdentityOK, got.Timed[1].Status)
}

// One block has no second run; the pass of the same block, which the baseline repeats,
// is named first.
func TestTimedOutputsOfOneBlock(t *testing.T) {
	all := timedCampaign(1)[:2]
	all[1].Requests[2].OutputSHA256 = "x"
	got := Compare(single(healthyPlan()), offOn, all)
	assert.Equal(t, []Rule{"identity-not-reproduced"}, rules(got.Findings))
	assert.Contains(t, got.Timed[0].Message, "differs in 0001/on, the only run of on; a second one has to show it: set design.blocks to 2")
	all[1].Identity = nil
	assert.Equal(t, []Rule{"identity", "identity-not-reproduced"}, rules(Compare(single(healthyPlan()), offOn, all).Findings))
}

package evidence

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/results"
)

// Warm-up and failed requests are in no number of the report, so they may not be
// in its pictures.
func TestPoolTakesTimedSuccessesOnly(t *testing.T) {
	t.Parallel()
	request := func(ms int64, edit func(*results.Request)) results.Request {
		r := results.Request{Phase: "single", SentNS: 1, FirstNS: 1 + ms*1e6}
		if edit != nil {
			edit(&r)
		}
		return r
	}
	run := &accept.Run{Attempt: &results.Attempt{Requests: []results.Request{
		request(30, nil), request(20, nil),
		request(1, func(r *results.Request) { r.Warmup = true }),
		request(2, func(r *results.Request) { r.Error = "reset" }),
		request(3, func(r *results.Request) { r.Phase = "identity" }),
		request(4, func(r *results.Request) { r.FirstNS = 0 }),
	}}}
	in := &accept.Accepted{Blocks: []accept.Block{{Runs: map[string]*accept.Run{"off": run}}, {Runs: map[string]*accept.Run{"off": run}}}}
	assert.Equal(t, []float64{0.02, 0.02, 0.03, 0.03}, pool(in, "off", "single", requestTimes[1].of))
}

// Step files that publishing left out give no plot, and no empty frame.
func TestThinnedCampaignHasNoStepPlot(t *testing.T) {
	t.Parallel()
	in := &accept.Accepted{Scenario: &trial.New(t, 6).Scenario, Blocks: []accept.Block{{Runs: map[string]*accept.Run{"off": lone("off"), "on": lone("on")}}}}
	assert.Nil(t, stepTimes(in))
}

func lone(arm string) *accept.Run {
	return &accept.Run{Attempt: &results.Attempt{Key: results.Key{Block: "0001", Attempt: 1, Arm: arm}}}
}

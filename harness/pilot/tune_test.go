package pilot

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

func twoKnobs(decode, prefill float64) []scenarios.Knob {
	return []scenarios.Knob{
		{Name: scenarios.SpinVariable, Metric: "tpot_p50", Value: decode},
		{Name: scenarios.SpinPrefillVariable, Metric: "ttft_p50", Value: prefill},
	}
}

func stepOf(knobs []scenarios.Knob, rises ...float64) results.PilotStep {
	var s results.PilotStep
	for i, k := range knobs {
		s.Values = append(s.Values, results.PilotValue{Name: k.Name, Text: k.Text(), Metric: k.Metric, RisePct: rises[i]})
	}
	return s
}

// A server whose metrics rise in proportion is tuned in one move, each knob by
// its own metric.
func TestProposeInProportion(t *testing.T) {
	knobs := twoKnobs(0.05, 0.2)
	next := propose(knobs, []results.PilotStep{stepOf(knobs, 4, 11)})
	assert.InDelta(t, 0.06875, next[0].Value, 1e-5)
	assert.InDelta(t, 0.1, next[1].Value, 1e-9)
	assert.Equal(t, 0.05, knobs[0].Value, "the tried values stay as they are")
}

func TestProposeLeavesAloneWhatFits(t *testing.T) {
	knobs := twoKnobs(0.05, 0.2)
	next := propose(knobs, []results.PilotStep{stepOf(knobs, 5, 20)})
	assert.Equal(t, 0.05, next[0].Value)
	assert.Less(t, next[1].Value, 0.2)
	assert.True(t, same(propose(knobs, []results.PilotStep{stepOf(knobs, 5, 6)}), knobs))
}

// All steps speak: a second one that noise pushed the other way moves less than
// it would alone.
func TestProposeUsesAllSteps(t *testing.T) {
	first, second := twoKnobs(0.05, 0.2), twoKnobs(0.06, 0.2)
	steps := []results.PilotStep{stepOf(first, 4.5, 5.5), stepOf(second, 9, 5.5)}
	alone := propose(second, steps[1:])
	both := propose(second, steps)
	assert.Less(t, alone[0].Value, both[0].Value)
	assert.Less(t, both[0].Value, 0.06)
	assert.InDelta(t, 0.06*5.5/results.FitPct(steps, 1, 0), both[0].Value, 1e-4)
}

func TestProposeIsBounded(t *testing.T) {
	knobs := twoKnobs(0.05, 0.2)
	for _, noise := range []float64{-3, 0, 0.01} {
		next := propose(knobs, []results.PilotStep{stepOf(knobs, noise, 5.5)})
		assert.InDelta(t, 0.15, next[0].Value, 1e-9, "at most three times as much")
	}
	next := propose(knobs, []results.PilotStep{stepOf(knobs, 500, 5.5)})
	assert.InDelta(t, 0.01667, next[0].Value, 1e-5)
	top := twoKnobs(mostValue, 0.2)
	assert.True(t, same(propose(top, []results.PilotStep{stepOf(top, 1, 5.5)}), top))
	bottom := twoKnobs(leastValue, 0.2)
	assert.True(t, same(propose(bottom, []results.PilotStep{stepOf(bottom, 90, 5.5)}), bottom))
}

func TestKnobThatNothingSets(t *testing.T) {
	knobs := twoKnobs(0.05, 0.2)
	step := stepOf(knobs, 9, 0)
	step.Values[1].Metric = ""
	assert.Equal(t, 0.2, propose(knobs, []results.PilotStep{step})[1].Value)
	assert.InDelta(t, 3, miss([]results.PilotStep{step}, 0), 1e-9)
}

// A step that hit the band by luck does not beat one that hits it as all steps
// together say: 0.06 measured 5.5 %, all together say that it takes 0.045.
func TestBestIsTheClosest(t *testing.T) {
	far, lucky, near := twoKnobs(0.09, 0.2), twoKnobs(0.06, 0.2), twoKnobs(0.045, 0.2)
	steps := []results.PilotStep{stepOf(far, 12, 5.5), stepOf(lucky, 5.5, 5.5), stepOf(near, 6.5, 5.5)}
	assert.Equal(t, 3, best(steps))
	assert.InDelta(t, 5.58, results.FitPct(steps, 2, 0), 0.01)
	assert.Zero(t, miss(steps, 2))
	assert.InDelta(t, 1.44, miss(steps, 1), 0.01)
	out := &results.Pilot{Steps: steps, Chosen: 2}
	steps[1].Values[0].Text = "0.0712"
	assert.Equal(t, 0.0712, chosen(twoKnobs(0.05, 0.2), out)[0].Value)
}

func TestRounded(t *testing.T) {
	assert.Equal(t, 0.07123, rounded(0.0712345))
	assert.Equal(t, 1.235, rounded(1.23456))
	k := scenarios.Knob{Name: scenarios.SpinVariable, Value: rounded(1.0 / 3)}
	assert.Equal(t, "0.3333", k.Text())
}

func scenarioOf(primary ...[]string) *scenarios.Scenario {
	s := &scenarios.Scenario{Purpose: scenarios.Control, Engine: scenarios.Engine{Kind: scenarios.EngineVLLM},
		Arms: []scenarios.Arm{{Name: "plain"}, {Name: "slowed", Env: map[string]string{
			scenarios.SpinVariable: "0.06", scenarios.SpinPrefillVariable: "0.2"}}},
		Compare: []scenarios.Comparison{{Baseline: "plain", Candidate: "slowed"}}}
	for i, list := range primary {
		s.Phases = append(s.Phases, scenarios.Phase{Name: []string{"a", "b", "c"}[i], Primary: list})
	}
	return s
}

func runOf(values ...map[string]float64) *results.Run {
	r := &results.Run{}
	for i, v := range values {
		r.Phases = append(r.Phases, results.Phase{Name: []string{"a", "b", "c"}[i], Metrics: v})
	}
	return r
}

// The mean is over the phases in which the metric is primary; throughput that
// falls is a rise of the cost.
func TestRisesOfAStep(t *testing.T) {
	p := &pilot{Options: Options{Scenario: scenarioOf([]string{"tpot_p50", "output_throughput"}, []string{"tpot_p50"}, []string{"ttft_p50"})}}
	base := runOf(map[string]float64{"tpot_p50": 1, "output_throughput": 100, "ttft_p50": 9}, map[string]float64{"tpot_p50": 2}, map[string]float64{"ttft_p50": 4, "tpot_p50": 7})
	cand := runOf(map[string]float64{"tpot_p50": 1.04, "output_throughput": 95, "ttft_p50": 9}, map[string]float64{"tpot_p50": 2.16}, map[string]float64{"ttft_p50": 5, "tpot_p50": 7})
	list, err := p.metrics([]*results.Run{base}, []*results.Run{cand})
	require.NoError(t, err)
	var names []string
	for _, m := range list {
		names = append(names, m.Phase+" "+m.Metric)
	}
	assert.Equal(t, []string{"a tpot_p50", "a output_throughput", "b tpot_p50", "c ttft_p50"}, names)
	assert.InDelta(t, 5, list[1].RisePct, 1e-9)
	rise, ok := p.rise(twoKnobs(0, 0)[0], list)
	assert.True(t, ok)
	assert.InDelta(t, 6, rise, 1e-9)
	rise, ok = p.rise(twoKnobs(0, 0)[1], list)
	assert.True(t, ok)
	assert.InDelta(t, 25, rise, 1e-9)

	delete(cand.Phases[1].Metrics, "tpot_p50")
	_, err = p.metrics([]*results.Run{base}, []*results.Run{cand})
	assert.ErrorIs(t, err, ErrInvalid)
	assert.ErrorContains(t, err, "no tpot_p50 in phase b")
}

// Without a primary TPOT p50 every phase sets the first knob; nothing sets the
// second without a primary TTFT p50.
func TestKnobsWithoutPrimaries(t *testing.T) {
	p := &pilot{Options: Options{Scenario: scenarioOf([]string{"output_throughput"})}}
	one := map[string]float64{"tpot_p50": 1, "output_throughput": 10, "ttft_p50": 3}
	list, err := p.metrics([]*results.Run{runOf(one)}, []*results.Run{runOf(one)})
	require.NoError(t, err)
	require.Len(t, list, 2)
	_, ok := p.rise(twoKnobs(0, 0)[0], list)
	assert.True(t, ok)
	_, ok = p.rise(twoKnobs(0, 0)[1], list)
	assert.False(t, ok)
}

// Two blocks, one of each order: an advantage of the second server cancels.
func TestRisesOverBothOrders(t *testing.T) {
	p := &pilot{Options: Options{Scenario: scenarioOf([]string{"tpot_p50"})}}
	at := func(ms float64) *results.Run { return runOf(map[string]float64{"tpot_p50": ms}) }
	list, err := p.metrics([]*results.Run{at(4), at(3.6)}, []*results.Run{at(4 * 0.9 * 1.055), at(4 * 1.055)})
	require.NoError(t, err)
	assert.InDelta(t, 5.5, list[0].RisePct, 1e-9)
	_, err = p.metrics([]*results.Run{at(4), at(0)}, []*results.Run{at(4), at(4)})
	assert.ErrorIs(t, err, ErrInvalid)
}

func TestPlanOfAStep(t *testing.T) {
	s := scenarioOf([]string{"tpot_p50"})
	s.Name, s.Design = "x", scenarios.Design{Blocks: 6, BurnInBlocks: 1, Looks: []int{6}}
	s.Phases[0].Source = scenarios.Source{Kind: "synthetic", Requests: 2, PromptTokens: scenarios.Dist{Kind: "fixed", Value: 4},
		OutputTokens: scenarios.Dist{Kind: "fixed", Value: 4}, VocabSize: 99}
	s.Phases[0].Arrival = scenarios.Arrival{Kind: "closed", Streams: 1}
	s.Arms[0].Patch, s.Arms[1].Patch = scenarios.PatchControl, scenarios.PatchControl
	p := &pilot{Options: Options{Scenario: s}}
	plan, err := p.plan(twoKnobs(0.3, 0.4))
	require.NoError(t, err)
	assert.Len(t, plan.Blocks, 1)
	slowed, _ := plan.Scenario.Arm("slowed")
	assert.Equal(t, "0.3", slowed.Env[scenarios.SpinVariable])
	s.Design.AdjustOrder = true
	plan, err = p.plan(twoKnobs(0.3, 0.4))
	require.NoError(t, err)
	require.Len(t, plan.Blocks, 2)
	assert.NotEqual(t, plan.Blocks[0].Order, plan.Blocks[1].Order, "each arm comes first once")
}

package results

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPilotSpeaksForTheChosenStep(t *testing.T) {
	p := &Pilot{Chosen: 2, Steps: []PilotStep{
		{Metrics: []PilotMetric{{Phase: "a", Metric: "tpot_p50", RisePct: 9}}},
		{Metrics: []PilotMetric{{Phase: "a", Metric: "tpot_p50", RisePct: 4}, {Phase: "b", Metric: "tpot_p50", RisePct: 3.999}}},
	}}
	rise, ok := p.Rise("a", "tpot_p50")
	assert.True(t, ok)
	assert.Equal(t, 4.0, rise)
	assert.True(t, p.Applied("a", "tpot_p50"))
	assert.False(t, p.Applied("b", "tpot_p50"))
	assert.False(t, p.Applied("b", "ttft_p50"), "what was not measured was not reached")
	for _, chosen := range []int{-1, 0, 3} {
		p.Chosen = chosen
		_, ok = p.Rise("a", "tpot_p50")
		assert.False(t, ok, chosen)
	}
}

// Each metric is fitted against the knob of its own kind, through zero and over
// all steps; a metric that no knob is set by follows the first.
func TestPilotFitsAllSteps(t *testing.T) {
	step := func(decode, prefill string, tpot, ttft, throughput float64) PilotStep {
		return PilotStep{
			Values: []PilotValue{{Name: "left-alone", Text: "1"}, {Name: "decode", Text: decode, Metric: "tpot_p50", RisePct: tpot},
				{Name: "prefill", Text: prefill, Metric: "ttft_p50", RisePct: ttft}},
			Metrics: []PilotMetric{{Phase: "a", Metric: "tpot_p95", RisePct: tpot}, {Phase: "a", Metric: "ttft_p95", RisePct: ttft},
				{Phase: "a", Metric: "output_throughput", RisePct: throughput}},
		}
	}
	p := &Pilot{Chosen: 2, Steps: []PilotStep{step("0.1", "0.3", 12, 3, 8), step("0.05", "0.6", 1, 12, 9)}}
	for metric, want := range map[string]float64{
		"tpot_p95":          0.05 * (0.1*12 + 0.05*1) / (0.1*0.1 + 0.05*0.05),
		"ttft_p95":          0.6 * (0.3*3 + 0.6*12) / (0.3*0.3 + 0.6*0.6),
		"output_throughput": 0.05 * (0.1*8 + 0.05*9) / (0.1*0.1 + 0.05*0.05),
	} {
		got, ok := p.Rise("a", metric)
		assert.True(t, ok)
		assert.InDelta(t, want, got, 1e-9, metric)
	}
	assert.InDelta(t, 5, FitPct(p.Steps, 1, 1), 1e-9)
	assert.True(t, p.Applied("a", "tpot_p95"), "its own step measured 1 %, all together 5 %")
	p.Steps[1].Metrics[0].RisePct = -2
	assert.False(t, p.Applied("a", "tpot_p95"), "its own step measured no rise")

	p.Steps = p.Steps[1:]
	p.Chosen = 1
	got, _ := p.Rise("a", "ttft_p95")
	assert.InDelta(t, 12, got, 1e-9, "one step speaks for itself")
	p.Steps[0].Values[1].Text = "damaged"
	got, ok := p.Rise("a", "tpot_p95")
	assert.True(t, ok)
	assert.Equal(t, -2.0, got, "a value that is no number: what the step measured")
}

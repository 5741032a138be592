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

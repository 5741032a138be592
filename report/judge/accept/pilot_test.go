package accept

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/aituner/opprof/results"
)

// A rise of a metric that the table does not have is no number: it differs from
// whatever the plan says.
func TestRiseOfAnUnknownMetric(t *testing.T) {
	m := results.PilotMetric{Metric: "tpot_p50", Baseline: 1, Candidate: 1.05}
	assert.InDelta(t, 5, riseOf(m), 1e-9)
	m.Metric = "output_throughput"
	assert.InDelta(t, -5, riseOf(m), 1e-9)
	m.Metric = "tpot_p99"
	assert.True(t, math.IsNaN(riseOf(m)))
}

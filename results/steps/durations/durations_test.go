package durations

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/aituner/opprof/results/metrics"
)

// Quantiles of the bins are within 0.4 % of the exact ones, for any time.
func TestTimesAreWithinTheirBins(t *testing.T) {
	var h Histogram
	var exact []float64
	for x := int64(1); x > 0 && x < 1<<62; x += x/3 + 1 {
		h.Add(x)
		exact = append(exact, float64(x)/1e9)
	}
	for _, q := range []float64{0, 0.1, 0.5, 0.9, 0.95, 1} {
		assert.InEpsilon(t, metrics.Quantile(exact, q), h.Quantile(q), 0.004, q)
	}
	assert.Less(t, binOf(1<<63-1), len(h.bins))
	for _, ns := range []int64{0, 1, 255, 256, 257, 511, 512, 1 << 40, 1<<63 - 1} {
		assert.InDelta(t, float64(ns), middle(binOf(ns)), float64(ns)/250)
	}
	h = Histogram{}
	h.Add(-5)
	assert.Zero(t, h.Quantile(0.5))
	assert.Zero(t, (&Histogram{}).Quantile(0.5))
}

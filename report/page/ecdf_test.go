package page

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results/metrics"
)

// ramp is 1, 2, ... n milliseconds, in seconds.
func ramp(n int) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = float64(i+1) / 1e3
	}
	return values
}

// latencyOf is the view of ascending values, by arm.
func latencyOf(byArm ...[]float64) view.Latency {
	l := view.Latency{Phase: "single", Of: "TTFT"}
	for i, sorted := range byArm {
		d := view.Distribution{Arm: []string{"off", "on"}[i], N: len(sorted)}
		for k := range view.QuantileParts + 1 {
			d.Quantiles = append(d.Quantiles, metrics.Quantile(sorted, float64(k)/view.QuantileParts))
		}
		l.Arms = append(l.Arms, d)
	}
	return l
}

// points are the places of a path of M and L.
func points(t *testing.T, path string) (xs, ys []float64) {
	t.Helper()
	for _, m := range regexp.MustCompile(`[ML]([\d.]+),([\d.]+)`).FindAllStringSubmatch(path, -1) {
		x, err := strconv.ParseFloat(m[1], 64)
		require.NoError(t, err)
		y, err := strconv.ParseFloat(m[2], 64)
		require.NoError(t, err)
		xs, ys = append(xs, x), append(ys, y)
	}
	return xs, ys
}

// A curve must rise from the smallest value to the largest, with its marks on
// it: a picture that contradicts the table would be worse than none.
func TestECDFRisesThroughItsMarks(t *testing.T) {
	t.Parallel()
	styles := []armStyle{{Name: "off"}, {Name: "on"}}
	p := newECDF(styles, latencyOf(ramp(100), ramp(1000)))
	require.Len(t, p.Curves, 2)
	xs, ys := points(t, p.Curves[1].Path)
	require.Len(t, xs, view.QuantileParts+1)
	assert.Zero(t, xs[0])
	assert.InDelta(t, 1000, xs[view.QuantileParts], 1e-9)
	for i := range xs[1:] {
		assert.GreaterOrEqual(t, xs[i+1], xs[i])
		assert.Less(t, ys[i+1], ys[i], "up is more requests")
	}
	assert.Equal(t, []string{"50.95 ms", "250.8 ms", "500.5 ms", "750.2 ms", "950.0 ms", "990.0 ms", "1.000 s"}, p.Curves[1].Cells)
	a := timeAxisOf(0.001, 1)
	assert.Equal(t, share(ecdfGutter+(1-ecdfGutter)*a.at(0.5005)), p.Curves[1].Marks[0].X)
	assert.Equal(t, p.Guides[0].Y, p.Curves[1].Marks[0].Y)
}

// The page must not grow with the requests.
func TestECDFDoesNotGrowWithTheRequests(t *testing.T) {
	t.Parallel()
	one := newECDF([]armStyle{{}}, latencyOf(ramp(1)))
	many := newECDF([]armStyle{{}}, latencyOf(ramp(200_000)))
	assert.Less(t, len(many.Curves[0].Path), 1400)
	assert.Less(t, len(one.Curves[0].Path), 1400)
	assert.Equal(t, 200_000, many.Curves[0].N)
}

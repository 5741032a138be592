package gaps

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The bins cover every gap once, without holes, and none is wider than a
// thousandth of what is in it.
func TestGapBins(t *testing.T) {
	next := int64(0)
	for bin := range 30_000 {
		least, most := gapRange(bin)
		require.Equal(t, next, least, "bin %d", bin)
		require.Equal(t, bin, gapBin(least))
		require.Equal(t, bin, gapBin(most))
		require.LessOrEqual(t, float64(most-least), float64(least)/1024)
		next = most + 1
	}
	assert.Greater(t, next, int64(60e9), "a minute")
	_, most := gapRange(gapBin(math.MaxInt64))
	assert.Equal(t, int64(math.MaxInt64), most)
}

// exactQuantile is type 7 on the single gaps.
func exactQuantile(sorted []int64, p float64) float64 {
	h := float64(len(sorted)-1) * p
	low := int(h)
	if low == len(sorted)-1 {
		return float64(sorted[low])
	}
	return float64(sorted[low]) + (h-float64(low))*float64(sorted[low+1]-sorted[low])
}

// drawn are gaps of some shapes: quiet, wide, with stalls, shorter than a bin of
// a longer one, and of a clock that is coarse.
func drawn(rng *rand.Rand, shape, n int) []int64 {
	gaps := make([]int64, n)
	for i := range gaps {
		x := math.Exp(rng.NormFloat64())
		gaps[i] = int64([]float64{1e7 * (1 + 0.001*x), 4e6 * x * x, 3e6 + 1e5*x, 900 * x, 1e6 * math.Floor(x)}[shape])
		if shape == 2 && rng.IntN(80) == 0 {
			gaps[i] *= 20
		}
	}
	return gaps
}

// What is promised of a quantile, 0.1 %, is kept whatever the gaps look like.
func TestGapQuantileIsWithinATenthOfAPercent(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 14))
	for shape := range 5 {
		for _, n := range []int{1, 2, 3, 99, 7000} {
			gaps := drawn(rng, shape, n)
			var g Histogram
			g.Add(gaps...)
			slices.Sort(gaps)
			for _, p := range []float64{0, 0.5, 0.95, 0.99, 0.999, 1} {
				want := exactQuantile(gaps, p)
				assert.InDelta(t, want, g.Quantile(p), want/1024+1e-9, "shape %d, %d gaps, %g", shape, n, p)
			}
		}
	}
}

// Gaps that share a bin still move a quantile: with steps of a bin, runs that
// differ by less would be equal, and equal runs have no variance.
func TestGapQuantileIsLinearWithinABin(t *testing.T) {
	least, most := gapRange(gapBin(10e6))
	last := float64(0)
	for below := range 20 {
		var g Histogram
		g.Add(slices.Repeat([]int64{5e6}, 980-below)...)
		g.Add(slices.Repeat([]int64{least}, 20+below)...)
		q := g.Quantile(0.99)
		assert.Greater(t, q, last)
		assert.Greater(t, q, float64(least))
		assert.Less(t, q, float64(most))
		last = q
	}
}

// Without gaps there is no quantile, and one gap is all of them.
func TestFewGaps(t *testing.T) {
	var g Histogram
	assert.True(t, math.IsNaN(g.Quantile(0.99)))
	assert.True(t, g.Fits(0, 0, 0))
	g.Add()
	assert.Equal(t, Histogram{}, g, "still absent from run.json")
	g.Add(1234)
	for _, p := range []float64{0, 0.99, 1} {
		assert.Equal(t, 1234.0, g.Quantile(p))
	}
	assert.True(t, math.IsNaN(g.Quantile(-0.1)))
	assert.True(t, math.IsNaN(g.Quantile(math.NaN())))
	var zero Histogram
	zero.Add(0, -5)
	assert.Equal(t, 0.0, zero.Quantile(0.5))
}

// The histogram of a phase is that of its requests, in whatever order and parts
// they come.
func TestGapsAddUp(t *testing.T) {
	gaps := drawn(rand.New(rand.NewPCG(1, 2)), 1, 500)
	var whole, parts Histogram
	whole.Add(gaps...)
	slices.Sort(gaps)
	for part := range slices.Chunk(gaps, 7) {
		parts.Add(part...)
	}
	assert.Equal(t, whole, parts)
	text, err := whole.MarshalText()
	require.NoError(t, err)
	again, err := parts.MarshalText()
	require.NoError(t, err)
	assert.Equal(t, string(text), string(again))
}

// A histogram that lost or moved gaps does not agree with what requests keep.
func TestGapsFit(t *testing.T) {
	gaps := drawn(rand.New(rand.NewPCG(3, 4)), 2, 300)
	var g Histogram
	g.Add(gaps...)
	sum := int64(0)
	for _, x := range gaps {
		sum += x
	}
	largest := slices.Max(gaps)
	assert.True(t, g.Fits(300, sum, largest))
	assert.False(t, g.Fits(299, sum, largest), "a gap too many")
	assert.False(t, g.Fits(300, sum+sum/500, largest), "too short")
	assert.False(t, g.Fits(300, sum-sum/500, largest), "too long")
	assert.False(t, g.Fits(300, sum, largest+largest/500), "the largest is missing")
}

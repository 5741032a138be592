package stat

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func meanOf(sorted []float64) float64 { m, _ := meanSS(sorted); return m }

// Requests differ a lot and their noise little: only the noise counts, because the
// same requests are drawn in both arms.
func TestWithinVarianceSeesTheNoiseOnly(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	base, cand := make([]float64, 400), make([]float64, 400)
	for i := range base {
		base[i] = 50 + 100*r.Float64()
		cand[i] = base[i] * 1.02
	}
	v, err := WithinVariance(base, cand, meanOf, 50, 1)
	require.NoError(t, err)
	assert.Less(t, v, 1e-20, "a constant factor has no noise")

	for i := range cand {
		cand[i] = base[i] * math.Exp(.1*r.NormFloat64())
	}
	v, err = WithinVariance(base, cand, meanOf, 2000, 1)
	require.NoError(t, err)
	// Var(Σ size·noise / Σ size) = noise² (1 + cv²)/n, with cv² = 1/12 for these sizes.
	assert.InEpsilon(t, .01*(1+1.0/12)/400, v, .25)
	again, err := WithinVariance(base, cand, meanOf, 2000, 1)
	require.NoError(t, err)
	assert.Equal(t, v, again)
}

func TestWithinVarianceRefuses(t *testing.T) {
	two := []float64{1, 2}
	for _, c := range []struct {
		x, y []float64
		n    int
		want string
	}{
		{two, []float64{1}, 10, "2 and 1 requests"},
		{[]float64{1}, []float64{1}, 10, "1 and 1 requests"},
		{two, two, 1, "need at least 2"},
		{[]float64{0, 0}, two, 10, "baseline value 0"},
	} {
		_, err := WithinVariance(c.x, c.y, meanOf, c.n, 1)
		assert.ErrorContains(t, err, c.want)
	}
}

func TestSplitVariance(t *testing.T) {
	v, err := SplitVariance(.02, []float64{1e-4, 3e-4})
	require.NoError(t, err)
	assert.InDelta(t, 4e-4, v.Total, 1e-18)
	assert.InDelta(t, 2e-4, v.Within, 1e-18)
	assert.InDelta(t, 2e-4, v.Between, 1e-18)
	assert.True(t, VarianceSplit{Total: 4, Within: 2.1}.MostlyWithin())
	assert.False(t, VarianceSplit{Total: 4, Within: 2}.MostlyWithin())
	v, err = SplitVariance(.01, []float64{5e-4})
	require.NoError(t, err)
	assert.Zero(t, v.Between, "never negative")
	for _, bad := range []struct {
		sd     float64
		within []float64
	}{{.01, nil}, {math.NaN(), []float64{1}}, {-1, []float64{1}}, {1, []float64{math.NaN()}}, {1, []float64{-1}}} {
		_, err := SplitVariance(bad.sd, bad.within)
		assert.Error(t, err)
	}
}

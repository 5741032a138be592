package stat

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLookAlpha(t *testing.T) {
	a, err := LookAlpha([]int{10, 20})
	require.NoError(t, err)
	assert.Equal(t, .01433, a)
	for _, n := range []int{6, 10, 12, 24} {
		a, err := LookAlpha([]int{n})
		require.NoError(t, err)
		assert.Equal(t, DefaultAlpha, a)
	}
}

func TestLookCriticalValues(t *testing.T) {
	for _, c := range []struct {
		looks []int
		t     []float64
	}{
		{[]int{10, 20}, []float64{2.6016, 2.3677}},
		{[]int{6, 10}, []float64{3.0189, 2.5850}},
		{[]int{6, 12}, []float64{3.0584, 2.5264}},
		{[]int{8, 16}, []float64{2.7529, 2.4253}},
		{[]int{10, 15, 20}, []float64{2.7248, 2.5433, 2.4646}},
		{[]int{6, 10, 14, 20}, []float64{3.4933, 2.9065, 2.7231, 2.6047}},
		{[]int{8, 12, 16, 20}, []float64{3.0313, 2.7445, 2.6261, 2.5617}},
	} {
		a, err := LookAlpha(c.looks)
		require.NoError(t, err)
		for i, n := range c.looks {
			// The error is printed to five places, t to four.
			const half, halfT = 5e-6, 5e-5
			df := float64(n - 1)
			assert.GreaterOrEqual(t, c.t[i], tQuantile(a+half, df)-halfT, "%v at %d", c.looks, n)
			assert.LessOrEqual(t, c.t[i], tQuantile(a-half, df)+halfT, "%v at %d", c.looks, n)
		}
	}
}

func TestLookAlphaRefuses(t *testing.T) {
	for _, c := range []struct {
		looks []int
		want  string
	}{
		{nil, "none planned"},
		{[]int{5}, "at least 6"},
		{[]int{5, 10}, "at least 6"},
		{[]int{7}, "must be even"},
		{[]int{20, 10}, "no calibrated error"},
		{[]int{10, 20, 30}, "[10 20]"},
		{[]int{10, 10}, "no calibrated error"},
		{[]int{-10}, "too few"},
	} {
		_, err := LookAlpha(c.looks)
		assert.ErrorContains(t, err, c.want)
	}
}

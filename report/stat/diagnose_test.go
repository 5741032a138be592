package stat

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFragile(t *testing.T) {
	m := Margin(.03, LowerIsBetter)
	steady := []float64{.01, .012, .008, .011, .009, .010, .013, .007}
	blocks, err := Fragile(steady, m, Options{})
	require.NoError(t, err)
	assert.Empty(t, blocks)

	// A margin just above U: the pass hangs on whatever holds U down.
	hanging := []float64{.019, .026, .012, .024, .017, .027, .021, .015}
	tight := mustAnalyze(t, hanging, Options{}).U + 1e-6
	blocks, err = Fragile(hanging, tight, Options{})
	require.NoError(t, err)
	var want []int
	for i := range hanging {
		if mustAnalyze(t, slices.Delete(slices.Clone(hanging), i, i+1), Options{}).T.Hi >= tight {
			want = append(want, i)
		}
	}
	assert.Equal(t, want, blocks)
	assert.Contains(t, blocks, 0, "a block in the middle")
	assert.NotContains(t, blocks, 5, "leaving out the worst block helps")

	blocks, err = Fragile([]float64{.05, .02, .04, .01, .06, .03}, m, Options{})
	require.NoError(t, err)
	assert.Nil(t, blocks, "no pass, nothing to lose")
}

func TestFragileWithGroups(t *testing.T) {
	d := []float64{.01, .012, .008, .011, .009, .010, .013, .007}
	order := []bool{true, false, false, true, true, false, false, true}
	host := []string{"a", "a", "a", "a", "b", "b", "b", "b"}
	for _, opt := range []Options{{Order: order}, {Host: host}} {
		blocks, err := Fragile(d, Margin(.03, LowerIsBetter), opt)
		require.NoError(t, err)
		assert.Empty(t, blocks)
	}
	assert.Equal(t, []bool{true, false, false, true, true, false, false, true}, order)
	_, err := Fragile([]float64{math.NaN(), 1, 2, 3, 4, 5}, .03, Options{})
	require.ErrorContains(t, err, "value 1 is NaN")
}

func TestOutliers(t *testing.T) {
	d := []float64{.010, .011, .009, .0105, .0095, .010, .09}
	far, err := Outliers(d)
	require.NoError(t, err)
	assert.Equal(t, []int{6}, far)
	// Median 0, MAD 1: the limit is 7.413.
	far, err = Outliers([]float64{-1, -1, 0, 1, 1, 7.41, -7.42})
	require.NoError(t, err)
	assert.Equal(t, []int{6}, far)
	far, err = Outliers([]float64{1, 1, 1, 1, 100})
	require.NoError(t, err)
	assert.Nil(t, far, "too few to say")
	_, err = Outliers(nil)
	require.Error(t, err)
	_, err = Outliers([]float64{1, math.NaN()})
	require.Error(t, err)
}

func TestLag1(t *testing.T) {
	r, err := Lag1([]float64{1, -1, 1, -1, 1, -1})
	require.NoError(t, err)
	assert.InDelta(t, -5.0/6, r, 1e-15)
	r, err = Lag1([]float64{1, 2, 3, 4, 5})
	require.NoError(t, err)
	assert.InDelta(t, .4, r, 1e-15)
	for _, bad := range [][]float64{nil, {1, 2}, {1, 1, 1}, {1, 2, math.Inf(1)}} {
		_, err := Lag1(bad)
		assert.Error(t, err, bad)
	}
}

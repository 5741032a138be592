package stat

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOrderEffect(t *testing.T) {
	order := []bool{true, false, false, true, true, false}
	d := []float64{.03, .011, .009, .031, .029, .010}
	r, err := OrderEffect(d, order)
	require.NoError(t, err)
	assert.InDelta(t, .01, r.Effect, 1e-15)
	// Both orders have s = .001: t = .01/(.001·√(2/3)/2) = 24.49 with 4 degrees.
	assert.InDelta(t, 1.6475e-5, r.P, 1e-8)
	assert.True(t, r.Flag(r.P, .0299))
	assert.False(t, r.Flag(r.P, .0301), "a third of the margin")
	assert.False(t, r.Flag(.01, .0299), "not significant")

	for i := range order {
		order[i] = !order[i]
	}
	turned, err := OrderEffect(d, order)
	require.NoError(t, err)
	assert.InDelta(t, -r.Effect, turned.Effect, 1e-15)
	assert.InDelta(t, r.P, turned.P, 1e-15)
}

func TestOrderEffectRefuses(t *testing.T) {
	for _, c := range []struct {
		d     []float64
		order []bool
		want  string
	}{
		{nil, nil, "got 0 values"},
		{[]float64{1, 2}, []bool{true, false}, "need at least 3"},
		{[]float64{1, 2, math.NaN()}, []bool{true, false, true}, "value 3 is NaN"},
		{[]float64{1, 2, 3}, []bool{true, true, true}, "same order"},
		{[]float64{1, 2, 3}, []bool{true}, "1 orders for 3 blocks"},
		{[]float64{1, 2, 1, 2}, []bool{true, false, true, false}, "all effects are equal"},
	} {
		_, err := OrderEffect(c.d, c.order)
		assert.ErrorContains(t, err, c.want)
	}
}

func TestHolm(t *testing.T) {
	for _, c := range []struct{ p, want []float64 }{
		{nil, []float64{}},
		{[]float64{.03}, []float64{.03}},
		// Holm's own kind of example: the third is raised to the second's value.
		{[]float64{.01, .04, .03, .005}, []float64{.03, .06, .06, .02}},
		{[]float64{.9, .8}, []float64{1, 1}},
		{[]float64{math.NaN(), .01}, []float64{1, .02}},
	} {
		assert.InDeltaSlice(t, c.want, Holm(c.p), 1e-15)
	}
}

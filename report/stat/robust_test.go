package stat

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// By hand: of 2^n ways those count whose sum is no larger.
func TestSignFlipByHand(t *testing.T) {
	for _, c := range []struct {
		d    []float64
		want float64
	}{
		{[]float64{-1, -2, -3, -4, -5, -6}, 1. / 64},
		{[]float64{1, -2, -3, -4, -5, -6}, 2. / 64},  // all signs down, and the one that was seen
		{[]float64{-1, -2, 3, -4, -5, -6}, 5. / 64},  // −21, −19, −17 and twice −15
		{[]float64{1, 2, 3, 4, 5, 6}, 1},             // every other sum is smaller
		{[]float64{.01, .01, .01, .01, .01, .01}, 1}, // equal effects have no symmetric noise to flip
	} {
		p, err := SignFlip(c.d, 0, 0)
		require.NoError(t, err)
		assert.InDelta(t, c.want, p, 1e-15, c.d)
		for i := range c.d {
			c.d[i] += .03
		}
		p, err = SignFlip(c.d, .03, 0)
		require.NoError(t, err)
		assert.InDelta(t, c.want, p, 1e-15, "about the margin: %v", c.d)
	}
	_, err := SignFlip(nil, 0, 0)
	assert.Error(t, err)
}

// Above 16 blocks the share is estimated, from one seed the same always.
func TestSignFlipOfManyBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, n := range []int{17, 70} {
		d := make([]float64, n)
		sum, squares := 0.0, 0.0
		for i := range d {
			d[i] = r.NormFloat64() - 1.2/math.Sqrt(float64(n))
			sum += d[i]
			squares += d[i] * d[i]
		}
		p, err := SignFlip(d, 0, 7)
		require.NoError(t, err)
		normal := .5 * math.Erfc(-sum/math.Sqrt(2*squares))
		assert.InDelta(t, normal, p, .01, "the sum of many signs is nearly normal")
		again, err := SignFlip(d, 0, 7)
		require.NoError(t, err)
		assert.Equal(t, p, again)
	}
}

func TestBadStartsNotExcluded(t *testing.T) {
	assert.InDelta(t, .459, BadStarts(6, .025), .0005)
	assert.InDelta(t, .308, BadStarts(10, .025), .0005)
	assert.InDelta(t, .025, math.Pow(1-BadStarts(8, .025), 8), 1e-12)
}

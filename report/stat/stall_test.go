package stat

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
)

func TestStallTest(t *testing.T) {
	for _, c := range []struct {
		xc, xb int
		tc, tb float64
		want   float64
	}{
		{0, 0, 10, 10, 1},
		{0, 9, 10, 10, 1},
		{6, 0, 100, 100, 1.0 / 64},
		{7, 0, 100, 100, 1.0 / 128},
		{3, 1, 5, 5, 5.0 / 16},
		{2, 0, 30, 10, 9.0 / 16}, // the candidate was watched three times as long
	} {
		p, err := StallTest(c.xc, c.xb, c.tc, c.tb)
		require.NoError(t, err)
		assert.InDelta(t, c.want, p, 1e-12, c)
	}
	six, _ := StallTest(6, 0, 100, 100)
	seven, _ := StallTest(7, 0, 100, 100)
	assert.Greater(t, six, StallAlpha)
	assert.Less(t, seven, StallAlpha)
}

// With equal arms the test stops at most one campaign in a hundred, however many
// stalls there are; and it does stop a candidate that stalls all the time.
func TestStallTestKeepsItsLevel(t *testing.T) {
	for total := range 120 {
		for _, share := range []float64{.3, .5, .6} {
			flagged := 0.0
			binomial := distuv.Binomial{N: float64(total), P: share}
			for xc := range total + 1 {
				p, err := StallTest(xc, total-xc, share, 1-share)
				require.NoError(t, err)
				if p < StallAlpha {
					flagged += binomial.Prob(float64(xc))
				}
			}
			assert.Less(t, flagged, StallAlpha+1e-12, "%d stalls, share %g", total, share)
		}
	}
	p, err := StallTest(20, 4, 1, 1)
	require.NoError(t, err)
	assert.Less(t, p, StallAlpha)
}

func TestStallTestRefuses(t *testing.T) {
	for _, c := range []struct {
		xc, xb int
		tc, tb float64
		want   string
	}{
		{-1, 0, 1, 1, "can't be negative"},
		{0, -1, 1, 1, "can't be negative"},
		{1, 1, 0, 1, "above zero"},
		{1, 1, 1, math.NaN(), "above zero"},
		{1, 1, math.Inf(1), 1, "finite"},
	} {
		_, err := StallTest(c.xc, c.xb, c.tc, c.tb)
		assert.ErrorContains(t, err, c.want)
	}
}

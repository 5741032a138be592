package stat

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// simulatedEquality is how often t intervals of normal effects lie within the
// margin on both sides.
func simulatedEquality(n int, sd, margin, theta float64, reps int) float64 {
	rng := rand.New(rand.NewPCG(uint64(n), math.Float64bits(sd)))
	critical := tQuantile(DefaultAlpha, float64(n-1))
	equal := 0
	d := make([]float64, n)
	for range reps {
		sum := 0.0
		for i := range d {
			d[i] = theta + sd*rng.NormFloat64()
			sum += d[i]
		}
		mean, ss := sum/float64(n), 0.0
		for _, x := range d {
			ss += (x - mean) * (x - mean)
		}
		half := critical * math.Sqrt(ss/float64(n-1)/float64(n))
		if mean+half < margin && mean-half > -margin {
			equal++
		}
	}
	return float64(equal) / float64(reps)
}

func TestEqualPowerAgainstSimulation(t *testing.T) {
	const reps = 20_000
	margin := Margin(.03, LowerIsBetter)
	for _, c := range []struct {
		n         int
		sd, theta float64
	}{{6, .01, 0}, {10, .02, 0}, {10, .02, .005}, {10, .02, -.005}, {20, .03, 0}, {40, .04, .004}} {
		got, err := EqualPower(c.n, c.sd, margin, c.theta, DefaultAlpha)
		require.NoError(t, err)
		want := simulatedEquality(c.n, c.sd, margin, c.theta, reps)
		assert.InDelta(t, want, got, 3*math.Sqrt(want*(1-want)/reps)+.002, c)
	}
}

// Where the intervals are wide, the sum of both misses is more than the truth:
// the number may be too low then, never too high.
func TestEqualPowerIsNeverTooHigh(t *testing.T) {
	margin := Margin(.03, LowerIsBetter)
	for _, sd := range []float64{.04, .06, .1} {
		got, err := EqualPower(6, sd, margin, 0, DefaultAlpha)
		require.NoError(t, err)
		assert.LessOrEqual(t, got, simulatedEquality(6, sd, margin, 0, 20_000)+.005, sd)
		assert.GreaterOrEqual(t, got, 0.0, sd)
	}
}

func TestEqualBlocksNeeded(t *testing.T) {
	margin := Margin(.03, LowerIsBetter)
	for _, theta := range []float64{0, .01, -.01} {
		for _, sd := range []float64{.004, .02, .06} {
			n, err := EqualBlocksNeeded(sd, margin, theta, DefaultAlpha, .9)
			require.NoError(t, err)
			here, err := EqualPower(n, sd, margin, theta, DefaultAlpha)
			require.NoError(t, err)
			assert.GreaterOrEqual(t, here, .9)
			if n > 2 {
				less, err := EqualPower(n-1, sd, margin, theta, DefaultAlpha)
				require.NoError(t, err)
				assert.Less(t, less, .9, "%d blocks are enough, sd %g, effect %g", n-1, sd, theta)
			}
			gate, err := BlocksNeeded(sd, margin, theta, DefaultAlpha, .9)
			require.NoError(t, err)
			assert.GreaterOrEqual(t, n, gate, "two bounds need no fewer blocks than one")
		}
	}
}

func TestEqualPowerRefuses(t *testing.T) {
	_, err := EqualBlocksNeeded(.01, .03, -.04, DefaultAlpha, .9)
	require.ErrorContains(t, err, "no number of blocks")
	_, err = EqualBlocksNeeded(10, .03, 0, DefaultAlpha, .9)
	require.ErrorContains(t, err, "reduce the noise")
	_, err = EqualPower(1, .01, .03, 0, DefaultAlpha)
	require.ErrorContains(t, err, "need at least 2")
	_, err = EqualPower(6, 0, .03, 0, DefaultAlpha)
	require.ErrorContains(t, err, "above zero")
}

package stat

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var cvs = []float64{.003, .005, .007, .01, .015, .02, .03, .05}

// Required pairs at 90 % power by true regression and CV.
func TestBlocksNeededTable(t *testing.T) {
	for theta, row := range map[float64][]int{
		0:    {3, 3, 4, 5, 8, 12, 24, 63},
		.005: {3, 4, 5, 6, 10, 16, 34, 89},
		.01:  {3, 4, 5, 8, 15, 24, 52, 139},
		.015: {4, 5, 7, 12, 24, 42, 90, 247},
		.02:  {5, 8, 13, 25, 52, 91, 201, 554},
	} {
		checkRow(t, theta, .9, row)
	}
	checkRow(t, 0, .8, []int{3, 3, 4, 5, 7, 10, 19, 47})
	checkRow(t, .02, .8, []int{4, 7, 11, 19, 40, 68, 151, 415})
}

func checkRow(t *testing.T, theta, wanted float64, row []int) {
	t.Helper()
	for i, cv := range cvs {
		n, err := BlocksNeeded(math.Sqrt2*cv, Margin(.03, LowerIsBetter), math.Log1p(theta), .025, wanted)
		require.NoError(t, err)
		assert.Equal(t, row[i], n, "true %g, CV %g", theta, cv)
	}
}

// Simulated pass rates (10 000 repetitions) of the t bound.
func TestPowerAgainstSimulation(t *testing.T) {
	for _, c := range []struct {
		cv, theta float64
		n         int
		percent   float64
	}{
		{.01, .01, 5, 64.9}, {.01, .01, 6, 77.2}, {.01, .01, 8, 91.8}, {.01, .01, 10, 97.3},
		{.02, 0, 5, 43.6}, {.02, 0, 10, 83.5}, {.02, 0, 20, 99.3},
		{.01, .02, 10, 50.0}, {.003, .02, 5, 96.6}, {.02, .03, 10, 2.5},
	} {
		got := power(c.n, (Margin(.03, LowerIsBetter)-math.Log1p(c.theta))/(math.Sqrt2*c.cv), .025)
		se := math.Sqrt(got * (1 - got) / 10_000)
		assert.InDelta(t, c.percent/100, got, 3*se+.0005, c)
	}
}

// The largest CV with 90 % power, by number of pairs and true regression.
func TestPowerAtTheLargestCV(t *testing.T) {
	for n, cv := range map[int][2]float64{5: {1.06, .71}, 6: {1.25, .83}, 8: {1.56, 1.03}, 10: {1.81, 1.20}, 15: {2.32, 1.54}, 20: {2.73, 1.81}} {
		for i, theta := range []float64{0, math.Log1p(.01)} {
			got := power(n, (Margin(.03, LowerIsBetter)-theta)/(math.Sqrt2*cv[i]/100), .025)
			assert.InDelta(t, .9, got, .006, "n %d CV %g", n, cv[i])
		}
	}
}

// Where the exact series gives way to the tail formula the power must not jump.
func TestPowerIsSmoothAndMonotone(t *testing.T) {
	for _, n := range []int{2, 3, 10, 1000} {
		last := 0.0
		for shift := -40.0; shift <= 80; shift += .5 {
			p := power(n, shift/math.Sqrt(float64(n)), .025)
			assert.GreaterOrEqual(t, p, last-2e-3, "n %d shift %g", n, shift)
			assert.True(t, p >= 0 && p <= 1, "n %d shift %g: %g", n, shift, p)
			last = p
		}
		assert.Greater(t, last, .99)
	}
}

// With two blocks s is |normal|, so the power is an integral over one normal.
func TestPowerOfTwoBlocksByIntegration(t *testing.T) {
	critical := tQuantile(.025, 1)
	for _, shift := range []float64{5, 20, 34, 36, 40, 44} {
		want := 0.0
		const step = .01
		for z := -8.0; z <= 8; z += step {
			inside := math.Erf(math.Abs(shift+z) / critical / math.Sqrt2)
			want += inside * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) * step
		}
		assert.InDelta(t, want, power(2, shift/math.Sqrt2, .025), 2e-4, shift)
	}
}

func TestPlannerRefuses(t *testing.T) {
	for _, c := range []struct {
		sd, margin, theta, alpha, power float64
		want                            string
	}{
		{0, .03, 0, .025, .9, "must be above zero"},
		{math.NaN(), .03, 0, .025, .9, "must be finite"},
		{.01, math.Inf(1), 0, .025, .9, "must be finite"},
		{.01, .03, .03, .025, .9, "no number of blocks"},
		{.01, .03, 0, 0, .9, "one-sided error 0"},
		{.01, .03, 0, .025, 1, "power 1 must lie"},
		{.01, .03, 0, .025, .02, "power 0.02 must lie"},
		{10, .03, 0, .025, .9, "reduce the noise"},
	} {
		_, err := BlocksNeeded(c.sd, c.margin, c.theta, c.alpha, c.power)
		assert.ErrorContains(t, err, c.want)
	}
}

func TestSDUpperFactor(t *testing.T) {
	for n, want := range map[int]string{5: "1.56", 6: "1.46", 8: "1.35", 10: "1.29", 15: "1.22", 20: "1.18"} {
		digits(t, want, SDUpperFactor(n), "factor")
	}
	assert.True(t, math.IsNaN(SDUpperFactor(1)))
}

func TestTightestMargin(t *testing.T) {
	e := mustAnalyze(t, toy6, Options{})
	m := TightestMargin(e)
	assert.Equal(t, Inconclusive, Judge(e, m))
	assert.Equal(t, Pass, Judge(e, math.Nextafter(m, 1)))
}

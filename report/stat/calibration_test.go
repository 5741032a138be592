package stat

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

var campaigns = flag.Int("campaigns", 1500, "simulated campaigns per calibration cell; 20000 is the full calibration")

// noise draws one effect with mean zero.
type noise func(*rand.Rand) float64

func normal(r *rand.Rand) float64 { return r.NormFloat64() }

func t3(r *rand.Rand) float64 {
	a, b, c := r.NormFloat64(), r.NormFloat64(), r.NormFloat64()
	return r.NormFloat64() / math.Sqrt((a*a+b*b+c*c)/3)
}

func skewed(r *rand.Rand) float64 { return math.Exp(.6*r.NormFloat64()) - math.Exp(.18) }

func leftSkewed(r *rand.Rand) float64 { return -skewed(r) }

func stalling(r *rand.Rand) float64 {
	x := r.NormFloat64() - .4
	if r.Float64() < .1 {
		x += 4
	}
	return x
}

// The false-pass rates of max(t, bootstrap-t) that the research simulations found
// (20 000 repetitions of 999 draws), at a true regression of exactly the margin.
var cells = []struct {
	name      string
	draw      noise
	symmetric bool
	percent   map[int]float64 // by number of blocks
}{
	{"normal", normal, true, map[int]float64{6: 1.6, 8: 1.8, 10: 2.0}},
	{"t3", t3, true, map[int]float64{6: 1.2, 8: 1.5, 10: 1.8}},
	{"right skew", skewed, false, map[int]float64{6: 6.0, 8: 5.6, 10: 5.2}},
	{"left skew", leftSkewed, false, map[int]float64{6: .35, 8: .35, 10: .35}},
	{"stalls", stalling, false, map[int]float64{6: 4.6, 8: 5.3, 10: 5.6}},
}

// passRate returns the share of campaigns of n blocks, with the true effect on
// the margin, that pass.
func passRate(t *testing.T, draw noise, n, reps int, opt Options) float64 {
	t.Helper()
	margin := Margin(.03, LowerIsBetter)
	r := rand.New(rand.NewPCG(uint64(n), 2026))
	passed := 0
	for range reps {
		d := make([]float64, n)
		for i := range d {
			d[i] = margin + .014*draw(r)
		}
		v, err := verdictOf(d, margin, opt)
		if err != nil {
			t.Fatal(err)
		}
		if v == Pass {
			passed++
		}
	}
	return float64(passed) / float64(reps)
}

func standardError(p float64, reps int) float64 {
	return math.Sqrt(p * (1 - p) / float64(reps))
}

// calibrated returns the numbers of blocks to simulate.
func calibrated() []int {
	if *campaigns < 20_000 {
		return []int{6, 8}
	}
	return []int{6, 8, 10}
}

// repetitions spares the costly enumeration of ten blocks.
func repetitions(n int) int {
	if n < 10 {
		return *campaigns
	}
	return *campaigns / 10
}

func TestCalibration(t *testing.T) {
	for _, n := range calibrated() {
		reps := repetitions(n)
		for _, c := range cells {
			rate := passRate(t, c.draw, n, reps, Options{})
			want := c.percent[n] / 100
			combined := math.Hypot(standardError(want, reps), standardError(want, 20_000))
			// The left-skew reference is a range, 0.2 to 0.5 %, about its middle.
			slack := 0.0005
			if c.name == "left skew" {
				slack = .0015
			}
			assert.InDelta(t, want, rate, 3*combined+slack, "%s, n %d", c.name, n)
			if c.symmetric {
				assert.LessOrEqual(t, rate, .025+3*standardError(.025, reps), "%s, n %d", c.name, n)
			}
			t.Logf("%-10s n %2d: %.2f %% (research %.2f)", c.name, n, 100*rate, c.percent[n])
		}
	}
}

// The adjusted estimator of interleaved campaigns, alternating orders.
func TestCalibrationAdjustedForOrder(t *testing.T) {
	for _, n := range calibrated() {
		reps := repetitions(n)
		order := make([]bool, n)
		for i := range order {
			order[i] = i%4 == 0 || i%4 == 3
		}
		for _, c := range cells {
			rate := passRate(t, c.draw, n, reps, Options{Order: order})
			limit := .07 // strong skew: no interval of a mean is safe
			if c.symmetric {
				limit = .025
			}
			assert.LessOrEqual(t, rate, limit+3*standardError(limit, reps), "%s, n %d", c.name, n)
			t.Logf("%-10s n %2d: %.2f %%", c.name, n, 100*rate)
		}
	}
}

// A gate that never passes would be calibrated too.
func TestPowerIsNotGivenAway(t *testing.T) {
	margin := Margin(.03, LowerIsBetter)
	shifted := func(r *rand.Rand) float64 { return r.NormFloat64() - 2 }
	assert.Greater(t, passRate(t, shifted, 8, 500, Options{}), .93, "research: 96.5 %% at two sd below the margin %g", margin)
}

package workload

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/scenarios"
)

// gaps are the intended gaps of a phase in units of the mean one.
func gaps(t *testing.T, a scenarios.Arrival) []float64 {
	p := mixed()
	p.Name, p.Arrival, p.Source.Requests = "arrivals", a, 4000
	p.Source.PromptTokens = fixed(16)
	w := expand(t, p)
	require.True(t, w.Open)
	var all []float64
	last := time.Duration(0)
	for _, r := range w.Requests {
		gap := (r.Offset - last).Seconds() * a.Rate
		require.GreaterOrEqual(t, gap, 0.0)
		all, last = append(all, gap), r.Offset
	}
	return all
}

// moments are mean and coefficient of variation.
func moments(x []float64) (mean, cv float64) {
	sum, squares := 0.0, 0.0
	for _, v := range x {
		sum, squares = sum+v, squares+v*v
	}
	n := float64(len(x))
	mean = sum / n
	return mean, math.Sqrt(squares/n-mean*mean) / mean
}

func TestConstantArrivals(t *testing.T) {
	for i, gap := range gaps(t, scenarios.Arrival{Kind: "constant", Rate: 3}) {
		assert.InDelta(t, 1, gap, 1e-8, "request %d", i)
	}
	p := mixed()
	p.Arrival = scenarios.Arrival{Kind: "constant", Rate: 3}
	assert.Equal(t, 140*time.Second, expand(t, p).Requests[419].Offset, "rounding does not add up")
}

// A gamma process of burstiness b has gaps with a coefficient of variation of
// 1/sqrt(b). The tolerances are about four standard errors at 4020 gaps.
func TestGammaArrivals(t *testing.T) {
	for b, tolerance := range map[float64][2]float64{0.25: {0.13, 0.25}, 1: {0.064, 0.09}, 4: {0.032, 0.035}, 100: {0.0064, 0.005}} {
		mean, cv := moments(gaps(t, scenarios.Arrival{Kind: "gamma", Rate: 20, Burstiness: b}))
		assert.InDelta(t, 1, mean, tolerance[0], "burstiness %g", b)
		assert.InDelta(t, 1/math.Sqrt(b), cv, tolerance[1], "burstiness %g", b)
	}
}

// TestGammaShape checks the distribution itself, not only its moments: a gamma
// variable of shape 2 is the sum of two exponential ones, so its distribution
// function is 1 - (1+x) e^-x. The bound is the 99.9 % point of Kolmogorov's
// statistic.
func TestGammaShape(t *testing.T) {
	rng := stream(1, "p", "gamma")
	const n = 4000
	counts := [40]int{}
	for range n {
		if bin := int(gamma(2, rng) / 0.2); bin < len(counts) {
			counts[bin]++
		}
	}
	below := 0
	for i, count := range counts {
		below += count
		x := 0.2 * float64(i+1)
		assert.InDelta(t, 1-(1+x)*math.Exp(-x), float64(below)/n, 1.95/math.Sqrt(n), "at %g", x)
	}
}

// The smallest burstiness that a scenario may have still gives finite times.
func TestExtremeBurstiness(t *testing.T) {
	mean, _ := moments(gaps(t, scenarios.Arrival{Kind: "gamma", Rate: 20, Burstiness: 0.05}))
	assert.InDelta(t, 1, mean, 0.3)
}

func TestArrivalsRefused(t *testing.T) {
	for want, a := range map[string]scenarios.Arrival{
		"arrival rate 0: a positive":            {Kind: "constant"},
		"arrival burstiness 0: a positive":      {Kind: "gamma", Rate: 1},
		"arrival burstiness NaN":                {Kind: "gamma", Rate: 1, Burstiness: math.NaN()},
		"arrival rate 0":                        {Kind: "gamma", Burstiness: 1},
		"needs a source of kind trace, not syn": {Kind: "trace", Scale: 1},
		`arrival kind "burst" is not known`:     {Kind: "burst"},
	} {
		p := mixed()
		p.Arrival = a
		_, err := Expand(p)
		assert.ErrorContains(t, err, want)
	}
}

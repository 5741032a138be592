package workload

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/aituner/opprof/scenarios"
)

// arrivals sets the intended times of a renewal process with the rate's mean
// gap, the warm-up at the same rate: no variation of the gaps (constant),
// exponential gaps (poisson), or gamma gaps whose coefficient of variation is
// 1/sqrt(burstiness). The first gap lies before the first request. A trace has
// its times already.
func arrivals(requests []Request, a scenarios.Arrival, rng *rand.Rand) {
	var at time.Duration
	for i := range requests {
		switch a.Kind {
		case scenarios.ArrivalConstant: // from the index, so that rounding does not add up
			at = time.Duration(math.Round(float64(i+1) * float64(time.Second) / a.Rate))
		case scenarios.ArrivalPoisson:
			gap := -logPortable(1-rng.Float64()) / a.Rate
			at += time.Duration(gap * float64(time.Second))
		case scenarios.ArrivalGamma:
			gap := gamma(a.Burstiness, rng) / a.Burstiness / a.Rate
			at += time.Duration(gap * float64(time.Second))
		default:
			return
		}
		requests[i].Offset = at
	}
}

// gamma draws from the gamma distribution of that shape and scale 1, by the
// method of Marsaglia and Tsang (ACM TOMS 26, 2000); a shape below 1 is made
// from shape+1 by their section 6.
func gamma(shape float64, rng *rand.Rand) float64 {
	if shape < 1 {
		power := logPortable(1-rng.Float64()) / shape
		return expPortable(power) * gamma(shape+1, rng)
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := normal(rng)
		root := 1 + float64(c*x)
		if root <= 0 {
			continue
		}
		v := float64(root * root * root)
		slack := float64(x*x/2) + d - float64(d*v) + float64(d*logPortable(v))
		if logPortable(1-rng.Float64()) < slack {
			return d * v
		}
	}
}

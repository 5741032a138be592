package workload

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/aituner/opprof/scenarios"
)

// z95 is the 95 % point of the standard normal distribution.
const z95 = 1.6448536269514722

// lengths makes the requests of a phase with prompt and output lengths set and
// the prompts still empty.
func lengths(phase scenarios.Phase) []Request {
	s, warm := phase.Source, phase.Warmup.Requests
	prompts := sample(s.PromptTokens, warm, s.Requests, stream(s.Seed, phase.Name, "prompt lengths"))
	outputs := sample(s.OutputTokens, warm, s.Requests, stream(s.Seed, phase.Name, "output lengths"))
	requests := make([]Request, warm+s.Requests)
	for i := range requests {
		requests[i] = Request{Index: i, Prompt: make([]int, prompts[i]), MaxTokens: outputs[i], Warmup: i < warm}
	}
	return requests
}

// sample draws the lengths of a phase, timed part first so that another number
// of warm-up requests leaves the timed lengths alone. The first two warm-up
// lengths are the largest and the smallest timed ones; a single warm-up request
// has the largest.
func sample(dist scenarios.Dist, warm, timed int, rng *rand.Rand) []int {
	all := make([]int, warm+timed)
	low, high := math.MaxInt, 0
	for i := warm; i < len(all); i++ {
		all[i] = draw(dist, rng)
		low, high = min(low, all[i]), max(high, all[i])
	}
	for i := range warm {
		switch i {
		case 0:
			all[i] = high
		case 1:
			all[i] = low
		default:
			all[i] = draw(dist, rng)
		}
	}
	return all
}

// draw is one length.
func draw(dist scenarios.Dist, rng *rand.Rand) int {
	switch dist.Kind {
	case scenarios.DistFixed:
		return dist.Value
	case scenarios.DistUniform:
		return dist.Min + rng.IntN(dist.Max-dist.Min+1)
	}
	low, high := clip(dist)
	sigma := logPortable(float64(dist.P95)/float64(dist.Median)) / z95
	x := float64(dist.Median) * expPortable(sigma*normal(rng))
	return int(math.Round(min(max(x, float64(low)), float64(high))))
}

// clip is the range of a lognormal distribution: 1 to 4 x p95 unless said
// otherwise.
func clip(dist scenarios.Dist) (low, high int) {
	low, high = max(dist.Min, 1), dist.Max
	if high == 0 {
		high = 4 * dist.P95
	}
	return low, high
}

// checkDist says what is wrong with a distribution whose values must be at
// least low.
func checkDist(dist scenarios.Dist, low int) error {
	least := 0
	switch dist.Kind {
	case scenarios.DistFixed:
		least = dist.Value
	case scenarios.DistUniform:
		least = dist.Min
		if dist.Max < dist.Min {
			return fmt.Errorf("uniform max %d is below min %d", dist.Max, dist.Min)
		}
	case scenarios.DistLognormal:
		var most int
		least, most = clip(dist)
		if dist.Median < 1 || dist.P95 < dist.Median {
			return fmt.Errorf("lognormal needs 1 <= median (%d) <= p95 (%d)", dist.Median, dist.P95)
		}
		if most < least {
			return fmt.Errorf("lognormal max %d is below min %d", most, least)
		}
	default:
		return fmt.Errorf("distribution %q is not known: use fixed, uniform or lognormal", dist.Kind)
	}
	if least < low {
		return fmt.Errorf("lengths start at %d, at least %d is needed (shared prefix plus one token)", least, low)
	}
	return nil
}

// normal is a standard normal number by the polar method of Marsaglia and Bray
// (SIAM Review 6, 1964), which needs no function but sqrt and log.
func normal(rng *rand.Rand) float64 {
	for {
		u, v := 2*rng.Float64()-1, 2*rng.Float64()-1
		s := float64(u*u) + float64(v*v)
		if s > 0 && s < 1 {
			return u * math.Sqrt(-2*logPortable(s)/s)
		}
	}
}

package stat

import (
	"math"
	"math/rand/v2"
	"slices"
)

// mostFlips is the largest number of blocks whose signs are all flipped: 65 536 ways.
const mostFlips = 16

// SignFlip returns the one-sided randomisation p value of a true effect of the margin
// or more: the share of all 2^n ways to flip the signs of d − margin whose sum is no
// larger than the one that was seen. It is exact whatever the scale of the noise, also
// if every block has its own, as long as d is symmetric about its centre; rare bad
// starts fool it as they fool the bound (Fisher 1935; Lehmann and Romano, Testing
// Statistical Hypotheses, 15.2). Above 16 blocks it takes 99 999 seeded ways, and
// counts the one that was seen.
func SignFlip(d []float64, margin float64, seed uint64) (float64, error) {
	if err := checkSample("sign flips", d, 1); err != nil {
		return 1, err
	}
	x := make([]float64, len(d))
	seen, size := 0.0, 0.0
	for i := range d {
		x[i] = d[i] - margin
		seen += x[i]
		size += math.Abs(x[i])
	}
	limit := seen + float64(1e-12*size) // sums in another order differ in their last digits
	low := 0
	if len(x) <= mostFlips {
		ways := uint64(1) << len(x)
		for signs := range ways {
			if signed(x, signs) <= limit {
				low++
			}
		}
		return float64(low) / float64(ways), nil
	}
	source := rand.NewPCG(seed, stream)
	for range draws {
		if signedAtRandom(x, source) <= limit {
			low++
		}
	}
	return float64(low+1) / (draws + 1), nil
}

// signed is the sum of at most 64 values with these signs.
func signed(x []float64, signs uint64) (sum float64) {
	for i, v := range x {
		if signs>>i&1 == 1 {
			v = -v
		}
		sum += v
	}
	return sum
}

// signedAtRandom is the sum with the signs of the generator.
func signedAtRandom(x []float64, source *rand.PCG) (sum float64) {
	for part := range slices.Chunk(x, 64) {
		sum += signed(part, source.Uint64())
	}
	return sum
}

// BadStarts returns the largest share of bad server starts that n blocks without one
// do not exclude, with one-sided error alpha: (1 − share)^n = alpha.
func BadStarts(n int, alpha float64) float64 {
	return 1 - math.Pow(alpha, 1/float64(n))
}

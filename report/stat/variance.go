package stat

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// VarianceSplit divides the variance of d into what single requests cause and
// what fresh server starts do. It says where repetition helps, and never changes
// a verdict.
type VarianceSplit struct {
	Total, Within, Between float64 // Between = Total − Within, at least 0
}

// SplitVariance splits the variance of d, given as its standard deviation; within
// holds the WithinVariance of every block.
func SplitVariance(sd float64, within []float64) (VarianceSplit, error) {
	if err := checkSample("variance split", within, 1); err != nil {
		return VarianceSplit{}, err
	}
	if !(sd >= 0 && sd <= largest) {
		return VarianceSplit{}, fmt.Errorf("variance split: standard deviation %g must be finite and not negative", sd)
	}
	mean, _ := meanSS(slices.Sorted(slices.Values(within)))
	if mean < 0 {
		return VarianceSplit{}, fmt.Errorf("variance split: mean variance %g is negative", mean)
	}
	total := float64(sd * sd)
	return VarianceSplit{Total: total, Within: mean, Between: max(0, total-mean)}, nil
}

// MostlyWithin says whether longer runs reduce the noise more than further blocks
// would: more than half of the variance is that of single requests.
func (v VarianceSplit) MostlyWithin() bool { return v.Within > v.Total/2 }

// WithinVariance returns the variance of one block's d that its requests cause:
// the requests are resampled, the same ones in both arms, because the trace is
// fixed and a request's difficulty is common to both. baseline and candidate hold
// the times of the same requests in the same order; statistic reduces sorted times
// to the metric.
func WithinVariance(baseline, candidate []float64, statistic func(sorted []float64) float64, resamples int, seed uint64) (float64, error) {
	if len(baseline) != len(candidate) || len(baseline) < 2 {
		return 0, fmt.Errorf("variance within runs: %d and %d requests: need the same two or more in both arms", len(baseline), len(candidate))
	}
	if resamples < 2 {
		return 0, fmt.Errorf("variance within runs: %d resamples: need at least 2", resamples)
	}
	source := rand.NewPCG(seed, stream)
	x, y := make([]float64, len(baseline)), make([]float64, len(baseline))
	d := make([]float64, resamples)
	for i := range d {
		for j := range x {
			k, _ := bits.Mul64(source.Uint64(), uint64(len(x)))
			x[j], y[j] = baseline[k], candidate[k]
		}
		slices.Sort(x)
		slices.Sort(y)
		var err error
		if d[i], err = LogRatio(statistic(x), statistic(y), LowerIsBetter); err != nil {
			return math.NaN(), fmt.Errorf("variance within runs: %w", err)
		}
	}
	_, ss := meanSS(slices.Sorted(slices.Values(d)))
	return ss / float64(resamples-1), nil
}

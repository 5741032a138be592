package stat

import (
	"fmt"

	"gonum.org/v1/gonum/stat/distuv"
)

// SlopeResult tells whether the effect grows within runs, as it does when a log
// fills a disk or a queue.
type SlopeResult struct {
	N    int     // blocks
	Mean float64 // growth of d from the beginning of a run to its end
	P    float64 // two-sided p value of no growth; t with N − 1 degrees of freedom
}

// Slope returns how much the effect of one block grows from the beginning of the
// run to its end: the least-squares slope of d over equal bins of the run's time.
// baseline and candidate hold the metric of each bin, in order of time; the same
// bin must hold the same requests in both arms, or their difficulty counts as
// drift. At least three bins are needed.
func Slope(baseline, candidate []float64, dir Direction) (float64, error) {
	if len(baseline) != len(candidate) {
		return 0, fmt.Errorf("slope: %d bins of the baseline, %d of the candidate", len(baseline), len(candidate))
	}
	if len(baseline) < 3 {
		return 0, fmt.Errorf("slope: %d bins: need at least 3", len(baseline))
	}
	bins := float64(len(baseline))
	var sum, squares float64
	for i := range baseline {
		d, err := LogRatio(baseline[i], candidate[i], dir)
		if err != nil {
			return 0, fmt.Errorf("slope: bin %d: %w", i+1, err)
		}
		x := (float64(i) - float64((bins-1)/2)) / bins
		sum += float64(x * d)
		squares += float64(x * x)
	}
	return sum / squares, nil
}

// SlopeTest asks whether the slopes of the blocks, one each, differ from zero on
// average. Only growth that all blocks share is found: a shape common to both arms
// of a block cancels in its slope.
func SlopeTest(slopes []float64) (SlopeResult, error) {
	if err := checkSample("slope test", slopes, 3); err != nil {
		return SlopeResult{}, err
	}
	p := single(slopes)
	if p.sd == 0 {
		return SlopeResult{}, fmt.Errorf("slope test: %w", ErrZeroVariance)
	}
	return SlopeResult{N: p.n, Mean: p.mean, P: p.pValue()}, nil
}

// pValue is the two-sided p value of a mean of zero.
func (p pooled) pValue() float64 { return bothTails(p.mean/p.se, p.df) }

func bothTails(t, df float64) float64 {
	if t > 0 {
		t = -t
	}
	return twelveDigits(2 * distuv.StudentsT{Sigma: 1, Nu: df}.CDF(t))
}

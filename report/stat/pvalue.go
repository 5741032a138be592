package stat

import (
	"fmt"

	"gonum.org/v1/gonum/stat/distuv"
)

// PAbove returns the one-sided p value of a true effect of at most `at`: the larger
// one of Student's t and of the studentized bootstrap turned around, so that it is
// at most alpha where L lies above `at`. Degenerate resamples all count against an
// effect. Where no group is large enough for the bootstrap, the p value of t is
// scaled by what the bound's stricter error is.
func PAbove(d []float64, at float64, opt Options) (float64, error) {
	p, least, err := prepare(d, &opt)
	if err != nil {
		return 1, fmt.Errorf("p value: %w", err)
	}
	e, all := bounds(p, least, opt)
	if e.ZeroVariance {
		return 1, fmt.Errorf("p value: %w", ErrZeroVariance)
	}
	if !e.HasBootT {
		return min(1, upperTail((p.mean-at)/p.se, p.df)/strictT), nil
	}
	return p.above(at, all, p.atLeast(least)), nil
}

// above is the p value by the resamples of some groups, and by Student's t.
func (p pooled) above(at float64, all []resample, resampled []group) float64 {
	far := (p.mean - at) / p.se
	t, beyond := part(all, resampled)
	total := totalCount(t) + beyond
	for _, w := range t {
		if w.value >= far {
			beyond += w.count
		}
	}
	return max(upperTail(far, p.df), beyond/total)
}

// PBelow is PAbove of an effect of at least `at`.
func PBelow(d []float64, at float64, opt Options) (float64, error) {
	turned := make([]float64, len(d))
	for i, x := range d {
		turned[i] = -x
	}
	return PAbove(turned, -at, opt)
}

func upperTail(t, df float64) float64 {
	return twelveDigits(distuv.StudentsT{Sigma: 1, Nu: df}.CDF(-t))
}

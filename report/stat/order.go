package stat

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// OrderResult tells how much it matters which arm of a pair ran first.
type OrderResult struct {
	Effect float64 // π̂ = (mean d, baseline first − mean d, candidate first) / 2
	P      float64 // two-sided p value of π = 0; pooled t, n − 2 degrees of freedom
}

// OrderEffect estimates the order effect of d; baselineFirst says per block
// whether the baseline ran before the candidate.
func OrderEffect(d []float64, baselineFirst []bool) (OrderResult, error) {
	if err := checkSample("order effect", d, 3); err != nil {
		return OrderResult{}, err
	}
	groups, err := orderGroups(d, baselineFirst)
	if err != nil {
		return OrderResult{}, err
	}
	p := pool(groups)
	if p.sd == 0 {
		return OrderResult{}, fmt.Errorf("order effect: %w within both orders", ErrZeroVariance)
	}
	effect := (groups[0].mean - groups[1].mean) / 2
	// The half difference and the mean of two means have the same standard error.
	return OrderResult{Effect: effect, P: bothTails(effect/p.se, p.df)}, nil
}

// Flag says whether the order effect deserves a note: adjusted p value (Holm over
// all phases and metrics of a comparison) below 0.01 and more than a third of
// the margin.
func (r OrderResult) Flag(adjustedP, margin float64) bool {
	return adjustedP < 0.01 && math.Abs(r.Effect) > margin/3
}

func splitByOrder(d []float64, baselineFirst []bool) (ab, ba []float64, err error) {
	if len(baselineFirst) != len(d) {
		return nil, nil, fmt.Errorf("order of arms: %d orders for %d blocks", len(baselineFirst), len(d))
	}
	for i, x := range d {
		if baselineFirst[i] {
			ab = append(ab, x)
		} else {
			ba = append(ba, x)
		}
	}
	if len(ab) == 0 || len(ba) == 0 {
		return nil, nil, fmt.Errorf("order of arms: all %d blocks ran in the same order: it can't be told from the effect", len(d))
	}
	return ab, ba, nil
}

// Holm returns the p values adjusted for their number by Holm's step-down method,
// in the order given. A NaN counts as 1.
func Holm(p []float64) []float64 {
	rank := make([]int, len(p))
	value := slices.Clone(p)
	for i := range p {
		rank[i] = i
		if math.IsNaN(p[i]) {
			value[i] = 1
		}
	}
	slices.SortStableFunc(rank, func(a, b int) int { return cmp.Compare(value[a], value[b]) })
	adjusted := make([]float64, len(p))
	running := 0.0
	for k, i := range rank {
		running = max(running, min(1, float64(len(p)-k)*value[i]))
		adjusted[i] = running
	}
	return adjusted
}

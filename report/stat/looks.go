package stat

import (
	"fmt"
	"slices"
)

// lookPlans holds the nominal one-sided error at each look that keeps the total
// at 2.5 %, calibrated for the t statistic with two million null paths each (the
// normal spending levels are too generous at small n).
var lookPlans = []struct {
	looks []int
	alpha float64
}{
	{[]int{6, 10}, 0.01473},
	{[]int{6, 12}, 0.01408},
	{[]int{8, 16}, 0.01419},
	{[]int{10, 20}, 0.01433},
	{[]int{10, 15, 20}, 0.01171},
	{[]int{6, 10, 14, 20}, 0.00870},
	{[]int{8, 12, 16, 20}, 0.00954},
}

// LookAlpha returns the one-sided error to use at every one of the planned looks,
// given as numbers of blocks. One look, even and at least MinBlocks, has the
// whole 2.5 %. Other schedules than the calibrated ones are refused, and so are
// those that begin below MinBlocks.
func LookAlpha(looks []int) (float64, error) {
	if len(looks) == 0 {
		return 0, fmt.Errorf("looks: none planned: give the number of blocks")
	}
	if looks[0] < MinBlocks {
		return 0, fmt.Errorf("looks %v: %d blocks are too few, at least %d are needed: with five the order can't be balanced", looks, looks[0], MinBlocks)
	}
	if len(looks) == 1 {
		if looks[0]%2 != 0 {
			return 0, fmt.Errorf("looks %v: the number of blocks must be even, or the order isn't balanced", looks)
		}
		return DefaultAlpha, nil
	}
	for _, plan := range lookPlans {
		if slices.Equal(plan.looks, looks) {
			return plan.alpha, nil
		}
	}
	return 0, fmt.Errorf("looks %v: no calibrated error for this schedule: take 10,20 or another of %s", looks, knownLooks())
}

func knownLooks() string {
	s := ""
	for i, plan := range lookPlans {
		if i > 0 {
			s += " "
		}
		s += fmt.Sprint(plan.looks)
	}
	return s
}

package stat

import "sort"

// EqualPower returns the chance that an A/A with n blocks shows equality by the
// t bounds, U < margin and L > −margin, if d has mean theta and standard
// deviation sd. It is one minus the chances to miss each side: exact but where
// one interval can miss both, and never too high.
func EqualPower(n int, sd, margin, theta, alpha float64) (float64, error) {
	above, err := Power(n, sd, margin, theta, alpha)
	if err != nil {
		return 0, err
	}
	below, err := Power(n, sd, margin, -theta, alpha)
	if err != nil {
		return 0, err
	}
	return max(0, above+below-1), nil
}

// EqualBlocksNeeded returns the smallest number of blocks with which equal arms
// are shown to be equal with the given power. It is more than BlocksNeeded: both
// bounds have to hold.
func EqualBlocksNeeded(sd, margin, theta, alpha, wanted float64) (int, error) {
	far := max(theta, -theta)
	least, err := BlocksNeeded(sd, margin, far, alpha, wanted)
	if err != nil {
		return 0, err
	}
	enough, err := BlocksNeeded(sd, margin, far, alpha, (1+wanted)/2) // on each side
	if err != nil {
		return 0, err
	}
	return least + sort.Search(enough-least, func(more int) bool {
		p, err := EqualPower(least+more, sd, margin, theta, alpha)
		return err == nil && p >= wanted
	}), nil
}

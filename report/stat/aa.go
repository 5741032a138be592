package stat

import "math"

// Equivalent says whether an A/A comparison shows that the set-up can tell equal
// from different: the whole interval lies within the margin on both sides. False
// means UNDERPOWERED, not that the arms differ.
func Equivalent(e Estimate, margin float64) bool {
	return Judge(e, margin) == Pass && e.L > -margin
}

// Biased says whether equal arms of an A/A comparison differ: adjusted p value
// (Holm over all phases and metrics, from Estimate.P) below 0.01 and a mean
// beyond a tenth of the margin. It is INVALID(bias).
func Biased(e Estimate, adjustedP, margin float64) bool {
	return adjustedP < 0.01 && math.Abs(e.Mean) > margin/10
}

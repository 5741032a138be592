package metrics

import "math"

// Quantile is the p-quantile (0 to 1) of ascending values by linear
// interpolation between order statistics at h = (n-1)p: type 7 of Hyndman and
// Fan (The American Statistician 50, 1996), the default of R and numpy. It is
// NaN for an empty slice.
func Quantile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 || math.IsNaN(p) || p < 0 || p > 1 {
		return math.NaN()
	}
	h := float64(len(sorted)-1) * p
	low := int(math.Floor(h))
	if low == len(sorted)-1 {
		return sorted[low]
	}
	return sorted[low] + float64((h-float64(low))*(sorted[low+1]-sorted[low]))
}

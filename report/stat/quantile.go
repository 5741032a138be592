package stat

import "math"

// weighted is a value that occurs count times; count is whole.
type weighted struct {
	value, count float64
}

func totalCount(a []weighted) float64 {
	sum := 0.0
	for _, w := range a {
		sum += w.count
	}
	return sum
}

// quantile returns the smallest value whose cumulative share is at least p. It
// reorders a. The target count is rounded up to a whole number first, less a
// hair for the rounding of p itself: (1−0.95)/2 is a little above 0.025.
func quantile(a []weighted, p float64) float64 {
	return smallest(a, rank(p, totalCount(a)))
}

// rank is the whole number of values that the share p of so many is.
func rank(p, of float64) float64 { return max(1, math.Ceil(p*of*(1-1e-12))) }

// smallest returns the smallest value up to which there are target values; it reorders
// a.
func smallest(a []weighted, target float64) float64 {
	for {
		pivot := middle(a[0].value, a[len(a)/2].value, a[len(a)-1].value)
		below, above := split(a, pivot)
		low := totalCount(a[:below])
		if target <= low {
			a = a[:below]
			continue
		}
		upTo := low + totalCount(a[below:above])
		if target <= upTo || above == len(a) {
			return pivot
		}
		target -= upTo
		a = a[above:]
	}
}

func middle(a, b, c float64) float64 {
	return max(min(a, b), min(max(a, b), c))
}

// split reorders a into values below, equal to and above the pivot and returns
// the two borders.
func split(a []weighted, pivot float64) (below, above int) {
	above = len(a)
	for i := 0; i < above; {
		switch v := a[i].value; {
		case v < pivot:
			a[i], a[below] = a[below], a[i]
			below++
			i++
		case v > pivot:
			above--
			a[i], a[above] = a[above], a[i]
		default:
			i++
		}
	}
	return below, above
}

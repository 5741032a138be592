// Package durations counts any number of times in constant memory.
package durations

import "math/bits"

// Histogram counts times in bins that are at most 1/128 wide relative to their
// time, so a quantile is within 0.4 % of the exact one.
type Histogram struct {
	N    int64   // times
	Sum  float64 // of them, ns
	Max  int64   // ns
	bins [56*128 + 128]int64
}

// Add counts a time, in ns; a negative one as 0.
func (h *Histogram) Add(ns int64) {
	ns = max(0, ns)
	h.bins[binOf(ns)]++
	h.N++
	h.Sum += float64(ns)
	h.Max = max(h.Max, ns)
}

// Merge adds the times of another.
func (h *Histogram) Merge(o *Histogram) {
	for i, n := range o.bins {
		h.bins[i] += n
	}
	h.N += o.N
	h.Sum += o.Sum
	h.Max = max(h.Max, o.Max)
}

// binOf keeps the leading eight bits of a time, and how many follow.
func binOf(ns int64) int {
	shift := max(0, bits.Len64(uint64(ns))-8)
	return shift<<7 + int(ns>>shift)
}

// middle is the time in the middle of a bin, in ns.
func middle(bin int) float64 {
	shift := max(0, bin>>7-1)
	low := int64(bin-shift<<7) << shift
	return float64(low) + float64(int64(1)<<shift-1)/2
}

// Quantile is the q-quantile, 0 to 1, in seconds, interpolated as metrics.Quantile does; 0 of nothing.
func (h *Histogram) Quantile(q float64) float64 {
	if h.N == 0 {
		return 0
	}
	at := q * float64(h.N-1)
	low := int64(at)
	a := h.ranked(low)
	b := h.ranked(min(low+1, h.N-1))
	return (a + (at-float64(low))*(b-a)) / 1e9
}

// ranked is the time of this rank, from 0, in ns.
func (h *Histogram) ranked(rank int64) float64 {
	for bin, n := range h.bins {
		if rank -= n; rank < 0 {
			return middle(bin)
		}
	}
	return float64(h.Max)
}

// Mean is the mean in seconds, 0 of nothing.
func (h *Histogram) Mean() float64 { return h.Sum / float64(max(1, h.N)) / 1e9 }

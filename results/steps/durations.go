package steps

import "math/bits"

// durations holds any number of times in constant memory: it counts them in
// bins that are at most 1/128 wide relative to their time, so a quantile is
// within 0.4 % of the exact one.
type durations struct {
	bins [56*128 + 128]int64
	n    int64
	sum  float64 // ns
	max  int64   // ns
}

func (d *durations) add(ns int64) {
	ns = max(0, ns)
	d.bins[durationBin(ns)]++
	d.n++
	d.sum += float64(ns)
	d.max = max(d.max, ns)
}

func (d *durations) merge(o *durations) {
	for i, n := range o.bins {
		d.bins[i] += n
	}
	d.n += o.n
	d.sum += o.sum
	d.max = max(d.max, o.max)
}

// durationBin keeps the leading eight bits of a time, and how many follow.
func durationBin(ns int64) int {
	shift := max(0, bits.Len64(uint64(ns))-8)
	return shift<<7 + int(ns>>shift)
}

// middle is the time in the middle of a bin, in ns.
func middle(bin int) float64 {
	shift := max(0, bin>>7-1)
	low := int64(bin-shift<<7) << shift
	return float64(low) + float64(int64(1)<<shift-1)/2
}

// quantile is in seconds, interpolated like metrics.Quantile; 0 of nothing.
func (d *durations) quantile(q float64) float64 {
	if d.n == 0 {
		return 0
	}
	at := q * float64(d.n-1)
	low := int64(at)
	a := d.ranked(low)
	b := d.ranked(min(low+1, d.n-1))
	return (a + (at-float64(low))*(b-a)) / 1e9
}

// ranked is the time of this rank, from 0, in ns.
func (d *durations) ranked(rank int64) float64 {
	for bin, n := range d.bins {
		if rank -= n; rank < 0 {
			return middle(bin)
		}
	}
	return float64(d.max)
}

// mean is in seconds, 0 of nothing.
func (d *durations) mean() float64 { return d.sum / float64(max(1, d.n)) / 1e9 }

// Package gaps counts the gaps between the chunks of a phase.
package gaps

import (
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// Histogram is that of gaps between chunks, in nanoseconds: of all requests of
// a phase together, whose single gaps are too many to keep.
//
// Its bins are those of an HDR histogram (Tene, hdrhistogram.org) with 1024 parts
// of each power of two: below 2048 ns one bin is 1 ns; from there bin b of power
// e = b/1024 − 1 (integer division) begins at (b − 1024e)·2^e and is 2^e wide, at
// most 1/1024 of its gaps. Within a bin gaps count as evenly spread.
//
// In JSON it is a text, "bin:count bin:count …" in ascending order.
type Histogram struct {
	counts map[int]int64 // by bin
}

// gapBits is the binary logarithm of the parts of a power of two.
const gapBits = 10

// gapBin is the bin of a gap, 0 or more ns.
func gapBin(ns int64) int {
	e := max(0, bits.Len64(uint64(ns))-gapBits-1)
	return e<<gapBits + int(ns>>e)
}

// gapRange is the smallest and the largest gap of a bin, in ns.
func gapRange(bin int) (least, most int64) {
	e := max(0, bin>>gapBits-1)
	least = int64(bin-e<<gapBits) << e
	return least, least + (1<<e - 1)
}

// Add counts gaps in ns. One below 0, which only a clock can make, counts as 0.
func (g *Histogram) Add(ns ...int64) {
	if g.counts == nil && len(ns) > 0 {
		g.counts = map[int]int64{}
	}
	for _, gap := range ns {
		g.counts[gapBin(max(0, gap))]++
	}
}

func (g *Histogram) bins() []int { return slices.Sorted(maps.Keys(g.counts)) }

func (g *Histogram) count() (n int64) {
	for _, c := range g.counts {
		n += c
	}
	return n
}

// Quantile is the p-quantile (0 to 1) in ns, interpolated as in package metrics;
// NaN without gaps. It is less than 1/1024 of the true quantile away from it,
// because both order statistics between which it lies are.
func (g *Histogram) Quantile(p float64) float64 {
	n := g.count()
	if n == 0 || !(p >= 0 && p <= 1) {
		return math.NaN()
	}
	h := float64(n-1) * p
	low := int64(h)
	bins := g.bins()
	x := g.at(bins, low)
	if low < n-1 {
		x += (h - float64(low)) * (g.at(bins, low+1) - x)
	}
	return x
}

// at is the gap of a rank, from 0: the middle of its share of its bin.
func (g *Histogram) at(bins []int, rank int64) float64 {
	for _, b := range bins {
		c := g.counts[b]
		if rank < c {
			least, most := gapRange(b)
			return float64(least) + float64(most-least)*(float64(rank)+0.5)/float64(c)
		}
		rank -= c
	}
	return math.NaN() // no such rank
}

// Fits reports whether so many gaps of this sum, the largest as given (ns), can
// be those of the histogram: what requests keep of their gaps must agree with it.
func (g *Histogram) Fits(count int, sum, largest int64) bool {
	var n, least, most int64
	top := 0
	for b, c := range g.counts {
		low, high := gapRange(b)
		n, least, most, top = n+c, least+c*low, most+c*high, max(top, b)
	}
	return n == int64(count) && least <= sum && sum <= most && top == gapBin(max(0, largest))
}

// MarshalText writes the bins that have gaps.
func (g Histogram) MarshalText() ([]byte, error) {
	var b []byte
	for i, bin := range g.bins() {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(b, int64(bin), 10)
		b = strconv.AppendInt(append(b, ':'), g.counts[bin], 10)
	}
	return b, nil
}

// UnmarshalText reads them back; a text that MarshalText can't have written is an
// error.
func (g *Histogram) UnmarshalText(text []byte) error {
	g.counts = map[int]int64{}
	last := -1
	for pair := range strings.FieldsSeq(string(text)) {
		bin, count, _ := strings.Cut(pair, ":")
		b, err := strconv.Atoi(bin)
		n, also := strconv.ParseInt(count, 10, 64)
		if err != nil || also != nil || b <= last || b > gapBin(math.MaxInt64) || n < 1 {
			return fmt.Errorf("gap histogram: %q is no bin and count, ascending: the file was edited, take the original", pair)
		}
		g.counts[b], last = n, b
	}
	return nil
}

package stat

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrZeroVariance is returned when all effects are equal. A noisy metric never
// repeats itself: the data were copied or the clock is too coarse.
var ErrZeroVariance = errors.New("all effects are equal: data were copied or the clock is too coarse")

// largest keeps cubes of values finite; no logarithm comes near it.
const largest = 1e100

// checkSample refuses what no formula of this package can take.
func checkSample(what string, d []float64, least int) error {
	if len(d) < least {
		return fmt.Errorf("%s: got %d values, need at least %d", what, len(d), least)
	}
	for i, x := range d {
		if !(math.Abs(x) <= largest) {
			return fmt.Errorf("%s: value %d is %g: effects must be finite and at most %g", what, i+1, x, largest)
		}
	}
	return nil
}

func checkAlpha(what string, alpha float64) error {
	if alpha > 0 && alpha < 0.5 {
		return nil
	}
	return fmt.Errorf("%s: one-sided error %g must lie between 0 and 0.5", what, alpha)
}

// group is a set of blocks that are resampled among themselves: all blocks, or
// those of one order or host.
type group struct {
	values []float64 // sorted; near-equal values replaced by the first of them
	weight float64   // share in the estimate; the shares add up to 1
	mean   float64
	ss     float64 // sum of squares about the mean
	counts []int   // how often each distinct value occurs, in order
}

func newGroup(d []float64, weight float64) group {
	values := slices.Sorted(slices.Values(d))
	mean, ss := meanSS(values)
	g := group{values: values, weight: weight, mean: mean, ss: ss}
	g.mergeTies()
	return g
}

// meanSS returns the mean and the sum of squares about it, in two passes.
func meanSS(sorted []float64) (mean, ss float64) {
	for _, x := range sorted {
		mean += x
	}
	mean /= float64(len(sorted))
	for _, x := range sorted {
		ss += float64((x - mean) * (x - mean))
	}
	return mean, ss
}

// mergeTies makes values equal that differ by rounding only. Without it, a
// change of unit could turn a degenerate resample into one with a huge t.
func (g *group) mergeTies() {
	tolerance := tieTolerance(g.values)
	start := math.Inf(-1)
	for i, x := range g.values {
		if x-start > tolerance {
			start = x
			g.counts = append(g.counts, 0)
		}
		g.values[i] = start
		g.counts[len(g.counts)-1]++
	}
	if len(g.counts) == 1 {
		g.ss = 0
	}
}

// tieTolerance is some hundred roundings of a logarithm of a ratio.
func tieTolerance(sorted []float64) float64 {
	return float64(1e-13 * max(1, -sorted[0], sorted[len(sorted)-1]))
}

// tied returns how many values share their value with another one.
func (g *group) tied() int {
	n := 0
	for _, c := range g.counts {
		if c > 1 {
			n += c
		}
	}
	return n
}

// pooled is a weighted mean of group means with one common variance.
type pooled struct {
	groups         []group
	n              int
	df             float64
	mean, sd, se   float64
	varianceFactor float64 // se² / sd²
}

func pool(groups []group) pooled {
	p := pooled{groups: groups}
	ss := 0.0
	for _, g := range groups {
		p.n += len(g.values)
		p.mean += float64(g.weight * g.mean)
		p.varianceFactor += g.varianceFactor()
		ss += g.ss
	}
	p.df = float64(p.n - len(groups))
	p.sd = math.Sqrt(ss / p.df)
	p.se = p.sd * math.Sqrt(p.varianceFactor)
	return p
}

func (g *group) varianceFactor() float64 {
	return float64(g.weight*g.weight) / float64(len(g.values))
}

// single is the ordinary sample: one group, n − 1 degrees of freedom.
func single(d []float64) pooled {
	return pool([]group{newGroup(d, 1)})
}

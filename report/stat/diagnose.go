package stat

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Fragile returns the blocks (from 0) without any single one of which a PASS
// would not be a PASS. It is nil if the verdict isn't PASS or hangs on no block.
// A diagnosis only: nothing is ever deleted.
func Fragile(d []float64, margin float64, opt Options) ([]int, error) {
	v, err := verdictOf(d, margin, opt)
	if err != nil || v != Pass || len(d) < MinBlocks {
		return nil, err
	}
	var blocks []int
	for i := range d {
		rest := opt
		rest.Order = without(opt.Order, i)
		rest.Host = without(opt.Host, i)
		upper, err := upperT(without(d, i), rest)
		if err != nil {
			return nil, fmt.Errorf("leave out block %d: %w", i+1, err)
		}
		if upper >= margin {
			blocks = append(blocks, i)
		}
	}
	return blocks, nil
}

// upperT is Student t's upper bound alone: below six blocks the bootstrap-t has
// no bound worth the name when most of the values lie close together.
func upperT(d []float64, opt Options) (float64, error) {
	p, least, err := prepare(d, &opt)
	if err != nil {
		return 0, err
	}
	e, _ := bounds(p, least, opt)
	return e.T.Hi, nil
}

func without[T any](s []T, i int) []T {
	if s == nil {
		return nil
	}
	return slices.Delete(slices.Clone(s), i, i+1)
}

// verdictOf is Analyze and Judge without what only a report needs.
func verdictOf(d []float64, margin float64, opt Options) (Verdict, error) {
	p, least, err := prepare(d, &opt)
	if err != nil {
		return Invalid, err
	}
	e, _ := bounds(p, least, opt)
	return judge(e, margin), nil
}

// Outliers returns the blocks (from 0) that lie more than five scaled median
// absolute deviations (1.4826·MAD) from the median. They are flagged and kept.
// Below six values it returns nil.
func Outliers(d []float64) ([]int, error) {
	if err := checkSample("outliers", d, 1); err != nil {
		return nil, err
	}
	if len(d) < 6 {
		return nil, nil
	}
	center := median(d)
	distance := make([]float64, len(d))
	for i, x := range d {
		distance[i] = math.Abs(x - center)
	}
	limit := float64(5*1.4826*median(distance)) + tieTolerance(slices.Sorted(slices.Values(d)))
	var far []int
	for i, x := range distance {
		if x > limit {
			far = append(far, i)
		}
	}
	return far, nil
}

func median(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}

// Lag1 returns the autocorrelation of x at lag one, x in the order in which the
// runs were made. About ±2/√n is what independent values give.
func Lag1(x []float64) (float64, error) {
	if err := checkSample("lag-1 autocorrelation", x, 3); err != nil {
		return 0, err
	}
	g := newGroup(x, 1)
	if g.ss == 0 {
		return 0, errors.New("lag-1 autocorrelation: all values are equal")
	}
	sum := 0.0
	for i := 1; i < len(x); i++ {
		sum += float64((x[i-1] - g.mean) * (x[i] - g.mean))
	}
	return sum / g.ss, nil
}

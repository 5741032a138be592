package stat

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
)

// noise draws one effect with mean zero, in standard deviations or so.
type noise struct {
	name      string
	draw      func(*rand.Rand) float64
	symmetric bool
}

var noises = []noise{
	{"normal", normal, true},
	{"t3", t3, true},
	{"skewed runs", skewedRuns, true},
	{"right skew", skewed, false},
	{"left skew", leftSkewed, false},
	{"stalls", stalling, false},
}

func normal(r *rand.Rand) float64 { return r.NormFloat64() }

func t3(r *rand.Rand) float64 {
	a, b, c := r.NormFloat64(), r.NormFloat64(), r.NormFloat64()
	return r.NormFloat64() / math.Sqrt((a*a+b*b+c*c)/3)
}

// skewedRuns is the difference of two runs with the same strong skew: symmetric.
func skewedRuns(r *rand.Rand) float64 {
	return math.Exp(.8*r.NormFloat64()) - math.Exp(.8*r.NormFloat64())
}

func skewed(r *rand.Rand) float64 { return math.Exp(.6*r.NormFloat64()) - math.Exp(.18) }

func leftSkewed(r *rand.Rand) float64 { return -skewed(r) }

// stalling adds four standard deviations to one block in ten.
func stalling(r *rand.Rand) float64 {
	x := r.NormFloat64() - .4
	if r.Float64() < .1 {
		x += 4
	}
	return x
}

// trial is the data of one simulated campaign: effects of mean zero.
type trial struct {
	d     []float64
	opt   Options
	worst []float64 // with which it has to pass as well; nil: there is none
}

// cell is one design under one noise. Its campaigns have a true effect of exactly
// the margin, or lie some standard deviations below it.
type cell struct {
	design  string
	noise   noise
	n       int
	sample  func(r *rand.Rand, c *cell) trial
	looks   []int
	reduced int     // draws that replace a costly bootstrap; 0: as in the product
	checked int     // campaigns on which the product's own bootstrap is computed as well
	below   float64 // the margin, in units of the noise
	exactT  float64 // error of the t bound by theory, 0 if there is no theory
	noBound bool    // no error rate is promised
	// What the research simulation found, in percent; 0 if nothing.
	research float64
}

func (c *cell) name() string { return fmt.Sprintf("%s, %s, %d", c.design, c.noise.name, c.n) }

// random is the source of campaign i: the same whatever else is simulated.
func (c *cell) random(i int) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(c.name()))
	return rand.New(rand.NewPCG(h.Sum64(), uint64(i)))
}

func independent(r *rand.Rand, c *cell) trial {
	d := make([]float64, c.n)
	for i := range d {
		d[i] = c.noise.draw(r)
	}
	return trial{d: d}
}

// balanced draws ABBA or BAAB for each four runs, as a plan does.
func balanced(r *rand.Rand, n int) []bool {
	order := make([]bool, n)
	for i := 0; i < n; i += 2 {
		order[i] = r.IntN(2) == 0
		order[i+1] = !order[i]
	}
	return order
}

// orderEffect of one unit: whichever arm runs first is slower by two.
func orderEffect(r *rand.Rand, c *cell) trial {
	t := independent(r, c)
	for i, first := range balanced(r, c.n) {
		if first {
			t.d[i]--
		} else {
			t.d[i]++
		}
	}
	return t
}

func adjustedForOrder(r *rand.Rand, c *cell) trial {
	t := independent(r, c)
	t.opt.Order = balanced(r, c.n)
	for i, first := range t.opt.Order {
		if first {
			t.d[i]--
		} else {
			t.d[i]++
		}
	}
	return t
}

// twoHosts puts the first blocks on one host and the others on another one, whose
// effects differ by four units or more; the mean over the blocks is still zero.
func twoHosts(first int) func(*rand.Rand, *cell) trial {
	return func(r *rand.Rand, c *cell) trial {
		t := independent(r, c)
		for i := range t.d {
			host, shift := "a", 2.0
			if i >= first {
				host, shift = "b", -2*float64(first)/float64(c.n-first)
			}
			t.opt.Host = append(t.opt.Host, host)
			t.d[i] += shift
		}
		return t
	}
}

// researched are the published rates of the research simulation (20 000 campaigns
// of 999 draws): false passes, and passes one standard deviation below the margin.
var researched = map[string]float64{
	"plain, normal, 6": 1.6, "plain, normal, 8": 1.8, "plain, normal, 10": 2.0, "plain, normal, 20": 2.4,
	"plain, t3, 6": 1.2, "plain, t3, 8": 1.5, "plain, t3, 10": 1.8, "plain, t3, 20": 2.1,
	"plain, right skew, 6": 6.0, "plain, right skew, 8": 5.6, "plain, right skew, 10": 5.2, "plain, right skew, 20": 4.2,
	"plain, left skew, 6": .35, "plain, left skew, 8": .35, "plain, left skew, 10": .35, "plain, left skew, 20": .35,
	"plain, stalls, 6": 4.6, "plain, stalls, 8": 5.3, "plain, stalls, 10": 5.6, "plain, stalls, 20": 4.9,
	"power: plain, normal, 6": 38, "power: plain, normal, 8": 56, "power: plain, normal, 10": 72, "power: plain, normal, 20": 98.3,
	// Of a second one, 20 000 campaigns with the exact bootstrap.
	"plain, lognormal(1.0), 6": 10.5, "plain, lognormal(1.0), 8": 10.0, "plain, lognormal(1.0), 10": 8.5,
	"bad starts, 1 in 5 is 16 % slower, 6": 26.9, "bad starts, 1 in 5 is 16 % slower, 8": 17.2, "bad starts, 1 in 5 is 16 % slower, 10": 11.2,
	"bad starts, 10 % and of the candidate 30 % are 16 % slower, 6": 8.4, "bad starts, 10 % and of the candidate 30 % are 16 % slower, 8": 8.1,
	"bad starts, 10 % and of the candidate 30 % are 16 % slower, 10": 4.4,
	"neighbours correlated by 0.3, normal, 6":                        4.5, "neighbours correlated by 0.3, normal, 8": 5.1, "neighbours correlated by 0.3, normal, 10": 5.7,
	"neighbours correlated by 0.5, normal, 6": 8.4, "neighbours correlated by 0.5, normal, 8": 9.6, "neighbours correlated by 0.5, normal, 10": 10.1,
	"bad starts aborted and repeated, 1 in 5 is 16 % slower, 6": 80, "bad starts aborted and repeated, 1 in 5 is 16 % slower, 10": 87,
	"bad starts aborted and repeated, worst attempt, 1 in 5 is 16 % slower, 6": 26, "bad starts aborted and repeated, worst attempt, 1 in 5 is 16 % slower, 10": 11,
}

const (
	fewDraws = 999 // (fewDraws+1)·0.025 is whole
	// lookDraws does the same for the error at each of the looks {10, 20}.
	lookDraws = 1953
)

// cells lists everything that is simulated, in the order of the table.
func cells() []*cell {
	var all []*cell
	for _, of := range noises {
		for _, n := range []int{6, 8, 10, 20} {
			all = append(all, cellOf("plain", of, n, independent, 10))
		}
	}
	for _, of := range noises {
		for _, n := range []int{6, 8, 10, 20} {
			all = append(all, cellOf("adjusted for order", of, n, adjustedForOrder, 10))
		}
	}
	for _, of := range noises {
		all = append(all, looking("looks 10 and 20", of))
	}
	for _, of := range noises {
		all = append(all, cellOf("hosts of 4 and 4", of, 8, twoHosts(4), 20),
			cellOf("hosts of 6 and 4", of, 10, twoHosts(6), 20), cellOf("hosts of 10 and 10", of, 20, twoHosts(10), 20))
	}
	all = append(all, armCells()...)
	all = append(all, powerCells()...)
	all = append(all, unbounded()...)
	for _, c := range all {
		c.research = researched[c.name()]
	}
	return all
}

// cellOf is a cell whose bootstrap is simplified from so many blocks on.
func cellOf(design string, of noise, n int, sample func(*rand.Rand, *cell) trial, reduceFrom int) *cell {
	c := &cell{design: design, noise: of, n: n, sample: sample}
	if n >= reduceFrom {
		c.reduced, c.checked = fewDraws, 500
	}
	if of.name == "normal" {
		c.exactT = theory(design, n)
	}
	return c
}

func theory(design string, n int) float64 {
	switch {
	case design == "adjusted for order" && n == 6, design == "hosts of 4 and 4":
		return .01 // no bootstrap: the stricter t
	case design == "plain", design == "adjusted for order", design == "hosts of 6 and 4", design == "hosts of 10 and 10",
		design == "looks 10 and 20":
		return DefaultAlpha
	}
	return 0
}

func looking(design string, of noise) *cell {
	c := cellOf(design, of, 20, independent, 20)
	c.looks, c.reduced = []int{10, 20}, lookDraws
	return c
}

// powerCells tell what a design costs: how often a campaign passes whose true
// effect lies one standard deviation of d below the margin.
func powerCells() []*cell {
	of := noises[0]
	list := []*cell{looking("power: looks 10 and 20", of)}
	for _, n := range []int{6, 8, 10, 20} {
		list = append(list, cellOf("power: plain", of, n, independent, 10), cellOf("power: adjusted for order", of, n, adjustedForOrder, 10))
	}
	list = append(list, cellOf("power: order effect, not adjusted", of, 10, orderEffect, 10),
		cellOf("power: hosts of 4 and 4", of, 8, twoHosts(4), 20),
		cellOf("power: hosts of 6 and 4", of, 10, twoHosts(6), 20),
		cellOf("power: hosts of 10 and 10", of, 20, twoHosts(10), 20))
	for _, c := range list {
		c.below = 1
	}
	return list
}

package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// runSD is how much single runs vary in campaigns with bad starts, in natural
// logarithm: little, as on a quiet host.
const runSD = .003

// bad are server starts that are slower by so many percent for their whole life, and
// their share.
type bad struct{ share, slower float64 }

func (b bad) String() string { return fmt.Sprintf("1 in %g is %g %% slower", 1/b.share, b.slower) }

// run is the log of what one start measures, in units of the simulations.
func (b bad) run(r *rand.Rand) float64 {
	x := runSD * r.NormFloat64()
	if b.share > 0 && r.Float64() < b.share {
		x += math.Log1p(b.slower / 100)
	}
	return x / unit
}

// mean of run.
func (b bad) mean() float64 { return b.share * math.Log1p(b.slower/100) / unit }

// against is the noise of a candidate with bad starts beside a baseline with others,
// less its mean: the good starts of the candidate are faster by as much.
func (b bad) against(base bad, name string) noise {
	return noise{name: name, draw: func(r *rand.Rand) float64 { return b.run(r) - base.run(r) - b.mean() + base.mean() }}
}

var rareBad = []bad{{.2, 16}, {.1, 32}, {.05, 64}}

// neighbours draws normal effects of which each is correlated with the one before.
func neighbours(by float64) func(*rand.Rand, *cell) trial {
	return func(r *rand.Rand, c *cell) trial {
		d := make([]float64, c.n)
		for i := range d {
			d[i] = r.NormFloat64()
			if i > 0 {
				d[i] = by*d[i-1] + math.Sqrt(1-by*by)*d[i]
			}
		}
		return trial{d: d}
	}
}

// aborting throws a bad start of the candidate away and repeats it, within the limit of
// a third of the blocks; the baseline's run stays. putBack holds a PASS to the worst
// attempt of each block as well.
func aborting(of bad, putBack bool) func(*rand.Rand, *cell) trial {
	return func(r *rand.Rand, c *cell) trial {
		left := (c.n + 2) / 3
		d, again := make([]float64, c.n), make([][]float64, c.n)
		for i := range d {
			base := runSD / unit * r.NormFloat64()
			for {
				d[i] = of.run(r) - base - of.mean()
				if d[i]+of.mean() < .05/unit || left == 0 {
					break
				}
				again[i] = append(again[i], d[i])
				left--
			}
		}
		t := trial{d: d}
		if putBack {
			t.worst, _ = WorstSets(d, again)
		}
		return t
	}
}

// unbounded are the noises under which no error rate is promised.
func unbounded() (all []*cell) {
	add := func(design string, of noise, sample func(*rand.Rand, *cell) trial) {
		for _, n := range []int{6, 8, 10} {
			c := cellOf(design, of, n, sample, 10)
			c.noBound, c.exactT = true, 0
			all = append(all, c)
		}
	}
	for _, b := range rareBad {
		add("bad starts", b.against(bad{}, b.String()), independent)
	}
	add("bad starts", bad{.3, 16}.against(bad{.1, 16}, "10 % and of the candidate 30 % are 16 % slower"), independent)
	add("plain", noise{name: "lognormal(1.0)", draw: func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64()) - math.Exp(.5) }}, independent)
	for _, by := range []float64{.3, .5} {
		add(fmt.Sprintf("neighbours correlated by %g", by), noises[0], neighbours(by))
	}
	some := rareBad[0].against(bad{}, rareBad[0].String())
	add("bad starts aborted and repeated", some, aborting(rareBad[0], false))
	add("bad starts aborted and repeated, worst attempt", some, aborting(rareBad[0], true))
	return all
}

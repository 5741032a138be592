package page

import (
	"fmt"
	"math"

	"github.com/aituner/opprof/report/render"
	"github.com/aituner/opprof/report/view"
)

// timeAxis is a logarithmic axis of seconds. Where its ends are close together
// it is as good as linear.
type timeAxis struct{ lo, hi float64 }

// timeAxisOf shows all from lo to hi. What cannot be a time, such as zero, has no
// logarithm: the axis begins at ShortestTime.
func timeAxisOf(lo, hi float64) timeAxis {
	a := timeAxis{max(lo, view.ShortestTime), max(hi, view.ShortestTime)}
	if a.hi < 1.001*a.lo {
		a.lo, a.hi = 0.95*a.lo, 1.05*a.hi
	}
	return a
}

// at returns the place of x on the axis, from 0 to 1; outside values sit on the
// edge.
func (a timeAxis) at(x float64) float64 {
	if x <= a.lo {
		return 0
	}
	return min(1, math.Log(x/a.lo)/math.Log(a.hi/a.lo))
}

// rounds are the round numbers of a decade by how many decades an axis has.
var rounds = []struct {
	decades float64
	of      []float64
}{{1.6, []float64{1, 2, 5}}, {2.6, []float64{1, 3}}, {math.Inf(1), []float64{1}}}

// values are round times on the axis, a few of them.
func (a timeAxis) values() []float64 {
	if a.hi < 8*a.lo { // too narrow for 1, 2, 5
		return render.Axis{Lo: a.lo, Hi: a.hi}.Ticks(5)
	}
	i := 0
	for rounds[i].decades < math.Log10(a.hi/a.lo) {
		i++
	}
	var out []float64
	for power := math.Floor(math.Log10(a.lo)); power <= math.Log10(a.hi); power++ {
		for _, k := range rounds[i].of {
			if x := k * math.Pow(10, power); a.lo <= x && x <= a.hi {
				out = append(out, x)
			}
		}
	}
	return out
}

// ticks are labelled where there is room. gutter is the share of the width in
// front of the axis.
func (a timeAxis) ticks(gutter float64) (ticks []tick) {
	var row labelRow
	for _, x := range a.values() {
		at := gutter + (1-gutter)*a.at(x)
		ticks = append(ticks, row.add(at, shortTime(x), anchor(at)))
	}
	return ticks
}

// shortTime writes a round time with as few characters as it takes.
func shortTime(x float64) string {
	switch {
	case x >= 1:
		return view.Plain(x) + " s"
	case x >= 1e-3:
		return view.Plain(x*1e3) + " ms"
	}
	return fmt.Sprintf("%.3g µs", x*1e6)
}

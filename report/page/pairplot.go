package page

import (
	"fmt"
	"math"

	"github.com/aituner/opprof/report/render"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
)

// Heights of a pair plot in pixels.
const (
	pairHeight = 150
	pairTop    = 12
	pairBottom = 24
	pairGutter = 0.1 // share of the width, for the names of the lines
)

// pairPlot shows the effects of one metric in run order.
type pairPlot struct {
	ID, Name    string
	Height      int
	Zero, Limit string // y in pixels
	LimitLabel  string
	Ticks       []guide // the other lines of the axis
	Beyond      bool    // a dot is an arrow
	Dots        []pairDot
	Metric      view.Metric
}

// pairDot is one block. Its shape says which arm ran first.
type pairDot struct {
	X, Y   string
	Marker string
	First  string // style class: baseline-first, candidate-first
	Block  string
	Label  string // block number below the axis, where there is room
	Value  string // of a block beyond the edge, which is drawn as an arrow
	ValueY string
}

func newPairPlots(c *view.Comparison, index int) (out []pairPlot) {
	for i, m := range c.Primaries() {
		if len(m.Pairs) > 0 {
			out = append(out, newPairPlot(m, fmt.Sprintf("pairs-%d-%d", index, i)))
		}
	}
	return out
}

func newPairPlot(m view.Placed, id string) pairPlot {
	var effects []float64
	for _, p := range m.Pairs {
		effects = append(effects, p.Effect)
	}
	a := render.AxisOf(m.MarginPct, effects...)
	plot := pairPlot{
		ID: id, Name: m.Label + " · " + m.Phase, Height: pairHeight, Zero: pixel(pairY(a, 0)), Limit: pixel(pairY(a, m.MarginPct)),
		LimitLabel: view.Plain(m.MarginPct) + " %", Ticks: pairTicks(a, m.MarginPct), Metric: *m.Metric,
	}
	row := 0 // of the last block's value; those of neighbours would touch on one line
	for i, p := range m.Pairs {
		if row = (row + 1) % 2; i == 0 || a.Beyond(p.Effect) == 0 || a.Beyond(m.Pairs[i-1].Effect) != a.Beyond(p.Effect) {
			row = 0
		}
		dot := newPairDot(a, p, float64(row)*leastApart)
		dot.X = share(pairGutter + (1-pairGutter)*(float64(i)+0.5)/float64(len(m.Pairs)))
		if every := 1 + (len(m.Pairs)-1)/10; i%every == 0 {
			dot.Label = fmt.Sprint(i + 1)
		}
		plot.Beyond = plot.Beyond || dot.Value != ""
		plot.Dots = append(plot.Dots, dot)
	}
	return plot
}

// pairY is the height of an effect in pixels from the top.
func pairY(a render.Axis, x float64) float64 {
	return pairTop + (1-a.At(x))*(pairHeight-pairTop-pairBottom)
}

func pixel(y float64) string { return fmt.Sprintf("%.1f", y) }

// newPairDot gives a block its shape and height. What lies beyond the axis is an
// arrow with its value, so many pixels further inward than next to it: two such blocks
// would else look alike.
func newPairDot(a render.Axis, p view.Pair, inward float64) pairDot {
	y := pairY(a, p.Effect)
	dot := pairDot{Y: pixel(y), Block: p.Block, Marker: markers[stat.Pass], First: "baseline-first"}
	if !p.BaselineFirst {
		dot.Marker, dot.First = markers[stat.Inconclusive], "candidate-first"
	}
	switch side := a.Beyond(p.Effect); side {
	case 1:
		dot.Marker, dot.ValueY = "M0,-7L6,4H-6z", pixel(y+17+inward)
	case -1:
		dot.Marker, dot.ValueY = "M0,7L6,-4H-6z", pixel(y-9-inward)
	default:
		return dot
	}
	dot.Value = fmt.Sprintf("%+.0f %%", p.Effect)
	return dot
}

// leastApart is the distance in pixels at which the numbers of two lines can be
// read.
const leastApart = 13

// pairTicks are the round percentages of the axis whose numbers do not touch those
// of zero and of the margin.
func pairTicks(a render.Axis, margin float64) (ticks []guide) {
	taken := []float64{pairY(a, 0) + 9, pairY(a, margin) - 8} // where their numbers stand
	for _, x := range a.Ticks(4) {
		y := pairY(a, x)
		free := x != 0 && x != margin
		for _, other := range taken {
			free = free && math.Abs(y-other) >= leastApart
		}
		if free {
			ticks = append(ticks, guide{pixel(y), view.Plain(x) + " %"})
		}
	}
	return ticks
}

package page

import (
	"fmt"

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
	y := func(x float64) string {
		return fmt.Sprintf("%.1f", pairTop+(1-a.At(x))*(pairHeight-pairTop-pairBottom))
	}
	plot := pairPlot{
		ID: id, Name: m.Label + " · " + m.Phase, Height: pairHeight, Zero: y(0), Limit: y(m.MarginPct),
		LimitLabel: view.Plain(m.MarginPct) + " %", Metric: *m.Metric,
	}
	for i, p := range m.Pairs {
		dot := pairDot{X: share(pairGutter + (1-pairGutter)*(float64(i)+0.5)/float64(len(m.Pairs))), Y: y(p.Effect), Block: p.Block}
		dot.Marker, dot.First = markers[stat.Pass], "baseline-first"
		if !p.BaselineFirst {
			dot.Marker, dot.First = markers[stat.Inconclusive], "candidate-first"
		}
		if every := 1 + (len(m.Pairs)-1)/10; i%every == 0 {
			dot.Label = fmt.Sprint(i + 1)
		}
		plot.Dots = append(plot.Dots, dot)
	}
	return plot
}

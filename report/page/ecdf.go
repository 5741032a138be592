package page

import (
	"fmt"
	"math"
	"strings"

	"github.com/aituner/opprof/report/view"
)

// Places of an ECDF in pixels, and the share of its width that the names of the
// quantiles take.
const (
	ecdfTop    = 10
	ecdfDrawn  = 150
	ecdfHeight = ecdfTop + ecdfDrawn + 24
	ecdfGutter = 0.1
)

// ecdfPlot shows how a time of single requests is spread, for every arm.
type ecdfPlot struct {
	ID, Name     string
	Height, Base int
	Field        field
	Guides       []guide
	Ticks        []tick
	Curves       []ecdfCurve
}

// ecdfCurve is one arm. Path is on a field of 1000 times ecdfDrawn.
type ecdfCurve struct {
	armStyle
	Path  string
	Marks []place // at the marked quantiles
	N     int
	Cells []string
}

// marked are the quantiles that get a mark and a guide, and are among those that
// a view has.
var marked = []struct {
	p    float64
	name string
}{{0.5, "p50"}, {0.95, "p95"}}

// ecdfColumns head the table of a plot, with the quantile of each.
var ecdfColumns = []struct {
	Name string
	p    float64
}{{"p5", 0.05}, {"p25", 0.25}, {"p50", 0.5}, {"p75", 0.75}, {"p95", 0.95}, {"p99", 0.99}, {"largest", 1}}

// ecdfPlots draws every time of every phase.
func ecdfPlots(styles []armStyle, list []view.Latency) (plots []ecdfPlot) {
	for i, l := range list {
		p := newECDF(styles, l)
		p.ID = fmt.Sprintf("ecdf-%d", i)
		plots = append(plots, p)
	}
	return plots
}

// newECDF draws the distribution of each arm.
func newECDF(styles []armStyle, l view.Latency) ecdfPlot {
	lo, hi := math.Inf(1), 0.0
	for _, d := range l.Arms {
		lo, hi = min(lo, d.At(0)), max(hi, d.At(1))
	}
	a := timeAxisOf(lo, hi)
	p := ecdfPlot{
		Name: l.Of + " · " + l.Phase, Height: ecdfHeight, Base: ecdfTop + ecdfDrawn, Field: newField(ecdfGutter, ecdfTop, ecdfDrawn),
		Ticks: a.ticks(ecdfGutter),
	}
	for _, m := range marked {
		p.Guides = append(p.Guides, guide{ecdfY(m.p), m.name})
	}
	for _, d := range l.Arms {
		p.Curves = append(p.Curves, newECDFCurve(styleOf(styles, d.Arm), a, d))
	}
	return p
}

func newECDFCurve(style armStyle, a timeAxis, d view.Distribution) ecdfCurve {
	c := ecdfCurve{armStyle: style, N: d.N}
	var path strings.Builder
	for k, seconds := range d.Quantiles {
		fmt.Fprintf(&path, "%s%.0f,%.1f", pen(k), 1000*a.at(seconds), (1-float64(k)/view.QuantileParts)*ecdfDrawn)
	}
	c.Path = path.String()
	for _, m := range marked {
		c.Marks = append(c.Marks, place{share(ecdfGutter + (1-ecdfGutter)*a.at(d.At(m.p))), ecdfY(m.p)})
	}
	for _, column := range ecdfColumns {
		c.Cells = append(c.Cells, view.Amount(view.Finite(d.At(column.p)), "s"))
	}
	return c
}

func ecdfY(p float64) string { return fmt.Sprintf("%.1f", ecdfTop+(1-p)*ecdfDrawn) }

func quantileNames() (names []string) {
	for _, c := range ecdfColumns {
		names = append(names, c.Name)
	}
	return names
}

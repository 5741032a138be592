package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/metrics"
)

// Places of an ECDF in pixels, and the share of its width that the names of the
// quantiles take.
const (
	ecdfTop    = 10
	ecdfDrawn  = 150
	ecdfHeight = ecdfTop + ecdfDrawn + 24
	ecdfGutter = 0.1
)

// ecdfParts is in how many equal parts of the requests a curve is drawn: that
// bounds the page, whatever the number of requests.
const ecdfParts = 100

// ecdfPlot shows how a time of single requests is spread, for every arm.
type ecdfPlot struct {
	ID, Name     string
	Height, Base int
	Field        field
	Guides       []guide
	Ticks        []tick
	Curves       []ecdfCurve
}

// guide is a named horizontal line.
type guide struct{ Y, Name string }

// ecdfCurve is one arm. Path is on a field of 1000 times ecdfDrawn.
type ecdfCurve struct {
	armStyle
	Path  string
	Marks []place // at the marked quantiles
	N     int
	Cells []string
}

// marked are the quantiles that get a mark and a guide.
var marked = []struct {
	p    float64
	name string
}{{0.5, "p50"}, {0.95, "p95"}}

// ecdfColumns head the table of a plot, with the quantile of each.
var ecdfColumns = []struct {
	Name string
	p    float64
}{{"p5", 0.05}, {"p25", 0.25}, {"p50", 0.5}, {"p75", 0.75}, {"p95", 0.95}, {"p99", 0.99}, {"largest", 1}}

// requestTimes are the times of a request that are drawn.
var requestTimes = []struct {
	name string
	of   func(*results.Request) (seconds float64, ok bool)
}{{"TPOT", metrics.TPOT}, {"TTFT", metrics.TTFT}}

// ecdfPlots draws every time of every phase. A correctness campaign says nothing
// about how fast an arm is.
func (b *builder) ecdfPlots() (plots []ecdfPlot) {
	if !b.gated() {
		return nil
	}
	for _, phase := range b.s.Phases {
		for _, t := range requestTimes {
			byArm := make([][]float64, len(b.s.Arms))
			for i, arm := range b.s.Arms {
				byArm[i] = b.pool(arm.Name, phase.Name, t.of)
			}
			if p := newECDF(b.armStyles(), byArm); p != nil {
				p.ID, p.Name = fmt.Sprintf("ecdf-%d", len(plots)), t.name+" · "+phase.Name
				plots = append(plots, *p)
			}
		}
	}
	return plots
}

// pool collects a time of all timed requests of an arm's analysed runs, in
// seconds, ascending.
func (b *builder) pool(arm, phase string, of func(*results.Request) (float64, bool)) (values []float64) {
	for i := range b.blocks {
		requests := b.blocks[i].runs[arm].Requests
		for k := range requests {
			r := &requests[k]
			if x, ok := of(r); ok && r.Phase == phase && !r.Warmup && r.OK() {
				values = append(values, x)
			}
		}
	}
	slices.Sort(values)
	return values
}

// newECDF draws the ascending values of each arm; nil if there are none.
func newECDF(styles []armStyle, byArm [][]float64) *ecdfPlot {
	all := slices.Concat(byArm...)
	if len(all) == 0 {
		return nil
	}
	a := timeAxisOf(slices.Min(all), slices.Max(all))
	p := &ecdfPlot{
		Height: ecdfHeight, Base: ecdfTop + ecdfDrawn, Field: newField(ecdfGutter, ecdfTop, ecdfDrawn),
		Ticks: a.ticks(ecdfGutter),
	}
	for _, m := range marked {
		p.Guides = append(p.Guides, guide{ecdfY(m.p), m.name})
	}
	for i, sorted := range byArm {
		if len(sorted) > 0 {
			p.Curves = append(p.Curves, newECDFCurve(styles[i], a, sorted))
		}
	}
	return p
}

func newECDFCurve(style armStyle, a timeAxis, sorted []float64) ecdfCurve {
	c := ecdfCurve{armStyle: style, N: len(sorted)}
	var path strings.Builder
	for k := range ecdfParts + 1 {
		p := float64(k) / ecdfParts
		fmt.Fprintf(&path, "%s%.0f,%.1f", pen(k), 1000*a.at(metrics.Quantile(sorted, p)), (1-p)*ecdfDrawn)
	}
	c.Path = path.String()
	for _, m := range marked {
		c.Marks = append(c.Marks, place{share(ecdfGutter + (1-ecdfGutter)*a.at(metrics.Quantile(sorted, m.p))), ecdfY(m.p)})
	}
	for _, column := range ecdfColumns {
		c.Cells = append(c.Cells, quantity(ptr(metrics.Quantile(sorted, column.p)), "s"))
	}
	return c
}

func ecdfY(p float64) string { return fmt.Sprintf("%.1f", ecdfTop+(1-p)*ecdfDrawn) }

// pen is the command of a path's point: move to the first, draw to the others.
func pen(k int) string {
	if k == 0 {
		return "M"
	}
	return "L"
}

func quantileNames() (names []string) {
	for _, c := range ecdfColumns {
		names = append(names, c.Name)
	}
	return names
}

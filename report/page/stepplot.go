package page

import (
	"fmt"
	"math"
	"strings"

	"github.com/aituner/opprof/report/view"
)

// Places of a plot of step times in pixels, and the share of its width that the
// names of the shares take.
const (
	stepTop    = 10
	stepDrawn  = 130
	stepHeight = stepTop + stepDrawn + 24
	stepGutter = 0.17
)

// mostColumns bounds the columns of a plot.
const mostColumns = 48

// mostDecades bounds the axis of shares: rarer steps sit on its lower edge.
const mostDecades = 5

// binStart is where a bin begins, in seconds.
func binStart(bin int) float64 { return view.ShortestTime * math.Pow(view.StepWidth, float64(bin)) }

// stepPlot shows how the step times of a phase are spread, for every arm that
// records. Both axes are logarithmic, or rare long steps could not be seen.
type stepPlot struct {
	ID, Name     string
	Height, Base int
	Field        field
	Guides       []guide
	Ticks        []tick
	Curves       []stepCurve
	Rows         []stepRow
}

// stepCurve is one arm. Path is on a field of 1000 times stepDrawn.
type stepCurve struct {
	armStyle
	Path   string
	Mark   place // on the highest column
	N      int64
	counts []int64 // by column
}

// stepRow is one column of the plot as a row of its table.
type stepRow struct {
	From, To string
	Counts   []int64 // by curve
}

// stepPlots draws every phase that has step records.
func stepPlots(styles []armStyle, list []view.Steps) (plots []stepPlot) {
	for i, x := range list {
		p := newStepPlot(styles, x)
		p.ID = fmt.Sprintf("steps-%d", i)
		plots = append(plots, p)
	}
	return plots
}

// newStepPlot draws the step times of each arm.
func newStepPlot(styles []armStyle, x view.Steps) stepPlot {
	c := stepColumnsOf(x.Arms)
	p := stepPlot{
		Name: "step time · " + x.Phase, Height: stepHeight, Base: stepTop + stepDrawn, Field: newField(stepGutter, stepTop, stepDrawn),
		Ticks: c.axis().ticks(stepGutter),
	}
	rarest := 1.0
	for _, h := range x.Arms {
		curve := stepCurve{armStyle: styleOf(styles, h.Arm), N: h.Total(), counts: c.join(h)}
		rarest = min(rarest, 1/float64(curve.N))
		p.Curves = append(p.Curves, curve)
	}
	decades := min(mostDecades, max(1, math.Ceil(-math.Log10(rarest)-1e-9)))
	for i := range p.Curves {
		p.Curves[i].draw(decades)
	}
	for k := range int(decades) + 1 {
		p.Guides = append(p.Guides, guide{fmt.Sprintf("%.1f", stepTop+stepDrawn*float64(k)/decades), view.Plain(100*math.Pow(10, -float64(k))) + " %"})
	}
	p.Rows = c.rows(p.Curves)
	return p
}

// stepColumns are joined bins, so few that a plot can show them.
type stepColumns struct{ first, width, n int } // first bin, bins in a column, columns

func stepColumnsOf(arms []view.Histogram) stepColumns {
	first, last := math.MaxInt, 0
	for _, h := range arms {
		first, last = min(first, int(h.Bins[0][0])), max(last, int(h.Bins[len(h.Bins)-1][0]))
	}
	width := 1 + (last-first)/mostColumns
	return stepColumns{first, width, 1 + (last-first)/width}
}

// start is where a column begins, in seconds.
func (c stepColumns) start(column int) float64 { return binStart(c.first + column*c.width) }

func (c stepColumns) axis() timeAxis { return timeAxisOf(c.start(0), c.start(c.n)) }

func (c stepColumns) join(h view.Histogram) []int64 {
	counts := make([]int64, c.n)
	for _, bin := range h.Bins {
		counts[(int(bin[0])-c.first)/c.width] += bin[1]
	}
	return counts
}

// rows lists the columns in which there are steps.
func (c stepColumns) rows(curves []stepCurve) (rows []stepRow) {
	for column := range c.n {
		r := stepRow{From: edge(c.start(column)), To: edge(c.start(column + 1))}
		sum := int64(0)
		for _, curve := range curves {
			r.Counts = append(r.Counts, curve.counts[column])
			sum += curve.counts[column]
		}
		if sum > 0 {
			rows = append(rows, r)
		}
	}
	return rows
}

func edge(seconds float64) string { return view.Amount(&seconds, "s") }

// draw makes the outline of the columns: the share of the steps in each, over so
// many decades below 100 %.
func (c *stepCurve) draw(decades float64) {
	height := func(n int64) float64 { // share of the field, from its top
		if n == 0 {
			return 1
		}
		return min(1, math.Log10(float64(c.N)/float64(n))/decades)
	}
	width := 1000 / float64(len(c.counts))
	var path strings.Builder
	fmt.Fprintf(&path, "M0,%d", stepDrawn)
	top := 0
	for i, n := range c.counts {
		fmt.Fprintf(&path, "V%.1fH%.0f", stepDrawn*height(n), float64(i+1)*width)
		if n > c.counts[top] {
			top = i
		}
	}
	fmt.Fprintf(&path, "V%d", stepDrawn)
	c.Path = path.String()
	at := (float64(top) + 0.5) / float64(len(c.counts))
	c.Mark = place{share(stepGutter + (1-stepGutter)*at), fmt.Sprintf("%.1f", stepTop+stepDrawn*height(c.counts[top]))}
}

package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/steps"
)

// Places of a plot of step times in pixels, and the share of its width that the
// names of the shares take.
const (
	stepTop    = 10
	stepDrawn  = 130
	stepHeight = stepTop + stepDrawn + 24
	stepGutter = 0.17
)

// stepWidth is the ratio of the ends of a bin of step times: so fine that it can
// be joined to columns of any plot.
const stepWidth = 1.02

// mostColumns bounds the columns of a plot.
const mostColumns = 48

// mostDecades bounds the axis of shares: rarer steps sit on its lower edge.
const mostDecades = 5

// stepTimes counts steps by bin of their time; bin 0 begins at shortestTime.
// Counts of runs add up.
type stepTimes map[int]int64

func (t stepTimes) add(seconds float64) {
	t[int(math.Log(max(seconds/shortestTime, 1))/math.Log(stepWidth))]++
}

func (t stepTimes) addAll(other stepTimes) {
	for bin, n := range other {
		t[bin] += n
	}
}

func (t stepTimes) total() (n int64) {
	for _, k := range t {
		n += k
	}
	return n
}

// binStart is where a bin begins, in seconds.
func binStart(bin int) float64 { return shortestTime * math.Pow(stepWidth, float64(bin)) }

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

// gatherStepTimes counts the step times of a run while its records are read.
func (b *builder) gatherStepTimes(key results.Key, phases []steps.Phase) func(phase int, seconds float64) {
	byPhase := map[string]stepTimes{}
	for _, p := range phases {
		byPhase[p.Name] = stepTimes{}
	}
	b.stepTimes[key] = byPhase
	return func(phase int, seconds float64) { byPhase[phases[phase].Name].add(seconds) }
}

// stepPlots draws every phase that has step records.
func (b *builder) stepPlots() (plots []stepPlot) {
	for _, phase := range b.s.Phases {
		byArm := make([]stepTimes, len(b.s.Arms))
		for i, arm := range b.s.Arms {
			byArm[i] = stepTimes{}
			for k := range b.blocks {
				byArm[i].addAll(b.stepTimes[b.blocks[k].runs[arm.Name].Key][phase.Name])
			}
		}
		if p := newStepPlot(b.armStyles(), byArm); p != nil {
			p.ID, p.Name = fmt.Sprintf("steps-%d", len(plots)), "step time · "+phase.Name
			plots = append(plots, *p)
		}
	}
	return plots
}

// newStepPlot draws the step times of each arm; nil if there are none.
func newStepPlot(styles []armStyle, byArm []stepTimes) *stepPlot {
	all := stepTimes{}
	for _, t := range byArm {
		all.addAll(t)
	}
	if len(all) == 0 {
		return nil
	}
	bins := sortedBins(all)
	c := stepColumnsOf(bins[0], bins[len(bins)-1])
	p := &stepPlot{
		Height: stepHeight, Base: stepTop + stepDrawn, Field: newField(stepGutter, stepTop, stepDrawn),
		Ticks: c.axis().ticks(stepGutter),
	}
	rarest := 1.0
	for i, t := range byArm {
		if n := t.total(); n > 0 {
			p.Curves = append(p.Curves, stepCurve{armStyle: styles[i], N: n, counts: c.join(t)})
			rarest = min(rarest, 1/float64(n))
		}
	}
	decades := min(mostDecades, max(1, math.Ceil(-math.Log10(rarest)-1e-9)))
	for i := range p.Curves {
		p.Curves[i].draw(decades)
	}
	for k := range int(decades) + 1 {
		p.Guides = append(p.Guides, guide{fmt.Sprintf("%.1f", stepTop+stepDrawn*float64(k)/decades), plainNumber(100*math.Pow(10, -float64(k))) + " %"})
	}
	p.Rows = c.rows(p.Curves)
	return p
}

func sortedBins(t stepTimes) (bins []int) {
	for bin := range t {
		bins = append(bins, bin)
	}
	slices.Sort(bins)
	return bins
}

// stepColumns are joined bins, so few that a plot can show them.
type stepColumns struct{ first, width, n int } // first bin, bins in a column, columns

func stepColumnsOf(first, last int) stepColumns {
	width := 1 + (last-first)/mostColumns
	return stepColumns{first, width, 1 + (last-first)/width}
}

// start is where a column begins, in seconds.
func (c stepColumns) start(column int) float64 { return binStart(c.first + column*c.width) }

func (c stepColumns) axis() timeAxis { return timeAxisOf(c.start(0), c.start(c.n)) }

func (c stepColumns) join(t stepTimes) []int64 {
	counts := make([]int64, c.n)
	for bin, n := range t {
		counts[(bin-c.first)/c.width] += n
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

func edge(seconds float64) string { return quantity(&seconds, "s") }

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

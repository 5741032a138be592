package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/aituner/opprof/report/stat"
)

// forestRow is one interval of a forest plot.
type forestRow struct {
	phase                       string
	label                       string
	lower, effect, upper, limit float64      // percent
	tone                        stat.Verdict // of its colour and shape
	word                        string
}

// forestRows are the primary metrics with an interval.
func forestRows(c *Comparison) (rows []forestRow) {
	for _, p := range c.primaries() {
		if p.Lower != nil && p.Upper != nil && p.Effect != nil {
			rows = append(rows, forestRow{p.phase, p.Label, *p.Lower, *p.Effect, *p.Upper, p.MarginPct, p.tone(), p.word()})
		}
	}
	return rows
}

// axis maps percentages onto a plot. It always shows zero and the margin.
type axis struct{ lo, hi float64 }

// furthest bounds what a plot shows: one wild interval must not press the others
// into a point. What lies beyond is drawn to the edge, and the key says so.
const furthest = 6 // margins

func axisOf(limit float64, values ...float64) axis {
	a := axis{-limit / 2, 1.4 * limit}
	for _, x := range values {
		a.lo, a.hi = min(a.lo, x), max(a.hi, x)
	}
	a.lo, a.hi = max(a.lo, -furthest*limit), min(a.hi, furthest*limit)
	room := (a.hi - a.lo) * 0.05
	return axis{a.lo - room, a.hi + room}
}

// at returns the place of x on the axis, from 0 to 1; outside values sit on the
// edge.
func (a axis) at(x float64) float64 {
	return min(1, max(0, (x-a.lo)/(a.hi-a.lo)))
}

// goesOn belongs to the key of a plot that cuts an interval.
const goesOn = "an interval that reaches an edge goes on beyond it"

// cuts reports whether a part of the interval lies outside.
func (a axis) cuts(r forestRow) bool { return r.lower < a.lo || r.upper > a.hi }

// ticks are round percentages on the axis, about n of them.
func (a axis) ticks(n int) []float64 {
	raw := (a.hi - a.lo) / float64(n)
	step := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, k := range []float64{1, 2, 5, 10} {
		if k*step >= raw {
			step *= k
			break
		}
	}
	var ticks []float64
	for k := math.Ceil(a.lo / step); k*step <= a.hi; k++ {
		ticks = append(ticks, k*step)
	}
	return ticks
}

func forestAxis(rows []forestRow) axis {
	var values []float64
	for _, r := range rows {
		values = append(values, r.lower, r.upper)
	}
	return axisOf(rows[0].limit, values...)
}

// forestColumns is the width of the plot part of the character forest.
const forestColumns = 48

// asciiForest draws zero as ':', the margin as '|', an interval as '=' and the
// estimate as 'o'.
func asciiForest(c *Comparison) []string {
	rows := forestRows(c)
	if len(rows) == 0 {
		return nil
	}
	a := forestAxis(rows)
	column := func(x float64) int { return int(math.Round(a.at(x) * (forestColumns - 1))) }
	var out []string
	for _, r := range rows {
		line := []byte(strings.Repeat(" ", forestColumns))
		line[column(0)], line[column(r.limit)] = ':', '|'
		for k := column(r.lower); k <= column(r.upper); k++ {
			line[k] = '='
		}
		line[column(r.effect)] = 'o'
		// Backquotes could end the code block that this stands in.
		name := strings.ReplaceAll(clean(r.label+", "+r.phase), "`", "'")
		out = append(out, pad(cut(name, 27), 28)+string(line)+" "+r.word)
	}
	key := fmt.Sprintf("worse is to the right   : 0   | %s %%   o estimate   = interval", plainNumber(rows[0].limit))
	out = append(out, pad("", 28)+key)
	if slices.ContainsFunc(rows, a.cuts) {
		out = append(out, pad("", 28)+goesOn)
	}
	return out
}

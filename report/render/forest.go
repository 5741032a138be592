package render

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
)

// forestRow is one interval of a forest plot.
type forestRow struct {
	Phase                       string
	Label                       string
	Lower, Effect, Upper, Limit float64      // percent
	Tone                        stat.Verdict // of its colour and shape
	Word                        string
}

// ForestRows are the primary metrics with an interval.
func ForestRows(c *view.Comparison) (rows []forestRow) {
	for _, p := range c.Primaries() {
		if p.Lower != nil && p.Upper != nil && p.Effect != nil {
			rows = append(rows, forestRow{p.Phase, p.Label, *p.Lower, *p.Effect, *p.Upper, p.MarginPct, p.Tone(), p.Word()})
		}
	}
	return rows
}

// Axis maps percentages onto a plot. It always shows zero and the margin.
type Axis struct{ Lo, Hi float64 }

// furthest bounds what a plot shows: one wild interval must not press the others
// into a point. What lies beyond is drawn to the edge, and the key says so.
const furthest = 6 // margins

func AxisOf(limit float64, values ...float64) Axis {
	a := Axis{-limit / 2, 1.4 * limit}
	for _, x := range values {
		a.Lo, a.Hi = min(a.Lo, x), max(a.Hi, x)
	}
	a.Lo, a.Hi = max(a.Lo, -furthest*limit), min(a.Hi, furthest*limit)
	room := (a.Hi - a.Lo) * 0.05
	return Axis{a.Lo - room, a.Hi + room}
}

// At returns the place of x on the axis, from 0 to 1; outside values sit on the
// edge.
func (a Axis) At(x float64) float64 {
	return min(1, max(0, (x-a.Lo)/(a.Hi-a.Lo)))
}

// GoesOn belongs to the key of a plot that cuts something off.
const GoesOn = "goes on beyond the edge"

// Beyond says on which side of the axis a value lies: -1 left of it, 1 right of it,
// 0 on it.
func (a Axis) Beyond(x float64) int {
	switch {
	case x < a.Lo:
		return -1
	case x > a.Hi:
		return 1
	}
	return 0
}

// Cuts reports whether a part of the interval lies outside.
func (a Axis) Cuts(r forestRow) bool { return a.Beyond(r.Lower) < 0 || a.Beyond(r.Upper) > 0 }

// Ticks are round percentages on the axis, about n of them.
func (a Axis) Ticks(n int) []float64 {
	raw := (a.Hi - a.Lo) / float64(n)
	step := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, k := range []float64{1, 2, 5, 10} {
		if k*step >= raw {
			step *= k
			break
		}
	}
	var ticks []float64
	for k := math.Ceil(a.Lo / step); k*step <= a.Hi; k++ {
		ticks = append(ticks, k*step)
	}
	return ticks
}

func ForestAxis(rows []forestRow) Axis {
	var values []float64
	for _, r := range rows {
		values = append(values, r.Lower, r.Upper)
	}
	return AxisOf(rows[0].Limit, values...)
}

// forestColumns is the width of the plot part of the character forest.
const forestColumns = 48

// asciiForest draws zero as ':', the margin as '|', an interval as '=' and the
// estimate as 'o'; '<' and '>' stand where something lies beyond the edge. The last
// lines are the axis and the key.
func asciiForest(c *view.Comparison) []string {
	rows := ForestRows(c)
	if len(rows) == 0 {
		return nil
	}
	a := ForestAxis(rows)
	var out []string
	for _, r := range rows {
		// Backquotes could end the code block that this stands in.
		name := strings.ReplaceAll(view.Clean(r.Label+", "+r.Phase), "`", "'")
		out = append(out, pad(Cut(name, 27), 28)+asciiRow(a, r)+" "+r.Word)
	}
	lo, hi := view.Percent(a.Lo, view.NoMargin), view.Percent(a.Hi, view.NoMargin)
	key := fmt.Sprintf("worse is to the right   : 0   | %s %%   o estimate   = interval", view.Plain(rows[0].Limit))
	out = append(out, pad("", 28)+lo+strings.Repeat(" ", forestColumns-len(lo)-len(hi))+hi, pad("", 28)+key)
	if slices.ContainsFunc(rows, a.Cuts) {
		out = append(out, pad("", 28)+"< > "+GoesOn)
	}
	return out
}

func asciiRow(a Axis, r forestRow) string {
	column := func(x float64) int { return int(math.Round(a.At(x) * (forestColumns - 1))) }
	line := []byte(strings.Repeat(" ", forestColumns))
	line[column(0)], line[column(r.Limit)] = ':', '|'
	for k := column(r.Lower); k <= column(r.Upper); k++ {
		line[k] = '='
	}
	line[column(r.Effect)] = 'o'
	for _, x := range []float64{r.Lower, r.Effect, r.Upper} {
		switch a.Beyond(x) {
		case -1:
			line[0] = '<'
		case 1:
			line[forestColumns-1] = '>'
		}
	}
	return string(line)
}

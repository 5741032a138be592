package render

import (
	"bufio"
	"fmt"
	"io"
	"math"

	"github.com/aituner/opprof/report/view"
)

// powerColumns are the widths of the table of power before its numbers.
var powerColumns = []int{20, 10, 10, 9}

// powerColumn is the width of each number.
const powerColumn = 5

// WritePower renders a table of power for a terminal.
func WritePower(w io.Writer, t *view.PowerTable) error {
	out := textWriter{bufio.NewWriter(w)}
	out.item(string(t.Result)+" ", t.Sentence)
	out.line("")
	out.item("", Heading(t))
	phase := "?"
	for _, g := range t.Groups {
		if g.Phase != phase {
			phase = g.Phase
			out.line("")
			if phase != "" {
				out.item("", phase)
			}
			out.power(Head(t)...)
		}
		for i, c := range g.Curves {
			label := ""
			if i == 0 {
				label = g.Label
			}
			out.power(append([]string{label}, CurveCells(c)...)...)
		}
	}
	out.line("")
	for _, n := range t.Notes {
		out.item("note", n)
	}
	return out.w.Flush()
}

func Heading(t *view.PowerTable) string {
	s := fmt.Sprintf("Chance in %% that the gate passes: the upper end of the %s %% interval is below the margin", view.Plain(t.ConfidencePct))
	if len(t.Groups) > 0 {
		s += fmt.Sprintf(" of %s %%", view.Plain(t.Groups[0].MarginPct))
	}
	s += ", by number of blocks n"
	if t.Subject != nil {
		s += " · spreads of " + t.Subject.Campaign
	}
	if t.Simulated {
		s += " (simulated engine)"
	}
	return s
}

func Head(t *view.PowerTable) []string {
	cells := []string{"", "SD of d", "effect", "needs"}
	for _, n := range t.Blocks {
		cells = append(cells, fmt.Sprint(n))
	}
	return cells
}

// CurveCells are those of a curve below the head, but for the label.
func CurveCells(c view.PowerCurve) []string {
	cells := []string{c.SpreadText(), c.EffectText(), c.NeededText()}
	for _, p := range c.Power {
		cells = append(cells, wholePercent(p))
	}
	return cells
}

// wholePercent is rounded down: 89.9 is not yet 90. An error of the last digit of
// a float is no reason to show less.
func wholePercent(p float64) string { return fmt.Sprint(math.Floor(100*p + 1e-9)) }

func (t textWriter) power(cells ...string) {
	line := ""
	for i, c := range cells {
		if i < len(powerColumns) {
			line += pad(Cut(view.Clean(c), powerColumns[i]-1), powerColumns[i])
		} else {
			line += pad("", powerColumn-len([]rune(c))) + c
		}
	}
	t.line(line)
}

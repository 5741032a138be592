package report

import (
	"bufio"
	"fmt"
	"io"
	"math"
)

// powerColumns are the widths of the table of power before its numbers.
var powerColumns = []int{20, 10, 10, 9}

// powerColumn is the width of each number.
const powerColumn = 5

// WritePower renders a table of power for a terminal.
func WritePower(w io.Writer, t *PowerTable) error {
	out := textWriter{bufio.NewWriter(w)}
	out.item(t.Result+" ", t.Sentence)
	out.line("")
	out.item("", t.heading())
	phase := "?"
	for _, g := range t.Groups {
		if g.Phase != phase {
			phase = g.Phase
			out.line("")
			if phase != "" {
				out.item("", phase)
			}
			out.power(t.head()...)
		}
		for i, c := range g.Curves {
			label := ""
			if i == 0 {
				label = g.Label
			}
			out.power(append([]string{label}, c.cells()...)...)
		}
	}
	out.line("")
	for _, n := range t.Notes {
		out.item("note", n)
	}
	return out.w.Flush()
}

func (t *PowerTable) heading() string {
	s := fmt.Sprintf("Chance in %% that the upper end of the %s %% interval is below the margin", plainNumber(t.ConfidencePct))
	if len(t.Groups) > 0 {
		s += fmt.Sprintf(" of %s %%", plainNumber(t.Groups[0].MarginPct))
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

func (t *PowerTable) head() []string {
	cells := []string{"", "SD of d", "effect", "needs"}
	for _, n := range t.Blocks {
		cells = append(cells, fmt.Sprint(n))
	}
	return cells
}

// cells are those of a curve below the head, but for the label.
func (c PowerCurve) cells() []string {
	cells := []string{c.spreadText(), c.effectText(), c.neededText()}
	for _, p := range c.Power {
		cells = append(cells, wholePercent(p))
	}
	return cells
}

func (c PowerCurve) spreadText() string {
	s := fmt.Sprintf("%.2f %%", 100*c.SD)
	if c.Spread == "upper" {
		s = "≤ " + s
	}
	return s
}

func (c PowerCurve) effectText() string {
	s := trimmed(percent(c.Effect, noMargin))
	if c.Seen {
		s += " *"
	}
	return s
}

func (c PowerCurve) neededText() string {
	if c.Needed == 0 || c.Needed > mostBlocks {
		return fmt.Sprintf("> %d", mostBlocks)
	}
	return fmt.Sprint(c.Needed)
}

// wholePercent is rounded down: 89.9 is not yet 90. An error of the last digit of
// a float is no reason to show less.
func wholePercent(p float64) string { return fmt.Sprint(math.Floor(100*p + 1e-9)) }

func (t textWriter) power(cells ...string) {
	line := ""
	for i, c := range cells {
		if i < len(powerColumns) {
			line += pad(cut(clean(c), powerColumns[i]-1), powerColumns[i])
		} else {
			line += pad("", powerColumn-len([]rune(c))) + c
		}
	}
	t.line(line)
}

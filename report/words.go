package report

import "fmt"

// Line makes a string that comes from a run safe to print: one line of valid
// UTF-8 without control, invisible or reordering characters.
func Line(s string) string { return clean(s) }

// Words say in one line what was found about a metric. They are rounded as in
// every report: never across the margin.
func (m *Metric) Words(v *View) string {
	words := fmt.Sprintf("effect %s, %s %% interval %s", trimmed(maybePercent(m.Effect, m.MarginPct)),
		plainNumber(v.Level()), interval(m.Lower, m.Upper, m.MarginPct))
	if m.Primary {
		words += fmt.Sprintf(", margin %s %%", plainNumber(m.MarginPct))
	}
	return words
}

// Missed reports whether the gate passed a metric that the slowdown reached.
func (c *Control) Missed() bool { return c.Outcome == notSensitive }

// Applied reports whether the slowdown reached the metric.
func (c *Control) Applied() bool { return c.Outcome != notReached }

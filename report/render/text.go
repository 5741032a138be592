// Package render writes views as text for a terminal and as Markdown for a pull
// request. Every string that comes from a run is made harmless for its place.
package render

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
)

// textWidth is the most columns that a line of the text report has.
const textWidth = 100

// textLabel is the width of the word that a line of the text report begins with.
const textLabel = 8

// textWriter writes wrapped lines; the first error stops it.
type textWriter struct{ w *bufio.Writer }

// WriteText renders the view for a terminal: the verdict sentence first, at most
// 100 columns, no colour. Control characters that come from the run are removed.
func WriteText(w io.Writer, v *view.View) error {
	t := textWriter{bufio.NewWriter(w)}
	t.item(view.Clean(v.Headline())+" ", v.Sentence)
	for _, n := range v.Notes {
		t.item("note", n)
	}
	for _, n := range v.Next {
		t.item("next", n)
	}
	t.line("")
	t.item("", SubjectLine(v))
	for i := range v.Comparisons {
		if v.Finished {
			t.comparison(v, &v.Comparisons[i])
		}
	}
	t.line("")
	for _, n := range v.Needs {
		t.item("needs", n)
	}
	for _, n := range PilotLines(v) {
		t.item("pilot", n)
	}
	t.recorders(v)
	t.besideRequests(v)
	t.runs(v)
	t.context(v)
	return t.w.Flush()
}

func (t textWriter) line(s string) { t.w.WriteString(strings.TrimRight(s, " ") + "\n") }

// item writes a labelled paragraph, wrapped and indented below its label.
func (t textWriter) item(label, s string) {
	indent := ""
	if label != "" {
		indent = strings.Repeat(" ", textLabel)
		label = pad(label, textLabel-1) + " "
	}
	if utf8.RuneCountInString(label) > textLabel {
		indent = strings.Repeat(" ", 2)
	}
	for i, line := range wrap(together.Replace(view.Clean(s)), textWidth-len(indent), textWidth-utf8.RuneCountInString(label)) {
		line = strings.ReplaceAll(line, noBreak, " ")
		if i == 0 {
			t.line(label + line)
			continue
		}
		t.line(indent + line)
	}
}

// noBreak stands for a space at which a line is not broken.
const noBreak = "\u00a0"

// together keeps units with their numbers and separators with what they end.
var together = strings.NewReplacer(" %", noBreak+"%", " ·", noBreak+"·", " ms", noBreak+"ms", " s (", noBreak+"s (", " → ", noBreak+"→"+noBreak)

// wrap breaks a line at spaces; a word longer than the width is cut.
func wrap(s string, width, first int) []string {
	var lines []string
	room, line := first, ""
	flush := func() {
		lines = append(lines, line)
		room, line = width, ""
	}
	for _, word := range strings.Split(s, " ") {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > room {
			flush()
		}
		for line == "" && utf8.RuneCountInString(word) > room {
			runes := []rune(word)
			line, word = string(runes[:room]), string(runes[room:])
			flush()
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

// Cut shortens a name that would break the columns.
func Cut(s string, width int) string {
	if runes := []rune(s); len(runes) > width {
		return string(runes[:width-1]) + "…"
	}
	return s
}

// SubjectLine says in one line what was measured, when and where.
func SubjectLine(v *view.View) string {
	s := &v.Subject
	parts := []string{s.Scenario, "plan " + view.ShortHash(s.PlanHash)}
	for _, part := range []string{joinPatches(s), s.Model, s.Hardware, s.Date} {
		if part != "" && part != "." {
			parts = append(parts, part)
		}
	}
	if v.Simulated {
		parts = append(parts, "simulated engine")
	}
	return strings.Join(parts, " · ")
}

func joinPatches(s *view.Subject) string {
	var parts []string
	if s.Versions != "" {
		parts = append(parts, s.Versions)
	}
	seen := map[string]bool{"none": true, "": true}
	for _, a := range s.Arms {
		if !seen[a.Patch] {
			parts = append(parts, a.Patch)
		}
		seen[a.Patch] = true
	}
	return strings.Join(parts, " + ")
}

func (t textWriter) comparison(v *view.View, c *view.Comparison) {
	t.line("")
	name := c.Name()
	if c.AA {
		name += " (equal arms)"
	}
	if c.Verdict != "" {
		name += ": " + c.Result.String()
	}
	if !c.Gating {
		name += ", not gated"
	}
	t.item("", name)
	for _, r := range view.Untold(c.Failed) {
		t.item("FAIL", r.String())
	}
	for _, r := range view.Untold(c.Invalid) {
		t.item("INVALID", r.String())
	}
	if v.Nothing() {
		return
	}
	for _, p := range c.Phases {
		t.phase(v, c, p)
	}
	if c.Phases != nil {
		t.line("")
	}
	for _, n := range append(slices.Clone(c.Notes), c.Comments()...) {
		t.item("note", n)
	}
	t.beside(c)
}

// columns are the widths of the metric table.
var columns = []int{18, 14, 14, 9, 20, 7}

func (t textWriter) row(cells ...string) {
	line := ""
	for i, c := range cells {
		if i < len(columns) {
			c = pad(Cut(cleanCell(c), columns[i]-1), columns[i])
		}
		line += c
	}
	t.line(line)
}

// cleanCell keeps the leading space that aligns an unsigned number.
func cleanCell(s string) string {
	if strings.HasPrefix(s, " ") {
		return " " + view.Clean(s)
	}
	return view.Clean(s)
}

func (t textWriter) phase(v *view.View, c *view.Comparison, p view.Phase) {
	t.line("")
	heading := fmt.Sprintf("%s, %s", p.Name, p.Load)
	if v.Simulated {
		heading += " (simulated engine)"
	}
	t.item("", heading)
	t.row("", c.Baseline, c.Candidate, "effect", fmt.Sprintf("%s %% interval", view.Plain(v.Level())), "margin", "verdict")
	var also []string
	for _, m := range p.Metrics {
		if !m.Primary && !view.IsCore(m.Name) {
			also = append(also, alsoMeasured(&m))
			continue
		}
		margin, verdict := view.Plain(m.MarginPct)+" %", m.Word()
		if !m.Primary {
			margin, verdict = "-", "not primary"
		}
		bounds := view.Interval(m.Lower, m.Upper, m.MarginPct)
		if m.Verdict == stat.Invalid && bounds != "-" {
			bounds = "(" + strings.Trim(bounds, "[]") + ")" // shown, but it decides nothing
		}
		t.row(m.Label, view.Amount(m.Baseline, m.Unit), view.Amount(m.Candidate, m.Unit),
			view.Aligned(m.Effect, m.MarginPct), bounds, margin, verdict)
	}
	if also != nil {
		t.item("also", strings.Join(also, " · "))
	}
}

// alsoMeasured is a metric in the list of those without a row.
func alsoMeasured(m *view.Metric) string {
	if m.Undefined != "" {
		return fmt.Sprintf("%s %s → %s (effect undefined)", m.Label, view.Amount(m.Baseline, m.Unit), view.Amount(m.Candidate, m.Unit))
	}
	return fmt.Sprintf("%s %s (%s)", m.Label, view.Amount(m.Candidate, m.Unit), view.MaybePercent(m.Effect, view.NoMargin))
}

// beside shows what stands next to the metrics of a comparison.
func (t textWriter) beside(c *view.Comparison) {
	if s := cpuLine(c.CPU); s != "" {
		t.item("CPU", s)
	}
	list := Diagnostics(c)
	for _, d := range list {
		if d.Telling {
			t.item(d.Label, d.Text)
		}
	}
	if s := Quiet(list); s != "" {
		t.item("fine", s)
	}
	if c.Identity != "" {
		t.item("outputs", strings.TrimPrefix(c.Identity, "outputs "))
	}
}

func cpuLine(rows []view.CPU) string {
	var parts []string
	for _, r := range rows {
		parts = append(parts, fmt.Sprintf("%s %s: %s → %s s (%s)", r.Phase, r.Role,
			view.Significant(r.Baseline), view.Significant(r.Candidate), view.MaybePercent(r.Effect, view.NoMargin)))
	}
	return strings.Join(parts, " · ")
}

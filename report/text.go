package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aituner/opprof/report/stat"
)

// textWidth is the most columns that a line of the text report has.
const textWidth = 100

// textLabel is the width of the word that a line of the text report begins with.
const textLabel = 8

// textWriter writes wrapped lines; the first error stops it.
type textWriter struct{ w *bufio.Writer }

// WriteText renders the view for a terminal: the verdict sentence first, at most
// 100 columns, no colour. Control characters that come from the run are removed.
func WriteText(w io.Writer, v *View) error {
	t := textWriter{bufio.NewWriter(w)}
	t.item(clean(v.Result)+" ", v.Sentence)
	for _, n := range v.Notes {
		t.item("note", n)
	}
	for _, n := range v.Next {
		t.item("next", n)
	}
	t.line("")
	t.item("", subjectLine(v))
	for i := range v.Comparisons {
		if v.Finished {
			t.comparison(v, &v.Comparisons[i])
		}
	}
	t.line("")
	for _, n := range v.Needs {
		t.item("needs", n)
	}
	for _, n := range pilotLines(v) {
		t.item("pilot", n)
	}
	t.recorders(v)
	t.besideRequests(v)
	t.runs(v)
	t.context(v)
	return t.w.Flush()
}

// clean makes one printable line of what comes from a run: no line breaks, no
// terminal sequences, no invisible or reordering characters.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t' || r == '\u2028' || r == '\u2029':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return '\uFFFD'
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
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
	for i, line := range wrap(together.Replace(clean(s)), textWidth-len(indent), textWidth-utf8.RuneCountInString(label)) {
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

// cut shortens a name that would break the columns.
func cut(s string, width int) string {
	if runes := []rune(s); len(runes) > width {
		return string(runes[:width-1]) + "…"
	}
	return s
}

// subjectLine says in one line what was measured, when and where.
func subjectLine(v *View) string {
	s := &v.Subject
	parts := []string{s.Scenario, "plan " + shortHash(s.PlanHash)}
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

func joinPatches(s *Subject) string {
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

func shortHash(s string) string { return fmt.Sprintf("%.8s", s) }

func (t textWriter) comparison(v *View, c *Comparison) {
	t.line("")
	name := c.name()
	if c.AA {
		name += " (equal arms)"
	}
	if c.Result != "" {
		name += ": " + c.Result
	}
	if !c.Gating {
		name += ", not gated"
	}
	t.item("", name)
	for _, r := range c.Failed {
		t.item("FAIL", r.String())
	}
	for _, r := range c.Invalid {
		t.item("INVALID", r.String())
	}
	for _, p := range c.Phases {
		t.phase(v, c, p)
	}
	if c.Phases != nil {
		t.line("")
	}
	for _, n := range append(slices.Clone(c.Notes), c.remarks()...) {
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
			c = pad(cut(cleanCell(c), columns[i]-1), columns[i])
		}
		line += c
	}
	t.line(line)
}

// cleanCell keeps the leading space that aligns an unsigned number.
func cleanCell(s string) string {
	if strings.HasPrefix(s, " ") {
		return " " + clean(s)
	}
	return clean(s)
}

func (t textWriter) phase(v *View, c *Comparison, p Phase) {
	t.line("")
	heading := fmt.Sprintf("%s, %s", p.Name, p.Load)
	if v.Simulated {
		heading += " (simulated engine)"
	}
	t.item("", heading)
	t.row("", c.Baseline, c.Candidate, "effect", fmt.Sprintf("%s %% interval", plainNumber(v.Level())), "margin", "verdict")
	var also []string
	for _, m := range p.Metrics {
		if !m.Primary && !isCore(m.Name) {
			also = append(also, fmt.Sprintf("%s %s (%s)", m.Label, quantity(m.Candidate, m.Unit), trimmed(maybePercent(m.Effect, noMargin))))
			continue
		}
		margin, verdict := plainNumber(m.MarginPct)+" %", m.word()
		if !m.Primary {
			margin, verdict = "-", "not primary"
		}
		bounds := interval(m.Lower, m.Upper, m.MarginPct)
		if m.Verdict == stat.Invalid && bounds != "-" {
			bounds = "(" + strings.Trim(bounds, "[]") + ")" // shown, but it decides nothing
		}
		t.row(m.Label, quantity(m.Baseline, m.Unit), quantity(m.Candidate, m.Unit),
			maybePercent(m.Effect, m.MarginPct), bounds, margin, verdict)
	}
	if also != nil {
		t.item("also", strings.Join(also, " · "))
	}
}

// remarks are those of the primary metrics.
func (c *Comparison) remarks() []string {
	var list []string
	for _, p := range c.primaries() {
		for _, r := range p.Remarks {
			list = append(list, p.String()+": "+r)
		}
		if p.Equivalence != "" {
			list = append(list, p.String()+": "+p.Equivalence)
		}
	}
	return list
}

// beside shows what stands next to the metrics of a comparison.
func (t textWriter) beside(c *Comparison) {
	if s := cpuLine(c.CPU); s != "" {
		t.item("CPU", s)
	}
	if c.Stalls != nil {
		t.item("stalls", stallLine(c))
	}
	if s := growthLine(c); s != "" {
		t.item("within", s)
	}
	if s := lagLine(c); s != "" {
		t.item("lag", s)
	}
	if s := orderLine(c); s != "" {
		t.item("order", s)
	}
	if c.Identity != "" {
		t.item("outputs", strings.TrimPrefix(c.Identity, "outputs "))
	}
}

func cpuLine(rows []CPU) string {
	var parts []string
	for _, r := range rows {
		parts = append(parts, fmt.Sprintf("%s %s: %s → %s s (%s)", r.Phase, r.Role,
			significant(r.Baseline), significant(r.Candidate), trimmed(maybePercent(r.Effect, noMargin))))
	}
	return strings.Join(parts, " · ")
}

func stallLine(c *Comparison) string {
	s := c.Stalls
	line := fmt.Sprintf("%s %d in %s s, %s %d in %s s (p = %.2g); largest gap %s and %s", c.Baseline, s.Baseline, significant(s.BaselineSeconds),
		c.Candidate, s.Candidate, significant(s.CandidateSeconds), s.P, quantity(&s.LargestBaseline, "s"), quantity(&s.LargestCandidate, "s"))
	if s.Flagged {
		line = "STALLS: " + line
	}
	return line
}

func lagLine(c *Comparison) string {
	var parts []string
	for _, l := range c.ProbeLag {
		parts = append(parts, fmt.Sprintf("%s %s %s %% [%s, %s]", l.Phase, l.Of, hundredths(l.MeanPct), hundredths(l.Lower), hundredths(l.Upper)))
	}
	if parts == nil {
		return ""
	}
	return "bias by the client's own lateness, 99 %: " + strings.Join(parts, " · ")
}

func orderLine(c *Comparison) string {
	var largest *Metric
	for _, p := range c.primaries() {
		if p.Detail == nil || p.Detail.OrderPct == nil {
			continue
		}
		if largest == nil || abs(*p.Detail.OrderPct) > abs(*largest.Detail.OrderPct) {
			largest = p.Metric
		}
	}
	if largest == nil {
		return ""
	}
	return fmt.Sprintf("largest effect of which arm ran first %s (%s)", trimmed(percent(*largest.Detail.OrderPct, noMargin)), largest.Label)
}

package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// equalColumns are the widths of the table of an A/A.
var equalColumns = []int{20, 10, 24, 16, 15, 15}

// WriteAA renders the statement about equal arms for a terminal.
func WriteAA(w io.Writer, e *Equality) error {
	t := textWriter{bufio.NewWriter(w)}
	t.item(e.Result+" ", e.Sentence)
	t.line("")
	t.item("", subjectLine(&View{Subject: e.Subject, Simulated: e.Simulated}))
	for i := range e.Comparisons {
		t.equalArms(e, &e.Comparisons[i])
	}
	if e.Reach != nil {
		t.line("")
		for _, s := range e.Reach.lines() {
			t.item("reach", s)
		}
		t.item("needs", "blocks for 90 % power of the t bounds if the true effect is 0, at the observed spread and at its 80 % upper value: "+
			"A/A to show equality, gate to pass. The bootstrap bound costs more at few blocks: opbench power "+shellWord(e.Subject.Campaign))
	}
	return t.w.Flush()
}

func (t textWriter) equalArms(e *Equality, c *EqualArms) {
	t.line("")
	t.item("", fmt.Sprintf("%s against %s: %s", c.Candidate, c.Baseline, c.Result))
	for _, r := range c.Reasons {
		t.item("INVALID", r.String())
	}
	if c.Stalls != "" {
		t.item("stalls", c.Stalls)
	}
	phase := ""
	for _, m := range c.Metrics {
		if m.Phase != phase {
			phase = m.Phase
			t.line("")
			t.item("", phase+", "+m.Load)
			t.columns(equalColumns, "", "effect", fmt.Sprintf("%s %% interval", plainNumber(e.Subject.Confidence)), "result", "A/A needs", "gate needs")
		}
		t.columns(equalColumns, m.Label, maybePercent(m.Effect, m.MarginPct), interval(m.Lower, m.Upper, m.MarginPct), word(m.Result), needText(m.AA), needText(m.Gate))
	}
	t.line("")
	for _, s := range c.statements() {
		t.item("note", s)
	}
}

// word is a result without its reason.
func word(result string) string {
	w, _, _ := strings.Cut(result, "(")
	return w
}

func needText(n *Need) string {
	if n == nil {
		return "-"
	}
	return strings.TrimSuffix(strings.Replace(blocksRange(n.Observed, n.Upper), "more than ", "> ", 1), " blocks")
}

// statements are what the table has no room for.
func (c *EqualArms) statements() []string {
	var list []string
	for _, m := range c.Metrics {
		name := m.Label + ", " + m.Phase
		switch {
		case m.Result == resultEqual:
			list = append(list, fmt.Sprintf("%s: equal within %s %%", name, plainNumber(m.MarginPct)))
		case m.Result == resultBias:
			list = append(list, fmt.Sprintf("%s: equal arms differ by %s (adjusted p %.2g)", name, trimmed(maybePercent(m.Effect, m.MarginPct)), *m.AdjustedP))
		case m.Why != "":
			list = append(list, name+": "+m.Why)
		case m.Noise != "":
			list = append(list, name+": noise "+m.Noise)
		}
	}
	return list
}

// columns writes a row of a table whose widths are given.
func (t textWriter) columns(widths []int, cells ...string) {
	line := ""
	for i, c := range cells {
		line += pad(cut(cleanCell(c), widths[i]-1), widths[i])
	}
	t.line(line)
}

// WriteIndented writes a document, such as an Equality, as indented JSON.
func WriteIndented(w io.Writer, document any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(document)
}

package render

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/aituner/opprof/report/view"
)

// equalColumns are the widths of the table of an A/A.
var equalColumns = []int{20, 10, 24, 16, 15, 15}

// WriteAA renders the statement about equal arms for a terminal.
func WriteAA(w io.Writer, e *view.Equality) error {
	t := textWriter{bufio.NewWriter(w)}
	t.item(e.Text+" ", e.Sentence)
	t.line("")
	t.item("", SubjectLine(&view.View{Subject: e.Subject, Simulated: e.Simulated}))
	for i := range e.Comparisons {
		t.equalArms(e, &e.Comparisons[i])
	}
	if e.Reach != nil {
		t.line("")
		for _, s := range reachLines(e.Reach) {
			t.item("reach", s)
		}
		t.item("needs", "blocks for 90 % power of one metric if the true effect is 0, at the observed spread and at the one to reckon with: "+
			"A/A to show equality, gate to pass. What all of them need together, and with other blocks: opbench power "+view.ShellWord(e.Subject.Campaign))
	}
	return t.w.Flush()
}

func (t textWriter) equalArms(e *view.Equality, c *view.EqualArms) {
	t.line("")
	t.item("", fmt.Sprintf("%s against %s: %s", c.Candidate, c.Baseline, c.Result))
	for _, r := range c.Reasons {
		t.item("INVALID", r.String())
	}
	if c.Stalls != "" {
		t.item("stalls", c.Stalls)
	}
	if c.Outputs != "" {
		t.item("timed", c.Outputs)
	}
	phase := ""
	for _, m := range c.Metrics {
		if m.Phase != phase {
			phase = m.Phase
			t.line("")
			t.item("", phase+", "+m.Load)
			t.columns(equalColumns, "", "effect", fmt.Sprintf("%s %% interval", view.Plain(e.Subject.Confidence)), "result", "A/A needs", "gate needs")
		}
		t.columns(equalColumns, m.Label, view.Aligned(m.Effect, m.MarginPct), view.Interval(m.Lower, m.Upper, m.MarginPct), string(m.Verdict), needText(m.AA), needText(m.Gate))
	}
	t.line("")
	for _, s := range statements(c) {
		t.item("note", s)
	}
}

func needText(n *view.Need) string {
	if n == nil {
		return "-"
	}
	return strings.TrimSuffix(strings.Replace(view.BlocksRange(n.Observed, n.Upper), "more than ", "> ", 1), " blocks")
}

// statements are what the table has no room for.
func statements(c *view.EqualArms) []string {
	var list []string
	for _, m := range c.Metrics {
		name := m.Label + ", " + m.Phase
		switch {
		case m.Verdict == view.Equal:
			list = append(list, fmt.Sprintf("%s: equal within %s %%", name, view.Plain(m.MarginPct)))
		case m.Verdict == view.Bias:
			list = append(list, fmt.Sprintf("%s: equal arms differ by %s (adjusted p %.2g)", name, view.MaybePercent(m.Effect, m.MarginPct), *m.AdjustedP))
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
		line += pad(Cut(cleanCell(c), widths[i]-1), widths[i])
	}
	t.line(line)
}

// reachLines are the reach in words.
func reachLines(r *view.Reach) []string {
	margin := view.Plain(r.MarginPct) + " %"
	var out []string
	if len(r.Shown) == 0 {
		out = append(out, "with these blocks no metric is shown to carry a margin of "+margin)
	} else {
		out = append(out, "with these blocks a margin of "+margin+" is carried by "+names(r.Shown, view.Carried.Title))
	}
	if r.Blocks > 0 {
		out = append(out, fmt.Sprintf("plan design.blocks: %d; a gate of %s then passes with 90 %% power on all of: %s (each alone)",
			r.Blocks, margin, names(r.Within, view.Carried.String)))
	}
	if len(r.Beyond) > 0 {
		out = append(out, fmt.Sprintf("more than %d blocks: %s. Longer phases or a quieter host, or leave them out of the primary metrics",
			r.Limit, names(r.Beyond, view.Carried.String)))
	}
	return out
}

func names(list []view.Carried, say func(view.Carried) string) string {
	var parts []string
	for _, c := range list {
		parts = append(parts, say(c))
	}
	return strings.Join(parts, ", ")
}

package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// revisionColumns are the widths of the table of two revisions.
var revisionColumns = []int{20, 26, 26, 26}

// WriteComparison renders the comparison of two revisions for a terminal.
func WriteComparison(w io.Writer, r *Revisions) error {
	t := textWriter{bufio.NewWriter(w)}
	t.item("", r.heading())
	t.item("A", r.A.line())
	t.item("B", r.B.line())
	for _, s := range r.Stated {
		t.item("differs", s+" (stated)")
	}
	for _, s := range r.PlanDiffers {
		t.item("differs", s)
	}
	phase := ""
	for _, m := range r.Metrics {
		if m.Phase != phase {
			phase = m.Phase
			t.line("")
			t.item("", phase+", "+m.Load)
			t.columns(revisionColumns, "% [interval]", "A "+r.A.Arm, "B "+r.B.Arm, "B against A")
		}
		t.columns(revisionColumns, m.Label, m.A.cell(), m.B.cell(), m.Difference.cell())
	}
	t.line("")
	for _, s := range r.findings() {
		t.item("", s)
	}
	t.line("")
	for _, n := range r.Notes {
		t.item("note", n)
	}
	t.item("note", fmt.Sprintf("information, not a gate: each interval is %s %% by itself, none is corrected for their number", plainNumber(r.ConfidencePct)))
	return t.w.Flush()
}

func (r *Revisions) heading() string {
	s := "What B costs relative to A, positive is worse"
	if r.Method == "welch" {
		s += "; two campaigns"
	}
	if r.Simulated {
		s = "Simulated engine, not vLLM: " + s
	}
	return s
}

// name is the arm with its patch.
func (o RevisionOf) name() string {
	if o.Patch == "" || o.Patch == "none" {
		return o.Arm
	}
	return o.Arm + " (" + o.Patch + ")"
}

func (o RevisionOf) line() string {
	s := o.name()
	if o.Baseline != "" {
		s += " against " + o.Baseline
	}
	parts := []string{s, o.Campaign, "plan " + shortHash(o.PlanHash)}
	if o.Date != "" {
		parts = append(parts, o.Date)
	}
	return strings.Join(append(parts, plural(o.Blocks, "block", "blocks")), " · ")
}

// cell is an effect in percent without the sign of it, which the head has.
func (e *Effect) cell() string {
	if e == nil {
		return "-"
	}
	return fmt.Sprintf("%s [%s, %s]", e.number(e.Pct), e.number(e.Lower), e.number(e.Upper))
}

// number is never rounded across zero, which is where an interval tells two
// revisions apart.
func (*Effect) number(x float64) string {
	return strings.TrimSuffix(trimmed(percent(x, 0)), " %")
}

// findings say for every metric whether the two could be told apart.
func (r *Revisions) findings() (list []string) {
	open := 0
	a, b := r.A.Arm, r.B.Arm
	if a == b {
		a, b = "A", "B"
	}
	for i := range r.Metrics {
		m := &r.Metrics[i]
		if !m.Difference.told() {
			open++
			continue
		}
		list = append(list, fmt.Sprintf("%s of %s: %s costs %s than %s", m.Label, m.Phase, b, m.Difference.inWords(), a))
	}
	if open > 0 {
		list = append(list, fmt.Sprintf("on %d of %s the two are not told apart: the interval of their difference holds 0",
			open, plural(len(r.Metrics), "metric", "metrics")))
	}
	return list
}

// inWords says an effect whose interval excludes zero.
func (e Effect) inWords() string {
	size, lo, hi, way := e.Pct, e.Lower, e.Upper, "more"
	if e.Upper < 0 {
		size, lo, hi, way = -size, -hi, -lo, "less"
	}
	plain := func(x float64) string { return strings.TrimPrefix(e.number(x), "+") }
	return fmt.Sprintf("%s %% %s (%s to %s %%)", plain(size), way, plain(lo), plain(hi))
}

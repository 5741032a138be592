package render

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/aituner/opprof/report/view"
)

// revisionColumns are the widths of the table of two revisions.
var revisionColumns = []int{20, 26, 26, 26}

// WriteRevisions renders the comparison of two revisions for a terminal.
func WriteRevisions(w io.Writer, r *view.Revisions) error {
	t := textWriter{bufio.NewWriter(w)}
	t.item("", revisionsHeading(r))
	t.item("A", revisionLine(r.A))
	t.item("B", revisionLine(r.B))
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
		t.columns(revisionColumns, m.Label, effectCell(m.A), effectCell(m.B), effectCell(&m.Difference))
	}
	t.line("")
	for _, s := range told(r) {
		t.item("", s)
	}
	t.line("")
	for _, n := range r.Notes {
		t.item("note", n)
	}
	t.item("note", fmt.Sprintf("information, not a gate: each interval is %s %% by itself, none is corrected for their number", view.Plain(r.ConfidencePct)))
	return t.w.Flush()
}

func revisionsHeading(r *view.Revisions) string {
	s := "What B costs relative to A, positive is worse"
	if r.Method == "welch" {
		s += "; two campaigns"
	}
	if r.Simulated {
		s = "Simulated engine, not vLLM: " + s
	}
	return s
}

// revisionName is the arm with its patch.
func revisionName(o view.RevisionOf) string {
	if o.Patch == "" || o.Patch == "none" {
		return o.Arm
	}
	return o.Arm + " (" + o.Patch + ")"
}

func revisionLine(o view.RevisionOf) string {
	s := revisionName(o)
	if o.Baseline != "" {
		s += " against " + o.Baseline
	}
	parts := []string{s, o.Campaign, "plan " + view.ShortHash(o.PlanHash)}
	if o.Date != "" {
		parts = append(parts, o.Date)
	}
	return strings.Join(append(parts, view.Plural(o.Blocks, "block", "blocks")), " · ")
}

// effectCell is an effect in percent without the sign of it, which the head has.
func effectCell(e *view.Effect) string {
	if e == nil {
		return "-"
	}
	return fmt.Sprintf("%s [%s, %s]", bare(e.Pct), bare(e.Lower), bare(e.Upper))
}

// bare is never rounded across zero, which is where an interval tells two
// revisions apart.
func bare(x float64) string {
	return strings.TrimSuffix(view.Percent(x, 0), " %")
}

// told says for every metric whether the two could be told apart.
func told(r *view.Revisions) (list []string) {
	open := 0
	a, b := r.A.Arm, r.B.Arm
	if a == b {
		a, b = "A", "B"
	}
	for i := range r.Metrics {
		m := &r.Metrics[i]
		if !m.Difference.Told() {
			open++
			continue
		}
		list = append(list, fmt.Sprintf("%s of %s: %s costs %s than %s", m.Label, m.Phase, b, inWords(m.Difference), a))
	}
	if open > 0 {
		list = append(list, fmt.Sprintf("on %d of %s the two are not told apart: the interval of their difference holds 0",
			open, view.Plural(len(r.Metrics), "metric", "metrics")))
	}
	return list
}

// inWords says an effect whose interval excludes zero.
func inWords(e view.Effect) string {
	size, lo, hi, way := e.Pct, e.Lower, e.Upper, "more"
	if e.Upper < 0 {
		size, lo, hi, way = -size, -hi, -lo, "less"
	}
	plain := func(x float64) string { return strings.TrimPrefix(bare(x), "+") }
	return fmt.Sprintf("%s %% %s (%s to %s %%)", plain(size), way, plain(lo), plain(hi))
}

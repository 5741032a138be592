package patches

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Text describes a revision in a few lines: what it fits, costs and changes.
func (r Revision) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n  vLLM %s (%.8s), schema %d, %s, series %.12s\n  cost: %s\n",
		r.ID, r.VLLM, r.Commit, r.SchemaVersion, r.Status, r.SHA256, r.ExpectedCost)
	if r.MeasuredCost != "" {
		fmt.Fprintf(&b, "  measured: %s\n", r.MeasuredCost)
	}
	for _, text := range r.Changes {
		fmt.Fprintf(&b, "  - %s\n", text)
	}
	return b.String()
}

// WriteChanges prints what Diff found between two revisions: the files with their
// counts of lines and, if text is asked for, the diffs.
func WriteChanges(out io.Writer, from, to Revision, changes []Change, text bool) error {
	fmt.Fprintf(out, "%s to %s: the files that they leave in a tree of vLLM %s (%.8s); %d differ\n",
		from.ID, to.ID, from.VLLM, from.Commit, len(changes))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, c := range changes {
		fmt.Fprintf(w, "-%d\t+%d\t  %s\n", c.Removed, c.Added, c.Path)
	}
	if err := w.Flush(); err != nil || !text {
		return err
	}
	for _, c := range changes {
		fmt.Fprintf(out, "\n%s", c.Diff)
	}
	return nil
}

// Text says what the tree in dir is, file by file, and then as a whole.
func (s Status) Text(dir string) string {
	var b strings.Builder
	for _, f := range s.Files {
		fmt.Fprintf(&b, "%-16s %-12.12s %s", f.State, cmp.Or(f.Blob, "no such file"), f.Path)
		if len(f.Revisions) > 0 {
			fmt.Fprintf(&b, " (%s)", strings.Join(f.Revisions, ", "))
		}
		b.WriteByte('\n')
	}
	what := strings.TrimSpace(string(s.State) + " " + s.Revision)
	fmt.Fprintf(&b, "%s: %s, vLLM %s (%.8s)\n", dir, what, s.VLLM, s.Commit)
	return b.String()
}

// Text says where each hunk would go, and counts their fates.
func (d *Drift) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "drift of %s, made for %.8s; nothing is changed\n", d.Revision, d.Commit)
	count := map[Fate]int{}
	for _, f := range d.Files {
		if len(f.Hunks) > 0 || f.State != Pristine {
			fmt.Fprintf(&b, "%s: %s%s\n", f.Path, f.State, changedLines(f))
		}
		for _, h := range f.Hunks {
			count[h.Fate]++
			fmt.Fprintf(&b, "  %-12s%s\n", hunkText(h), fateText(h))
		}
	}
	var counts []string
	for _, fate := range []Fate{AsIs, InTree, NewFile, Moves, Taken, NoPlace} {
		if count[fate] > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", count[fate], fate))
		}
	}
	fmt.Fprintf(&b, "hunks: %s\n", strings.Join(counts, ", "))
	return b.String()
}

// changedLines says how a file differs from upstream's, and that it matters
// even if no hunk is in it.
func changedLines(f DriftFile) string {
	text := ""
	if f.Changed+f.Extra > 0 {
		text = fmt.Sprintf(", lines of upstream that are gone: %d, others that came: %d", f.Changed, f.Extra)
	}
	if len(f.Hunks) == 0 {
		text += "; the recorder relies on it: read what changed"
	}
	return text
}

func hunkText(h HunkDrift) string {
	if h.Fate == NewFile || h.Fate == Taken {
		return "whole file"
	}
	return fmt.Sprintf("line %d", h.Line)
}

func fateText(h HunkDrift) string {
	switch h.Fate {
	case Moves:
		return fmt.Sprintf("moves to %d", h.To)
	case NoPlace, Taken:
		return string(h.Fate) + ": " + h.Why
	}
	return string(h.Fate)
}

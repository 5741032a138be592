package bench

import (
	"fmt"

	"github.com/spf13/cobra"
)

// build is what a binary was made from.
type build struct {
	Version string // stamps plans and reports
}

func thisBuild() build { return build{Version: "0.1.0"} }

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Example: "opbench version", Args: usage(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.stdout, "opbench", a.build.Version)
			return err
		},
	}
}

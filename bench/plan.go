package bench

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) planCommand() *cobra.Command {
	var asJSON bool
	var given []string
	c := &cobra.Command{
		Use: "plan SCENARIO", Short: "Show what a campaign would do; nothing is started or written",
		Example: "opbench plan scenarios/vllm-cpu.yaml", Args: usage(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := a.loadPlan(args[0], given...)
			if err != nil {
				return usageError(err)
			}
			if asJSON {
				return a.printJSON(p)
			}
			_, err = fmt.Fprint(a.stdout, p.Text())
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the plan as JSON")
	bindPatches(c, &given)
	return c
}

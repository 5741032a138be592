package bench

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/aituner/opprof/harness"
	"github.com/aituner/opprof/results"
)

func (a *app) planCommand() *cobra.Command {
	var asJSON bool
	var f planFlags
	c := &cobra.Command{
		Use: "plan SCENARIO", Short: "Show what a campaign would do; nothing is started or written",
		Example: "opbench plan scenarios/vllm-cpu.yaml", Args: usage(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := a.planned(args[0], f)
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
	f.bind(c)
	return c
}

// planFlags make another plan of a scenario; run and plan have them.
type planFlags struct {
	given     []string // patches of arms
	replicate int
}

func (f *planFlags) bind(c *cobra.Command) {
	bindPatches(c, &f.given)
	c.Flags().IntVar(&f.replicate, "replicate", 0, "draw the k-th other order of runs, of the same requests: to measure again what may hang on the order")
}

func (a *app) planned(scenario string, f planFlags) (*results.Plan, error) {
	p, err := a.loadPlan(scenario, f.given...)
	if err != nil {
		return nil, err
	}
	return p, harness.Replicate(p, f.replicate)
}

package bench

import (
	"github.com/spf13/cobra"

	"github.com/aituner/opprof/results"
)

func (a *app) resumeCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use: "resume DIR", Short: "Go on with a campaign that was stopped or killed",
		Example: "opbench resume results/runs/20261204T101500Z-vllm-cpu-3f2a91c7", Args: usage(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			plan, err := results.ReadPlan(args[0])
			if err == nil {
				err = results.Changeable(args[0])
			}
			if err != nil {
				return usageError(err)
			}
			return a.campaign(plan, f, args[0], func() (string, error) { return args[0], nil })
		},
	}
	f.bind(c)
	return c
}

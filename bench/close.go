package bench

import (
	"github.com/spf13/cobra"

	"github.com/aituner/opprof/harness"
)

func (a *app) closeCommand() *cobra.Command {
	var why string
	c := &cobra.Command{
		Use: "close DIR", Short: "Give up a campaign that can't be finished, and report what it measured",
		Long: `close ends a campaign before its last block, for good: its machine is gone, or its
time. The report then shows what was measured; with fewer blocks than planned the
verdict is INVALID, because whoever can choose when to stop has no error rate.`,
		Example: `opbench close results/runs/20261204T101500Z-h200-r2-9d0d19b8 --why "the reservation ended"`, Args: usage(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := harness.Close(args[0], why, a.build.Version); err != nil {
				return usageError(err)
			}
			return a.verdict(args[0])
		},
	}
	c.Flags().StringVar(&why, "why", "", "the reason, one line; it stands in the report")
	return c
}

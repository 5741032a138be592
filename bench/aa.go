package bench

import (
	"github.com/spf13/cobra"

	"github.com/aituner/opprof/report/render"
	"github.com/aituner/opprof/report/sizing"
)

func (a *app) aaCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "aa DIR", Short: "Judge equal arms: which metrics can carry the margin on this host",
		Long: `aa judges the A/A evidence in a run directory: a campaign of purpose aa, or the
arm of another campaign that repeats one (same_as). For every primary metric it
says EQUAL (the whole interval lies within the margin), BIAS (equal arms differ:
Holm p < 0.01 and more than a tenth of the margin) or UNDERPOWERED (too noisy for
the blocks that it has), with the blocks that it would need, and then which
metrics can carry the margin here.

Exit codes: 0 all equal, 11 INCONCLUSIVE (all equal, but one arm stalls more
often), 12 UNDERPOWERED, BIAS or INVALID, 14 not finished, 2 no equal arms.`,
		Example: "opbench aa results/campaigns/vllm-cpu-second-aa", Args: usage(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			campaign, err := load(args[0])
			if err != nil {
				return err
			}
			e, err := sizing.JudgeAA(campaign, a.build.Version)
			if err != nil {
				return reportError(err)
			}
			if asJSON {
				err = a.printJSON(e)
			} else {
				err = render.WriteAA(a.stdout, e)
			}
			if err != nil {
				return err
			}
			return exitWith(e.ExitCode)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the statement as JSON")
	return c
}

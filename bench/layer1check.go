package bench

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/steps"
	"github.com/aituner/opprof/results/steps/steptext"
)

func (a *app) layer1CheckCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "check FILE...", Short: "Run every correctness check over step record files (exit 12 if one fails)",
		Long: `check reads the step records of one server (.jsonl, .jsonl.gz, .jsonl.zst; all its
files together) and runs every check that needs no client. Exit code 12 if one fails.`,
		Example: "opbench layer1 check results/runs/20261204T101500Z-vllm-cpu-3f2a91c7/blocks/0001/on/steps/*.zst", Args: usage(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			sum, err := steps.Check(args)
			if err != nil {
				return usageError(err)
			}
			if asJSON {
				err = a.printJSON(struct {
					Schema int    `json:"schema"`
					Kind   string `json:"kind"`
					*results.Steps
				}{results.Schema, "layer1-check", sum})
			} else {
				err = steptext.WriteChecks(a.stdout, sum)
			}
			if failed := failedChecks(sum.Checks); err == nil && len(failed) > 0 {
				err = invalidf("%d of %d checks failed", len(failed), len(sum.Checks))
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the summary as JSON")
	return c
}

// failedChecks are those that failed and are no mere warnings.
func failedChecks(all []results.Check) []results.Check {
	return slices.DeleteFunc(slices.Clone(all), func(c results.Check) bool { return c.Failed == 0 || c.Warning })
}

package bench

import (
	"github.com/spf13/cobra"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/steps"
	"github.com/aituner/opprof/results/steps/steptext"
)

func (a *app) layer1SummaryCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "summary FILE...", Short: "Describe step record files: step times by batch, lengths, queues, KV, graphs, volume",
		Long: `summary reads step records (.jsonl, .jsonl.gz, .jsonl.zst) of any size in constant memory and
says what the steps did: step time by kind of batch and decode batch size, histograms of context
and chunk lengths, queues, KV cache, prefix hits, CUDA graph modes and padding, preemptions, drops,
and how many GB the recorder writes per hour and day. It makes the checks of opbench layer1 check,
too; exit code 12 if one fails. Step times are within 0.4 %.`,
		Example: "opbench layer1 summary results/runs/20261204T101500Z-vllm-cpu-3f2a91c7/blocks/0001/on/steps/*.zst", Args: usage(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := steps.Overview(args)
			if err != nil {
				return usageError(err)
			}
			if s.Records > 0 {
				if err := a.printSurvey(s, asJSON); err != nil {
					return err
				}
			}
			return surveyVerdict(s)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the summary as JSON")
	return c
}

func (a *app) printSurvey(s *steps.Survey, asJSON bool) error {
	if !asJSON {
		return steptext.WriteSurvey(a.stdout, s)
	}
	return a.printJSON(struct {
		Schema int    `json:"schema"`
		Kind   string `json:"kind"`
		*steps.Survey
	}{results.Schema, "layer1-summary", s})
}

// surveyVerdict is an error if a check failed or there was nothing to describe.
func surveyVerdict(s *steps.Survey) error {
	switch failed := failedChecks(s.Checks); {
	case len(failed) > 0:
		return invalidf("%d of %d checks failed, the first is %s: %s (opbench layer1 check lists all)",
			len(failed), len(s.Checks), failed[0].ID, failed[0].First)
	case s.Records == 0:
		return invalidf("the files hold no record: the recorder saw no step")
	}
	return nil
}

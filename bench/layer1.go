package main

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/steps"
	"github.com/spf13/cobra"
)

func (a *app) layer1Command() *cobra.Command {
	c := &cobra.Command{
		Use: "layer1", Short: "Step records: check, describe, convert and export files offline", Example: "opbench layer1 check steps/*.jsonl",
		Args: usage(cobra.NoArgs), RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.layer1CheckCommand(), a.layer1SummaryCommand(), a.layer1ConvertCommand(), a.layer1ExportCommand())
	return c
}

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
				return &exitError{exitUsage, err}
			}
			if asJSON {
				enc := json.NewEncoder(a.stdout)
				enc.SetIndent("", "  ")
				err = enc.Encode(struct {
					Schema int    `json:"schema"`
					Kind   string `json:"kind"`
					*results.Steps
				}{results.Schema, "layer1-check", sum})
			} else {
				err = a.printChecks(sum)
			}
			if err == nil && failedChecks(sum) > 0 {
				err = &exitError{exitInvalid, fmt.Errorf("%d of %d checks failed", failedChecks(sum), len(sum.Checks))}
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the summary as JSON")
	return c
}

func failedChecks(sum *results.Steps) int {
	n := 0
	for _, c := range sum.Checks {
		if c.Failed > 0 && !c.Warning {
			n++
		}
	}
	return n
}

func (a *app) printChecks(sum *results.Steps) error {
	fmt.Fprintf(a.stdout, "%d records, %d steps (%d empty), %d bytes, backlog high watermark %d, %d dropped\n",
		sum.Records, sum.Steps, sum.EmptySteps, sum.Bytes, sum.BacklogMax, sum.Dropped)
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	for _, c := range sum.Checks {
		state, note := "ok", ""
		switch {
		case c.Failed > 0 && c.Warning:
			state, note = "warning", c.First
		case c.Failed > 0:
			state, note = "FAILED", c.First
		case c.Skipped != "":
			state, note = "skipped", c.Skipped
		}
		fmt.Fprintf(w, "%s\t%s\t%d of %d\t%s\n", state, c.ID, c.Checked-c.Failed, c.Checked, note)
	}
	return w.Flush()
}

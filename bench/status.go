package main

import (
	"fmt"
	"time"

	"github.com/aituner/opprof/harness"
	"github.com/aituner/opprof/results"
	"github.com/spf13/cobra"
)

func (a *app) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status DIR", Short: "Show where a campaign stands; never its effects",
		Example: "opbench status results/runs/20261204T101500Z-vllm-cpu-3f2a91c7", Args: usage(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			plan, st, entries, err := harness.Progress(args[0])
			if err != nil {
				return &exitError{exitUsage, err}
			}
			fmt.Fprintf(a.stdout, "%s · plan %.8s · %d of %d runs done", plan.Scenario.Name, plan.Hash, st.Done, st.Runs)
			if st.Run != "" {
				fmt.Fprintf(a.stdout, " · in progress: %s", st.Run)
			}
			if st.Left > 0 {
				fmt.Fprintf(a.stdout, " · about %s left", st.Left.Round(time.Second))
			}
			fmt.Fprintln(a.stdout)
			for _, e := range entries {
				if e.Event != results.EventRunStart {
					fmt.Fprintf(a.stdout, "%s  %s\n", e.Time.Format(time.TimeOnly), harness.Describe(e))
				}
			}
			return nil
		},
	}
}

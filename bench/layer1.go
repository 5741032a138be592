package bench

import "github.com/spf13/cobra"

func (a *app) layer1Command() *cobra.Command {
	c := &cobra.Command{
		Use: "layer1", Short: "Step records: check, describe, convert and export files offline", Example: "opbench layer1 check steps/*.jsonl",
		Args: usage(cobra.NoArgs), RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.layer1CheckCommand(), a.layer1SummaryCommand(), a.layer1ConvertCommand(), a.layer1ExportCommand())
	return c
}

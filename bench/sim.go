package bench

import "github.com/spf13/cobra"

func (a *app) simCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "sim", Short: "The simulated engine: it proves nothing about vLLM", Example: "opbench sim serve --port 8000",
		Args: usage(cobra.NoArgs), RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.simServeCommand())
	return c
}

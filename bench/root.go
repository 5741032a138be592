package bench

import "github.com/spf13/cobra"

// root assembles the commands; each has a file that is named after it.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "opbench",
		Short: "Decide whether an instrumented vLLM serves slower than the plain one",
		Long: `opbench runs paired off/on campaigns of an instrumented vLLM on fresh servers in
balanced order, checks outputs and records, and gives a verdict with a stated
error rate.

Exit codes: 0 PASS or done, 1 unexpected error, 2 usage or invalid file,
10 FAIL, 11 INCONCLUSIVE, 12 INVALID (from aa and power also UNDERPOWERED),
13 infrastructure (retry is safe), 14 interrupted (opbench resume goes on).`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          usage(cobra.NoArgs),
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError(err) })
	root.AddCommand(a.validateCommand(), a.planCommand(), a.doctorCommand(), a.selftestCommand(),
		a.runCommand(), a.controlCommand(), a.resumeCommand(), a.closeCommand(), a.statusCommand(), a.reportCommand(), a.gateCommand(), a.exportCommand(), a.publishCommand(),
		a.compareCommand(), a.postCommand(), a.aaCommand(), a.powerCommand(), a.simCommand(), a.patchCommand(), a.layer1Command(), a.versionCommand())
	completeArgs(root)
	return root
}

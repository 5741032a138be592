package bench

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) gateCommand() *cobra.Command {
	var asJSON bool
	var open leniency
	c := &cobra.Command{
		Use: "gate DIR", Short: "Give the verdict of a run directory as the exit code",
		Example: "opbench gate results/campaigns/vllm-cpu-r1", Args: usage(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			_, v, err := a.judge(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				err = a.printJSON(v)
			} else {
				_, err = fmt.Fprintf(a.stdout, "%s  %s\n", v.Headline(), v.Sentence)
			}
			if err != nil {
				return err
			}
			return a.lenient(open, exitWith(v.ExitCode))
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the verdict as JSON")
	open.bind(c)
	return c
}

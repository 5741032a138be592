package bench

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/aituner/opprof/results/steps"
)

func (a *app) layer1ConvertCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "convert FILE...", Short: "Turn packed step files of r3-packed into JSON Lines",
		Long: `convert reads packed step files (.packed) and writes a .jsonl file for each, with the
fields that the recorder leaves out because they follow from others. A record that a killed
server did not complete is left out; such a file has no footer.`,
		Example: "opbench layer1 convert steps/*.packed", Args: usage(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			for _, path := range args {
				target, file, err := steps.ConvertFile(path, dir)
				if err != nil {
					return usageError(err)
				}
				fmt.Fprintf(a.stdout, "%s: %d records of %d bytes%s\n", target, file.Records, file.Bytes, endOf(file))
			}
			return nil
		},
	}
	c.Flags().StringVarP(&dir, "out", "o", "", "folder to write to (default: that of each file)")
	return c
}

func endOf(file steps.File) string {
	switch {
	case file.Torn > 0:
		return ", no footer, the last record is not complete"
	case file.Footer == nil:
		return ", no footer"
	}
	return ""
}

package bench

import (
	"io"
	"os"

	"github.com/aituner/opprof/report"
	"github.com/spf13/cobra"
)

// renderers by the name of their format.
var renderers = map[string]func(io.Writer, *report.View) error{
	"text": report.WriteText, "markdown": report.WriteMarkdown, "html": report.WriteHTML, "json": report.WriteJSON,
}

func (a *app) reportCommand() *cobra.Command {
	var format, out string
	var save bool
	c := &cobra.Command{
		Use: "report DIR", Short: "Report on a run directory, from its files alone",
		Example: "opbench report --format markdown results/campaigns/vllm-cpu-r1", Args: usage(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			render, ok := renderers[format]
			if !ok {
				return usagef("--format %q: use text, markdown, html or json", format)
			}
			_, v, err := a.judge(args[0])
			if err != nil {
				return err
			}
			if save {
				if err := report.Save(args[0], v); err != nil {
					return infrastructureError(err)
				}
			}
			if out == "" {
				return render(a.stdout, v)
			}
			f, err := os.Create(out)
			if err != nil {
				return infrastructureError(err)
			}
			defer f.Close()
			if err := render(f, v); err != nil {
				return infrastructuref("write %s: %w", out, err)
			}
			return f.Close()
		},
	}
	c.Flags().StringVar(&format, "format", "text", "text, markdown, html or json")
	completeWords(c, "format", renderers)
	c.Flags().BoolVar(&save, "save", false, "also write verdict.json, report.md and report.html into DIR again")
	c.Flags().StringVarP(&out, "output", "o", "", "file to write instead of standard output")
	return c
}

package bench

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/aituner/opprof/report/page"
	"github.com/aituner/opprof/report/render"
	"github.com/aituner/opprof/report/view"
)

// renderers by the name of their format.
var renderers = map[string]func(io.Writer, *view.View) error{
	"text": render.WriteText, "markdown": render.WriteMarkdown, "html": page.Write, "json": view.WriteJSON[*view.View],
}

func (a *app) reportCommand() *cobra.Command {
	var format, out string
	var save bool
	c := &cobra.Command{
		Use: "report DIR", Short: "Report on a run directory, from its files alone",
		Long: `report judges a run directory again, from its files alone. In place of DIR it takes a
verdict.json, and renders what that says without judging anything.`,
		Example: "opbench report --format markdown results/campaigns/vllm-cpu-r1", Args: usage(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			render, ok := renderers[format]
			if !ok {
				return usagef("--format %q: use text, markdown, html or json", format)
			}
			v, saved, err := a.viewOf(args[0])
			switch {
			case err != nil:
				return err
			case save && saved:
				return usagef("--save: %s is a saved verdict already; name the run directory", args[0])
			case save:
				if err := page.Save(args[0], v); err != nil {
					return infrastructureError(err)
				}
			}
			return infrastructureError(a.output(out, func(w io.Writer) error { return render(w, v) }))
		},
	}
	c.Flags().StringVar(&format, "format", "text", "text, markdown, html or json")
	completeWords(c, "format", renderers)
	c.Flags().BoolVar(&save, "save", false, "also write verdict.json, report.md and report.html into DIR again")
	c.Flags().StringVarP(&out, "output", "o", "", "file to write instead of standard output")
	return c
}

// viewOf judges a run directory, or reads the view that a verdict.json is.
func (a *app) viewOf(path string) (v *view.View, saved bool, err error) {
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		_, v, err := a.judge(path)
		return v, false, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, true, infrastructureError(err)
	}
	defer f.Close()
	if v, err = view.Read(f); err != nil {
		return nil, true, usagef("%s: %w", path, err)
	}
	return v, true, nil
}

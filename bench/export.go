package bench

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aituner/opprof/report/export"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
)

// exportFormat is the format of another tool. It is one file, or a folder of
// several.
type exportFormat struct {
	name   string
	about  string // for the help, a line or two
	file   func(io.Writer, *exported) error
	folder func(dir string, x *exported) (notes []string, err error)
}

// exported is what a format is made of.
type exported struct {
	campaign *results.Campaign
	view     *view.View
	lenient  bool // INCONCLUSIVE is no failure
}

// exportFormats are all of them; help, completion and checks ask this table.
var exportFormats = []exportFormat{
	{
		name: "junit", about: "JUnit XML: a test case for the verdict, each metric and each validity rule",
		file: func(w io.Writer, x *exported) error { return export.JUnit(w, x.view, x.lenient) },
	},
	{
		name: "benchfmt", about: "Go benchmark format for benchstat, one line per run, phase and metric;\n" +
			"unpaired, so it is not the gate",
		file: func(w io.Writer, x *exported) error { return export.Benchfmt(w, x.view) },
	},
	{
		name: "parquet", about: "requests.parquet, steps.parquet and pairs.parquet in the folder -o",
		folder: func(dir string, x *exported) ([]string, error) { return export.Parquet(dir, x.campaign, x.view) },
	},
	{
		name: "hud", about: "JSON records of the PyTorch benchmark database, schema v3;\n" +
			"not of a campaign that is INVALID or not finished",
		file: func(w io.Writer, x *exported) error { return export.HUD(w, x.view) },
	},
	{
		name: "llmd", about: "a benchmark report of llm-d per run and phase (JSON, which is YAML too), in the\n" +
			"folder -o; not of a campaign that is INVALID or not finished",
		folder: func(dir string, x *exported) ([]string, error) { return nil, export.LLMD(dir, x.view) },
	},
}

// exportNames lists formats for a sentence: "junit, hud or llmd".
func exportNames(last string, wanted func(*exportFormat) bool) string {
	var names string
	for i := len(exportFormats) - 1; i >= 0; i-- {
		f := &exportFormats[i]
		switch {
		case !wanted(f):
		case names == "":
			names = f.name
		case !strings.Contains(names, last):
			names = f.name + last + names
		default:
			names = f.name + ", " + names
		}
	}
	return names
}

func (*exportFormat) any() bool        { return true }
func (f *exportFormat) isFolder() bool { return f.folder != nil }

// exportHelp describes the formats, one below the other.
func exportHelp() string {
	const width = 10
	var b strings.Builder
	for _, f := range exportFormats {
		fmt.Fprintf(&b, "  %-*s%s\n", width, f.name, strings.ReplaceAll(f.about, "\n", "\n  "+strings.Repeat(" ", width)))
	}
	return b.String()
}

// exportCompletions are the names with the first line of the help.
func exportCompletions() (words []cobra.Completion) {
	for _, f := range exportFormats {
		about, _, _ := strings.Cut(f.about, "\n")
		words = append(words, cobra.CompletionWithDesc(f.name, strings.TrimRight(about, ";,")))
	}
	return words
}

// exportFlags are those of opbench export.
type exportFlags struct {
	format, out  string
	inconclusive leniency
}

func (a *app) exportCommand() *cobra.Command {
	f := exportFlags{inconclusive: inconclusiveFails}
	c := &cobra.Command{
		Use: "export DIR", Short: "Write a run directory in another tool's format",
		Long: "export writes what a run directory means in the format of another tool:\n\n" + exportHelp() + `
A refused campaign is exit 12 where it is INVALID and 14 where it is not finished. Else
the exit code is 0 whatever the verdict: opbench gate gives it.`,
		Example: "opbench export --format junit -o junit.xml results/campaigns/vllm-cpu-r1", Args: usage(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			format, err := f.check()
			if err != nil {
				return usageError(err)
			}
			campaign, v, err := a.judge(args[0])
			if err != nil {
				return err
			}
			return exportFailed(a.export(format, f.out, &exported{campaign, v, f.inconclusive == inconclusivePasses}))
		},
	}
	c.Flags().StringVar(&f.format, "format", "", exportNames(" or ", (*exportFormat).any))
	completeFlag(c, "format", exportCompletions())
	c.Flags().StringVarP(&f.out, "output", "o", "",
		"file to write instead of standard output; for "+exportNames(" and ", (*exportFormat).isFolder)+" a folder")
	c.Flags().Var(&f.inconclusive, "inconclusive", "junit: what INCONCLUSIVE is, fail (a failure) or pass (skipped)")
	return c
}

// check finds the format that the flags ask for.
func (f *exportFlags) check() (*exportFormat, error) {
	i := slices.IndexFunc(exportFormats, func(x exportFormat) bool { return x.name == f.format })
	if i < 0 {
		return nil, fmt.Errorf("--format %q: use %s", f.format, exportNames(" or ", (*exportFormat).any))
	}
	format := &exportFormats[i]
	if format.isFolder() && f.out == "" {
		return nil, fmt.Errorf("--format %s writes several files: name a folder with -o", f.format)
	}
	return format, nil
}

func (a *app) export(f *exportFormat, out string, x *exported) error {
	if !f.isFolder() {
		return a.output(out, func(w io.Writer) error { return f.file(w, x) })
	}
	notes, err := f.folder(out, x)
	for _, n := range notes {
		fmt.Fprintln(a.stderr, "opbench: no steps of", view.Line(n))
	}
	return err
}

// exportFailed gives an error of an export its exit code: what the format refuses,
// or else a file that can't be written.
func exportFailed(err error) error {
	if err == nil {
		return nil
	}
	if refused := (*export.RefusedError)(nil); errors.As(err, &refused) {
		return withCode(refused.Code, err)
	}
	return infrastructureError(err)
}

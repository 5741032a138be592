package bench

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/aituner/opprof/report/export"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results/steps"
)

func (a *app) layer1ExportCommand() *cobra.Command {
	var format, out string
	c := &cobra.Command{
		Use: "export FILE...", Short: "Turn step records into a Parquet table or flat JSON Lines",
		Long: `export reads step record files (.jsonl, .jsonl.gz, .jsonl.zst), in the order given, and
writes one row per record with flat columns. Rows are streamed: what is held is one group
of them. A last line without an end is left out and said; any other damage ends the export.`,
		Example: "opbench layer1 export --format parquet -o steps.parquet results/runs/20261204T101500Z-vllm-cpu-3f2a91c7/blocks/0001/on/steps/*.zst",
		Args:    usage(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case format != "parquet" && format != "json":
				return usagef("--format %q: use parquet or json", format)
			case format == "parquet" && out == "":
				return usagef("--format parquet is binary: name a file with -o")
			}
			var files []steps.File
			err := a.output(out, func(w io.Writer) (err error) {
				files, err = export.Steps(w, format, args)
				return err
			})
			if err != nil {
				return badRecords(err)
			}
			return a.sayExported(out, files)
		},
	}
	c.Flags().StringVar(&format, "format", "json", "parquet or json (JSON Lines)")
	c.Flags().StringVarP(&out, "output", "o", "", "file to write (default for json: standard output)")
	return c
}

// badRecords tells a file that is damaged or not there from one that can't be
// written.
func badRecords(err error) error {
	if damage := (*steps.DamageError)(nil); errors.As(err, &damage) || errors.Is(err, os.ErrNotExist) {
		return usageError(err)
	}
	return infrastructureError(err)
}

// sayExported counts what was written to a file, and names cut ends.
func (a *app) sayExported(out string, files []steps.File) error {
	var records int64
	for _, f := range files {
		records += f.Records
		if f.Torn > 0 {
			fmt.Fprintf(a.stderr, "opbench: %s: the last line is cut off and was left out, %s\n", f.Name, view.Plural(int(f.Torn), "byte", "bytes"))
		}
	}
	if out == "" {
		return nil
	}
	_, err := fmt.Fprintf(a.stdout, "%s: %s of %s\n", out, view.Plural(int(records), "record", "records"), view.Plural(len(files), "file", "files"))
	return err
}

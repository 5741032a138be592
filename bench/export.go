package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/aituner/opprof/report"
	"github.com/aituner/opprof/report/export"
	"github.com/aituner/opprof/results"
	"github.com/spf13/cobra"
)

// exportFlags are those of opbench export.
type exportFlags struct {
	format, out  string
	inconclusive leniency
}

func (a *app) exportCommand() *cobra.Command {
	f := exportFlags{inconclusive: inconclusiveFails}
	c := &cobra.Command{
		Use: "export DIR", Short: "Write a run directory in another tool's format",
		Long: `export writes what a run directory means in the format of another tool:

  junit     JUnit XML: a test case for the verdict, each metric and each validity rule
  benchfmt  Go benchmark format for benchstat, one line per run, phase and metric;
            unpaired, so it is not the gate
  parquet   requests.parquet, steps.parquet and pairs.parquet in the folder -o
  hud       JSON records of the PyTorch benchmark database, schema v3
  llmd      a benchmark report of llm-d per run and phase (JSON, which is YAML too),
            in the folder -o

hud and llmd refuse a campaign that is INVALID (exit 12) or not finished (14). Else
the exit code is 0 whatever the verdict: opbench gate gives it.`,
		Example: "opbench export --format junit -o junit.xml results/campaigns/vllm-cpu-r1", Args: usage(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return &exitError{exitUsage, err}
			}
			campaign, err := load(args[0])
			if err != nil {
				return err
			}
			v, err := report.Build(campaign, version)
			if err != nil {
				return err
			}
			return exported(a.export(&f, campaign, v))
		},
	}
	c.Flags().StringVar(&f.format, "format", "", "junit, benchfmt, parquet, hud or llmd")
	c.Flags().StringVarP(&f.out, "output", "o", "", "file to write instead of standard output; for parquet and llmd a folder")
	c.Flags().Var(&f.inconclusive, "inconclusive", "junit: what INCONCLUSIVE is, fail (a failure) or pass (skipped)")
	return c
}

func (f *exportFlags) check() error {
	switch f.format {
	case "junit", "benchfmt", "hud":
		return nil
	case "parquet", "llmd":
		if f.out == "" {
			return fmt.Errorf("--format %s writes several files: name a folder with -o", f.format)
		}
		return nil
	}
	return fmt.Errorf("--format %q: use junit, benchfmt, parquet, hud or llmd", f.format)
}

func (a *app) export(f *exportFlags, c *results.Campaign, v *report.View) error {
	switch f.format {
	case "parquet":
		notes, err := export.Parquet(f.out, c, v)
		for _, n := range notes {
			fmt.Fprintln(a.stderr, "opbench: no steps of", report.Line(n))
		}
		return err
	case "llmd":
		return export.LLMD(f.out, v)
	}
	return a.output(f.out, func(w io.Writer) error {
		switch f.format {
		case "junit":
			return export.JUnit(w, v, f.inconclusive == inconclusivePasses)
		case "hud":
			return export.HUD(w, v)
		}
		return export.Benchfmt(w, v)
	})
}

// output writes to a file, or to standard output if there is none.
func (a *app) output(path string, write func(io.Writer) error) error {
	if path == "" {
		return write(a.stdout)
	}
	return export.ToFile(path, write)
}

// exported gives an error of an export its exit code: what the format refuses,
// or else a file that can't be written.
func exported(err error) error {
	if err == nil {
		return nil
	}
	if refused := (*export.RefusedError)(nil); errors.As(err, &refused) {
		return &exitError{refused.Code, err}
	}
	return &exitError{exitInfrastructure, err}
}

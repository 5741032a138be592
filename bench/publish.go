package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/aituner/opprof/report"
	"github.com/aituner/opprof/results"
	"github.com/spf13/cobra"
)

// publication is a campaign to publish: its run directory, and where it goes.
type publication struct {
	dir, name, out string
	force          bool
}

func (a *app) publishCommand() *cobra.Command {
	var p publication
	c := &cobra.Command{
		Use: "publish DIR NAME", Short: "Make an archive and a report of a finished campaign, to be committed",
		Long: `publish writes campaign.tar.zst (plan, ledger and sealed runs of DIR, those of a
control's pilot too), report.md and verdict.json into results/campaigns/NAME.
report, gate, aa, power, compare, export and post read that folder as they read
DIR; tar -xf campaign.tar.zst makes a run directory of it again.

An archive stays below 15 MiB: where it would not, step files are left out, of
runs that do not count, then of the largest, and listed in thinned.json; one run of
each recording arm keeps them. Their checks are reported as recorded, not
recomputed.

Exit codes: 0 published, whatever the verdict; 2 no campaign, or NAME exists; 12
damaged; 13 can't be written; 14 not finished.`,
		Example: "opbench publish results/runs/20261204T101500Z-vllm-cpu-3f2a91c7 vllm-cpu-r1", Args: usage(cobra.ExactArgs(2)),
		RunE: func(_ *cobra.Command, args []string) error {
			p.dir, p.name = args[0], args[1]
			return a.publish(p)
		},
	}
	campaigns := filepath.Join("results", "campaigns")
	c.Flags().StringVarP(&p.out, "output", "o", campaigns, "folder of the published campaigns")
	c.Flags().BoolVar(&p.force, "force", false, "replace a published campaign of this name")
	return c
}

// publishedName are names that do as a folder's and in a link.
var publishedName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

func (a *app) publish(p publication) error {
	if !publishedName.MatchString(p.name) {
		return &exitError{exitUsage, fmt.Errorf("NAME %q: use small letters, digits, dots and dashes", p.name)}
	}
	c, err := load(p.dir)
	if err != nil {
		return err
	}
	before, err := publishable(c)
	if err != nil {
		return err
	}
	target := filepath.Join(p.out, p.name)
	made, err := p.makeFolder(target)
	if err != nil {
		return err
	}
	packed, v, err := publishTo(target, c)
	if err != nil && made {
		err = errors.Join(err, os.RemoveAll(target))
	}
	if err != nil {
		return &exitError{exitInfrastructure, err}
	}
	a.sayPublished(target, packed, before, v)
	return nil
}

// publishable judges a campaign, unless it is not finished or damaged.
func publishable(c *results.Campaign) (*report.View, error) {
	if !c.Complete {
		return nil, &exitError{exitStopped, fmt.Errorf(
			"%s is not finished: opbench resume %[1]s goes on; opbench close %[1]s --why TEXT gives it up", c.Dir)}
	}
	damaged := slices.IndexFunc(c.Attempts, func(a results.Attempt) bool { return a.Damage != "" })
	if damaged >= 0 {
		d := c.Attempts[damaged]
		return nil, &exitError{exitInvalid, fmt.Errorf(
			"%s: run %s is damaged, nothing is published of it: %s", c.Dir, d.Key, d.Damage)}
	}
	return report.Build(c, version)
}

// makeFolder makes the folder of a publication, or takes one that may be replaced.
func (p *publication) makeFolder(target string) (made bool, err error) {
	if err := os.MkdirAll(p.out, 0o755); err != nil {
		return false, &exitError{exitInfrastructure, err}
	}
	err = os.Mkdir(target, 0o755)
	switch {
	case err == nil:
		return true, nil
	case !errors.Is(err, fs.ErrExist):
		return false, &exitError{exitInfrastructure, err}
	case !p.force:
		return false, &exitError{exitUsage, fmt.Errorf("%s exists: give another name, or replace it with --force", target)}
	}
	if _, err := os.Stat(filepath.Join(target, "plan.json")); err == nil {
		return false, &exitError{exitUsage, fmt.Errorf(
			"%s is a run directory, no publication: its files would hide the archive", target)}
	}
	return false, nil
}

// publishTo writes the archive, and the report that it gives in its place.
func publishTo(target string, c *results.Campaign) (*results.Packed, *report.View, error) {
	packed, err := results.Pack(filepath.Join(target, results.ArchiveName), c, results.MaxArchive)
	if err != nil {
		return nil, nil, err
	}
	stored, err := results.Load(target)
	if err != nil {
		return nil, nil, err
	}
	v, err := publishable(stored)
	if err != nil {
		return nil, nil, err
	}
	for name, render := range map[string]func(io.Writer, *report.View) error{
		"verdict.json": report.WriteJSON, "report.md": report.WriteMarkdown,
	} {
		var b bytes.Buffer
		if err := errors.Join(render(&b, v), results.WriteFile(filepath.Join(target, name), b.Bytes())); err != nil {
			return nil, nil, err
		}
	}
	return packed, v, nil
}

func (a *app) sayPublished(target string, p *results.Packed, before, v *report.View) {
	fmt.Fprintf(a.stdout, "%s  %d files, %.1f MiB\n", target, p.Files, float64(p.Size)/(1<<20))
	for _, name := range p.Thinned {
		fmt.Fprintln(a.stdout, "left out ", name)
	}
	fmt.Fprintf(a.stdout, "%s  %s\n", v.Result, v.Sentence)
	if before.Result != v.Result {
		fmt.Fprintf(a.stderr, "opbench: beside the campaigns of %s the verdict is %s, where it was measured it is %s: "+
			"read what differs in report.md\n", filepath.Dir(target), v.Result, before.Result)
	}
}

package bench

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/aituner/opprof/report/publish"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
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
		return usagef("NAME %q: use small letters, digits, dots and dashes", p.name)
	}
	c, err := load(p.dir)
	if err != nil {
		return err
	}
	before, err := publish.Judge(c, a.build.Version)
	if err != nil {
		return reportError(err)
	}
	target := filepath.Join(p.out, p.name)
	packed, v, err := publish.Write(target, c, a.build.Version, p.force)
	switch {
	case errors.Is(err, publish.ErrExists), errors.Is(err, publish.ErrRunDirectory):
		return usageError(err)
	case err != nil:
		return infrastructureError(err)
	}
	a.sayPublished(target, packed, before, v)
	return nil
}

func (a *app) sayPublished(target string, p *results.Packed, before, v *view.View) {
	fmt.Fprintf(a.stdout, "%s  %d files, %.1f MiB\n", target, p.Files, float64(p.Size)/(1<<20))
	for _, name := range p.Thinned {
		fmt.Fprintln(a.stdout, "left out ", name)
	}
	fmt.Fprintf(a.stdout, "%s  %s\n", v.Headline(), v.Sentence)
	if before.Result != v.Result {
		fmt.Fprintf(a.stderr, "opbench: beside the campaigns of %s the verdict is %s, where it was measured it is %s: "+
			"read what differs in report.md\n", filepath.Dir(target), v.Headline(), before.Result)
	}
}

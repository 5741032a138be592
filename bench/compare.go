package bench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aituner/opprof/report/render"
	"github.com/aituner/opprof/report/revisions"
	"github.com/aituner/opprof/report/view"
)

// compareFlags are those of opbench compare.
type compareFlags struct {
	baseline, candidate string
	except              []string
	asJSON              bool
}

func (a *app) compareCommand() *cobra.Command {
	var f compareFlags
	c := &cobra.Command{
		Use: "compare DIR [DIR]", Short: "Compare what two revisions cost: two arms of a campaign, or two campaigns",
		Long: `compare shows what each of two revisions costs and the difference with its
interval. It is information, not a gate, and has no exit code of a gate.

With one run directory, --baseline and --candidate name two of its arms; they are
compared block by block. With two, their effects are compared by Welch's interval;
--baseline then names the candidate arm of the first and --candidate that of the
second, where there is more than one. The requests, the engine's arguments, the
vLLM version and the host must be the same; --except excuses the last two.`,
		Example: "opbench compare results/campaigns/vllm-cpu-aa results/campaigns/vllm-cpu-second-aa\n  opbench compare DIR --baseline r1 --candidate r2",
		Args:    usage(cobra.RangeArgs(1, 2)),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := f.compare(args, a.build.Version)
			if err != nil {
				return err
			}
			if f.asJSON {
				return a.printJSON(r)
			}
			return render.WriteRevisions(a.stdout, r)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.baseline, "baseline", "", "arm that is compared with")
	fl.StringVar(&f.candidate, "candidate", "", "arm that is compared")
	fl.StringSliceVar(&f.except, "except", nil, "what may differ between two campaigns: "+strings.Join(revisions.Excusable, ", "))
	fl.BoolVar(&f.asJSON, "json", false, "print the comparison as JSON")
	return c
}

// compare compares what the flags ask for; tool is the version to stamp.
func (f *compareFlags) compare(dirs []string, tool string) (*view.Revisions, error) {
	if err := f.check(dirs); err != nil {
		return nil, usageError(err)
	}
	a, err := load(dirs[0])
	if err != nil {
		return nil, err
	}
	if len(dirs) == 1 {
		r, err := revisions.CompareArms(a, f.baseline, f.candidate, tool)
		return r, reportError(err)
	}
	b, err := load(dirs[1])
	if err != nil {
		return nil, err
	}
	r, err := revisions.CompareCampaigns(a, b, f.baseline, f.candidate, f.except, tool)
	return r, reportError(err)
}

func (f *compareFlags) check(dirs []string) error {
	if len(dirs) == 1 && (f.baseline == "" || f.candidate == "") {
		return fmt.Errorf("compare two arms of %s with --baseline ARM --candidate ARM, or give a second run directory", dirs[0])
	}
	if len(dirs) == 1 && f.except != nil {
		return fmt.Errorf("--except is about two campaigns; %s is one", dirs[0])
	}
	for _, part := range f.except {
		if !slices.Contains(revisions.Excusable, part) {
			return fmt.Errorf("--except %q: only these may differ: %s", part, strings.Join(revisions.Excusable, ", "))
		}
	}
	return nil
}

package bench

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aituner/opprof/report/page"
	"github.com/aituner/opprof/report/render"
	"github.com/aituner/opprof/report/sizing"
	"github.com/aituner/opprof/report/view"
)

// powerFlags are those of opbench power.
type powerFlags struct {
	sd, cv, effects           []string
	margin, confidence, power string
	blocks                    []int
	arms, metrics             int
	html                      string
	asJSON                    bool
}

func (a *app) powerCommand() *cobra.Command {
	var f powerFlags
	c := &cobra.Command{
		Use: "power [DIR]", Short: "Tell how many blocks a campaign needs, from an A/A or from given spreads",
		Long: `power says how likely a campaign is to pass, by its number of blocks, and how
many blocks it needs. The spreads come from a run directory with equal arms
(opbench aa), or are given: --sd is the standard deviation of a block's log ratio,
--cv the coefficient of variation of single runs. It is how often the gate passes:
metric by metric, and on all metrics of a campaign at once.

UNDERPOWERED: the largest number of --blocks lacks the wanted power that all
metrics pass, at the observed or given spread and the effects that are assumed. With
--blocks 10, that is whether a plan of ten blocks can carry the margin.

Exit codes: 0 enough, 12 UNDERPOWERED or an INVALID campaign, 14 not finished,
2 no equal arms.`,
		Example: "opbench power results/campaigns/vllm-cpu-second-aa\n  opbench power --blocks 10 results/campaigns/vllm-cpu-second-aa\n" +
			"  opbench power --sd 1.2%,2% --effect 0%,1% --html power.html",
		Args: usage(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			t, err := f.table(args, a.build.Version)
			if err != nil {
				return err
			}
			if err := f.page(t); err != nil {
				return err
			}
			if f.asJSON {
				err = a.printJSON(t)
			} else {
				err = render.WritePower(a.stdout, t)
			}
			if err != nil {
				return err
			}
			return exitWith(t.ExitCode)
		},
	}
	fl := c.Flags()
	fl.StringSliceVar(&f.sd, "sd", nil, "standard deviations of d, the log ratio of a block's runs, such as 1.2%")
	fl.StringSliceVar(&f.cv, "cv", nil, "coefficients of variation of the runs of one arm, such as 0.8%")
	fl.StringSliceVar(&f.effects, "effect", nil, "true effects to assume, positive is worse (default 0%, with DIR also the observed mean)")
	fl.StringVar(&f.margin, "margin", "", "margin (default: that of DIR, else 3%)")
	fl.StringVar(&f.confidence, "confidence", "", "two-sided confidence of the interval (default: that of DIR, else 95%)")
	fl.StringVar(&f.power, "power", "90%", "power that is wanted")
	fl.IntSliceVar(&f.blocks, "blocks", []int{6, 8, 10, 12, 16, 20, 30, 40, 60, 100}, "numbers of blocks to tabulate, at most ten")
	fl.IntVar(&f.metrics, "metrics", 0, "primary metrics of the campaign to size, with --sd and --cv (default 8; DIR has its own)")
	fl.IntVar(&f.arms, "arms", 0, "arms of the plan to size (default: as DIR, else 2)")
	fl.StringVar(&f.html, "html", "", "also write a page with a plot for each metric to this file")
	fl.BoolVar(&f.asJSON, "json", false, "print the table as JSON")
	return c
}

// table computes what was asked for; wrong flags are the user's mistake. tool is
// the version to stamp.
func (f *powerFlags) table(args []string, tool string) (*view.PowerTable, error) {
	plan, err := f.plan()
	if err != nil {
		return nil, usageError(err)
	}
	sds, err := f.spreads()
	if err == nil && (len(args) == 1) == (len(sds) > 0) {
		err = errors.New("give either a run directory with equal arms, or spreads (--sd 1.2% or --cv 0.8%)")
	}
	if err != nil {
		return nil, usageError(err)
	}
	if len(args) == 0 {
		t, err := sizing.PowerAt(sds, plan, tool)
		return t, usageError(err)
	}
	campaign, err := load(args[0])
	if err != nil {
		return nil, err
	}
	t, err := sizing.PowerFromAA(campaign, plan, tool)
	return t, reportError(err)
}

func (f *powerFlags) plan() (sizing.PowerPlan, error) {
	p := sizing.PowerPlan{Blocks: f.blocks, Arms: f.arms, Metrics: f.metrics}
	for _, one := range []struct {
		flag, text string
		into       *float64
	}{{"margin", f.margin, &p.Margin}, {"confidence", f.confidence, &p.Confidence}, {"power", f.power, &p.Power}} {
		if one.text == "" {
			continue
		}
		x, err := fraction(one.text)
		if err == nil && x <= 0 {
			err = fmt.Errorf("%q: want more than 0%%", one.text)
		}
		if err != nil {
			return p, fmt.Errorf("--%s %w", one.flag, err)
		}
		*one.into = x
	}
	for _, text := range f.effects {
		x, err := fraction(text)
		if err != nil {
			return p, fmt.Errorf("--effect %w", err)
		}
		p.Effects = append(p.Effects, x)
	}
	return p, p.Check()
}

// spreads are the standard deviations of d that were given, in one way or the
// other.
func (f *powerFlags) spreads() (sds []float64, err error) {
	for _, text := range f.sd {
		x, err := fraction(text)
		if err != nil {
			return nil, fmt.Errorf("--sd %w", err)
		}
		sds = append(sds, x)
	}
	for _, text := range f.cv {
		x, err := fraction(text)
		if err != nil {
			return nil, fmt.Errorf("--cv %w", err)
		}
		sds = append(sds, sizing.SDFromCV(x))
	}
	return sds, nil
}

// fraction reads a percentage, with its sign: 3 could be meant as 300 %.
func fraction(text string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !percent || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0, fmt.Errorf("%q: want a percentage such as 1.2%%", text)
	}
	return x / 100, nil
}

// page writes the plots, if they were asked for.
func (f *powerFlags) page(t *view.PowerTable) error {
	if f.html == "" {
		return nil
	}
	out, err := os.Create(f.html)
	if err != nil {
		return infrastructureError(err)
	}
	defer out.Close()
	if err := page.WritePower(out, t); err != nil {
		return infrastructuref("write %s: %w", f.html, err)
	}
	return out.Close()
}

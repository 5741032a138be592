package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aituner/opprof/harness"
	"github.com/aituner/opprof/harness/engine"
	"github.com/aituner/opprof/harness/pilot"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// control is one positive control: its scenario and where its files go.
type control struct {
	name     string
	scenario *scenarios.Scenario
	text     []byte
	out      string
}

func (a *app) controlCommand() *cobra.Command {
	var f runFlags
	var out string
	c := &cobra.Command{
		Use: "control SCENARIO", Short: "Slow the candidate down on purpose, and see whether the gate notices",
		Long: `control first measures a pilot, at most four steps, that sets how much the
candidate is slowed down: TPOT p50, and TTFT p50 where it is primary, shall rise
by 5 to 6 %. Then it runs the campaign with these values, as run does.

Exit code 0: in every phase a metric caught the slowdown, and none that it reached
passes. 10: one of them passes all the same, "not sensitive here", and cannot be
primary. 11: in some phase nothing caught it. 12 to 14 as for run. After code 14 in the pilot, the same command goes on.`,
		Example: "opbench control scenarios/positive-control.yaml", Args: usage(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			s, text, err := loadScenario(args[0])
			if err == nil && s.Purpose != scenarios.Control {
				err = fmt.Errorf("%s: purpose is %s: opbench control needs purpose control (opbench run takes this one)", args[0], s.Purpose)
			}
			if err != nil {
				return usageError(err)
			}
			return a.control(control{args[0], s, text, out}, f)
		},
	}
	f.bind(c)
	c.Flags().StringVarP(&out, "output", "o", filepath.Join("results", "runs"), "folder for the new run directory")
	return c
}

// control checks the machine, starts the engine and hands over to tryOn.
func (a *app) control(c control, f runFlags) error {
	plan, err := harness.Plan(c.scenario, c.name, c.text, a.build.Version)
	if err != nil {
		return usageError(err)
	}
	ctx, cancel := a.interruptible()
	defer cancel()
	if err := a.preflight(ctx, plan, c.out, f.skip); err != nil {
		return err
	}
	eng, err := engine.New(ctx, c.scenario, engine.Config{Environ: a.environ, Self: a.self, WorkDir: a.workDir(plan)})
	if err != nil {
		return infrastructureError(err)
	}
	defer eng.Close()
	return a.tryOn(ctx, eng, c, f, plan.Hash)
}

// tryOn runs pilot and campaign. hash is the plan's with the values of the
// scenario: it names the pilot, so that a stopped one is found again.
func (a *app) tryOn(ctx context.Context, eng engine.Engine, c control, f runFlags, hash string) error {
	begin := time.Now()
	folder := filepath.Join(c.out, fmt.Sprintf("%s-pilot-%.8s", c.scenario.Name, hash))
	fmt.Fprintln(a.stderr, "pilot:", folder)
	found, tuned, err := a.pilot(ctx, eng, c, f, folder)
	if err != nil {
		return pilotError(err, folder)
	}
	plan, err := harness.Plan(tuned, c.name, c.text, a.build.Version)
	if err == nil {
		err = harness.SetPilot(plan, found)
	}
	if err != nil {
		return usageError(err)
	}
	if !reached(plan) {
		return invalidf("control not applied: no primary metric rose by %g %% in the pilot, so there is nothing to notice; its runs are in %s: remove it before another try",
			results.LeastRisePct, folder)
	}
	dir, err := results.Create(c.out, plan, time.Now())
	if err == nil {
		err = os.Rename(folder, results.PilotPath(dir))
	}
	if err != nil {
		return infrastructureError(err)
	}
	if f.budget > 0 {
		f.budget = max(1, f.budget-time.Since(begin)) // 0 would be no bound
	}
	return a.execute(ctx, eng, plan, dir, f)
}

func (a *app) pilot(ctx context.Context, eng engine.Engine, c control, f runFlags, folder string) (*results.Pilot, *scenarios.Scenario, error) {
	p := a.startProgress(f.quiet)
	defer p.stop()
	return pilot.Run(ctx, pilot.Options{
		Scenario: c.scenario, File: c.name, Text: c.text, Dir: folder,
		Session: harness.Options{Engine: eng, TimeBudget: f.budget, Observe: p.observe, Tool: a.build.Version, Private: a.private()},
		Say:     func(s string) { fmt.Fprintln(a.stderr, s) },
	})
}

// reached reports whether the slowdown reached any primary metric.
func reached(plan *results.Plan) bool {
	for _, ph := range plan.Scenario.Phases {
		for _, m := range ph.Primary {
			if plan.Pilot.Applied(ph.Name, m) {
				return true
			}
		}
	}
	return false
}

func pilotError(err error, folder string) error {
	switch {
	case errors.Is(err, harness.ErrStopped):
		why := strings.TrimSuffix(err.Error(), ": "+harness.ErrStopped.Error())
		return stoppedf("stopped in the pilot: %s; the same command goes on with it (%s)", why, folder)
	case errors.Is(err, pilot.ErrInvalid):
		return invalidf("%w; remove the cause and %s", err, folder)
	case errors.Is(err, harness.ErrRefused):
		return usageError(err)
	}
	return infrastructuref("%w; once that is repaired, the same command goes on with the pilot", err)
}

package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/aituner/opprof/harness"
	"github.com/aituner/opprof/harness/preflight"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

func (a *app) doctorCommand() *cobra.Command {
	var asJSON bool
	var out string
	var given []string
	c := &cobra.Command{
		Use: "doctor [SCENARIO]", Short: "Check the machine: what would break a campaign, and what would make it noisy",
		Long: `doctor looks at this machine, and at what a scenario needs of it, and changes
nothing. opbench run and resume make the same checks first. Exit code 13 if one
fails, else 0: warnings do not count. harness/preflight/README.md lists them.`,
		Example: "opbench doctor scenarios/vllm-cpu.yaml", Args: usage(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			plan := &results.Plan{}
			if len(args) == 1 {
				var err error
				if plan, err = a.loadPlan(args[0], given...); err != nil {
					return usageError(err)
				}
			}
			checks := a.examine(c.Context(), plan, out)
			if err := a.printHealth(plan, checks, asJSON); err != nil {
				return err
			}
			return refusal(checks)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the checks as JSON")
	bindPatches(c, &given)
	c.Flags().StringVarP(&out, "output", "o", filepath.Join("results", "runs"), "folder in which a run directory would be made")
	return c
}

// examine makes all checks; folder is where the campaign's files go. An empty
// plan has no scenario.
func (a *app) examine(ctx context.Context, plan *results.Plan, folder string) []preflight.Check {
	var s *scenarios.Scenario
	if plan.Kind != "" {
		s = &plan.Scenario
	}
	cfg := preflight.Config{Environ: a.environ, WorkDir: a.workDir(plan), Output: folder, Sample: time.Second}
	if s != nil && s.Engine.Kind.Capabilities().Simulated {
		cfg.Sample /= 5 // its steps are so long that the host hardly matters
	}
	return preflight.Checks(preflight.Probe(ctx, s, cfg), s, runsLeft(plan, folder))
}

// runsLeft counts what a campaign still has to do; folder may be its own.
func runsLeft(plan *results.Plan, folder string) int {
	if _, st, _, err := harness.Progress(folder); err == nil {
		return max(0, st.Runs-st.Done)
	}
	n := 0
	for _, b := range plan.Blocks {
		n += len(b.Order)
	}
	return n
}

// refusal is the error of checks that failed.
func refusal(checks []preflight.Check) error {
	n := preflight.Count(checks, preflight.Fail)
	if n == 0 {
		return nil
	}
	return infrastructuref("%d of %d checks of this machine failed", n, len(checks))
}

// preflight refuses to begin where a check fails, and says what else was seen.
func (a *app) preflight(ctx context.Context, plan *results.Plan, folder string, skip bool) error {
	if skip {
		fmt.Fprintln(a.stderr, "preflight skipped: nobody looked at this machine")
		return nil
	}
	checks := a.examine(ctx, plan, folder)
	if ctx.Err() != nil {
		return stoppedf("preflight: %w", context.Cause(ctx))
	}
	for _, c := range checks {
		if c.Status == preflight.Fail || c.Status == preflight.Warn {
			fmt.Fprintln(a.stderr, c)
		}
	}
	if err := refusal(checks); err != nil {
		return infrastructuref("%w; nothing was started (--skip-preflight begins all the same)", err)
	}
	return nil
}

func (a *app) printHealth(plan *results.Plan, checks []preflight.Check, asJSON bool) error {
	if asJSON {
		return a.printJSON(struct {
			Schema   int               `json:"schema"`
			Kind     string            `json:"kind"`
			Scenario string            `json:"scenario,omitempty"`
			Checks   []preflight.Check `json:"checks"`
		}{results.Schema, "doctor", plan.Scenario.Name, checks})
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	for _, c := range checks {
		fmt.Fprintf(w, "%s\t%s\t%s\n", c.Status, c.ID, c.Finding)
		if c.Remedy != "" {
			fmt.Fprintf(w, "\t\tdo: %s\n", c.Remedy)
		}
	}
	return w.Flush()
}

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
	"github.com/aituner/opprof/report/page"
	"github.com/aituner/opprof/report/render"
	"github.com/aituner/opprof/results"
)

// runFlags are common to run and resume.
type runFlags struct {
	budget time.Duration
	quiet  bool
	skip   bool
	open   leniency // towards INCONCLUSIVE
}

func (f *runFlags) bind(c *cobra.Command) {
	c.Flags().DurationVar(&f.budget, "time-budget", 0, "stop cleanly before this time is over (exit 14); resume goes on")
	c.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	c.Flags().BoolVar(&f.skip, "skip-preflight", false, "do not look at the machine first (opbench doctor)")
	f.open.bind(c)
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	var planning planFlags
	var out, expect string
	c := &cobra.Command{
		Use: "run SCENARIO", Short: "Run a campaign and give its verdict",
		Example: "opbench run scenarios/vllm-cpu.yaml", Args: usage(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			plan, err := a.planned(args[0], planning)
			if err != nil {
				return usageError(err)
			}
			if expect != "" && !strings.HasPrefix(plan.Hash, expect) {
				return usagef("%s gives plan %.8s, not the expected %s: the scenario, a patch or the rules have changed", args[0], plan.Hash, expect)
			}
			return a.campaign(plan, f, out, func() (string, error) { return results.Create(out, plan, time.Now()) })
		},
	}
	f.bind(c)
	planning.bind(c)
	c.Flags().StringVarP(&out, "output", "o", filepath.Join("results", "runs"), "folder for the new run directory")
	c.Flags().StringVar(&expect, "expect-plan", "", "refuse to run if the plan hash does not begin with this")
	return c
}

// campaign runs what is left of a plan, reports, and turns the verdict into the
// exit code. The checks of the machine and the engine come first: if one is not
// there, no run directory is made. folder is where the campaign's files go.
func (a *app) campaign(plan *results.Plan, f runFlags, folder string, open func() (string, error)) error {
	ctx, cancel := a.interruptible()
	defer cancel()
	if err := a.preflight(ctx, plan, folder, f.skip); err != nil {
		return err
	}
	eng, err := engine.New(ctx, &plan.Scenario, engine.Config{Environ: a.environ, Self: a.self, WorkDir: a.workDir(plan)})
	if err != nil {
		return infrastructureError(err)
	}
	defer eng.Close()
	dir, err := open()
	if err != nil {
		return infrastructureError(err)
	}
	return a.execute(ctx, eng, plan, dir, f)
}

// execute runs what is left in a run directory and gives the verdict.
func (a *app) execute(ctx context.Context, eng engine.Engine, plan *results.Plan, dir string, f runFlags) error {
	fmt.Fprintln(a.stderr, "run directory:", dir)
	p := a.startProgress(f.quiet)
	err := harness.Execute(ctx, dir, harness.Options{Engine: eng, TimeBudget: f.budget, Look: a.look,
		Machine: harness.ThisMachine(engine.NamedGPUs(&plan.Scenario, a.environ)), Observe: p.observe, Tool: a.build.Version, Private: a.private()})
	p.stop()
	switch {
	case errors.Is(err, harness.ErrStopped):
		return stoppedf("%w\nresume with: opbench resume %s", err, dir)
	case errors.Is(err, harness.ErrRefused):
		return usageError(err)
	case err != nil:
		return infrastructuref("%w\nonce that is repaired: opbench resume %s", err, dir)
	}
	return a.lenient(f.open, a.verdict(dir))
}

// workDir holds the link trees of one engine's package; one path for all
// campaigns, because vLLM's compile cache depends on it.
func (a *app) workDir(plan *results.Plan) string {
	return filepath.Join(a.cache, string(plan.Scenario.Engine.Kind))
}

// private are the paths of this machine that no log of a run keeps.
func (a *app) private() map[string]string {
	paths := map[string]string{a.cache: "{cache}", a.variable("HOME"): "~"}
	if dir, err := os.Getwd(); err == nil {
		paths[dir] = "{cwd}"
	}
	for _, name := range pathVariables {
		for _, p := range filepath.SplitList(a.variable(name)) {
			if filepath.IsAbs(p) && !within(p, paths) {
				paths[p] = "{" + name + "}"
			}
		}
	}
	for p := range paths {
		if len(p) < 2 { // "" and "/" would replace everything
			delete(paths, p)
		}
	}
	return paths
}

// pathVariables name folders that servers and their logs mention.
var pathVariables = []string{"PYTHONPATH", "VLLM_CACHE_ROOT", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "XDG_CACHE_HOME", "HF_HOME"}

// within reports whether a path or a folder above it is in the list.
func within(path string, list map[string]string) bool {
	for p := range list {
		if rel, err := filepath.Rel(p, path); len(p) > 1 && err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// verdict reports on a run directory: text to stdout, files into the directory,
// the verdict as the exit code.
func (a *app) verdict(dir string) error {
	_, v, err := a.judge(dir)
	if err != nil {
		return err
	}
	if err := page.Save(dir, v); err != nil {
		return infrastructureError(err)
	}
	if err := render.WriteText(a.stdout, v); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "report  %s\n", filepath.Join(dir, results.PageFile))
	return exitWith(v.ExitCode)
}

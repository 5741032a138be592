// Package pilot sets the slowdown of a positive control before its campaign is
// planned. Each step of a pilot is a campaign of one block with one set of
// values, or of two where the order of the arms matters; its numbers say which
// values the next step tries.
//
// It measures and computes ratios; what they mean is the business of package
// report.
package pilot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aituner/opprof/harness"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// What the metrics that set the knobs should rise by, in percent: well above a
// margin of 3 %, and so little that a gate which sees it is sensitive.
const (
	lowPct  = 5.0
	highPct = 6.0
)

// mostSteps bounds a pilot. The rise is nearly proportional to the values, so
// that two or three steps do on a quiet host, and on a noisy one more do not help.
const mostSteps = 4

// ErrInvalid says that a step gave no numbers: its runs were INVALID twice.
var ErrInvalid = errors.New("no valid block in the pilot")

// Options are what a pilot needs.
type Options struct {
	Scenario *scenarios.Scenario // of purpose control
	File     string              // its name and text, as for harness.Plan
	Text     []byte
	// Dir is the folder of the steps. One that was stopped goes on in the same
	// folder.
	Dir string
	// Session is as for harness.Execute; its time budget holds for the pilot as
	// a whole.
	Session harness.Options
	// Say is told in words what each step tries and what came of it.
	Say func(string)
}

type pilot struct {
	Options
	begin   time.Time
	longest time.Duration // of any step of this session
	host    string        // fingerprint of the first step
}

// Run measures until the metrics rise by 5 to 6 % as all steps together say, at
// most four steps, and returns what it measured and the scenario with the values
// of the best step. An
// error wraps harness.ErrStopped if the pilot can go on with another call,
// ErrInvalid if a step has no valid block.
func Run(ctx context.Context, opt Options) (*results.Pilot, *scenarios.Scenario, error) {
	p := &pilot{Options: opt, begin: time.Now()}
	knobs := p.Scenario.Knobs()
	if len(knobs) == 0 {
		return nil, nil, fmt.Errorf("scenario %s has nothing that slows its candidate down", p.Scenario.Name)
	}
	out := &results.Pilot{LowPct: lowPct, HighPct: highPct}
	for n := 1; n <= mostSteps; n++ {
		step, err := p.step(ctx, n, knobs)
		if err != nil {
			return nil, nil, fmt.Errorf("pilot step %d: %w", n, err)
		}
		out.Steps = append(out.Steps, step)
		p.say("pilot step %d: %s", n, rises(out.Steps))
		if miss(out.Steps, n-1) == 0 {
			break
		}
		next := propose(knobs, out.Steps)
		if same(next, knobs) {
			break // at a bound: another step would measure the same
		}
		if n < mostSteps {
			knobs = next
		}
	}
	out.Chosen = best(out.Steps)
	return out, p.Scenario.WithKnobs(chosen(p.Scenario.Knobs(), out)), nil
}

func (p *pilot) say(format string, args ...any) {
	if p.Say != nil {
		p.Say(fmt.Sprintf(format, args...))
	}
}

// step runs its blocks, or what is left of them, and reads their numbers.
func (p *pilot) step(ctx context.Context, n int, knobs []scenarios.Knob) (results.PilotStep, error) {
	var none results.PilotStep
	plan, err := p.plan(knobs)
	if err != nil {
		return none, err
	}
	dir := results.PilotStepPath(p.Dir, n)
	if err := open(dir, plan); err != nil {
		return none, err
	}
	if err := p.execute(ctx, n, dir, knobs); err != nil {
		return none, err
	}
	c, err := results.Load(dir)
	if err != nil {
		return none, err
	}
	return p.read(c, knobs)
}

// plan is a campaign of one block, judged by the rules of the control itself.
// Where its estimates take the order out, each arm comes first in one of two
// blocks: on interleaved servers the order can weigh as much as the slowdown.
func (p *pilot) plan(knobs []scenarios.Knob) (*results.Plan, error) {
	s := *p.Scenario.WithKnobs(knobs)
	s.Name += "-pilot"
	s.Design.Blocks, s.Design.BurnInBlocks = 1, 0
	if s.Design.AdjustOrder {
		s.Design.Blocks = 2
	}
	s.Design.Looks = []int{s.Design.Blocks}
	return harness.Plan(&s, p.File, p.Text, p.Session.Tool)
}

// open makes the folder of a step, or finds the one of an earlier session.
func open(dir string, plan *results.Plan) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("create pilot: %w", err)
	}
	path := filepath.Join(dir, results.PlanFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return results.WriteJSON(path, plan)
	}
	old, err := results.ReadPlan(dir)
	if err == nil && old.Hash != plan.Hash {
		err = fmt.Errorf("%w: %s was measured with another plan (%.8s, now %.8s) by %s: remove the pilot or give another folder",
			harness.ErrRefused, dir, old.Hash, plan.Hash, old.Maker())
	}
	return err
}

// execute runs a step that is not complete.
func (p *pilot) execute(ctx context.Context, n int, dir string, knobs []scenarios.Knob) error {
	entries, err := results.ReadLedger(results.LedgerPath(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if e.Event == results.EventComplete {
			return nil
		}
	}
	session := p.Session
	if session.TimeBudget > 0 {
		session.TimeBudget -= time.Since(p.begin)
		if session.TimeBudget <= p.longest {
			return fmt.Errorf("time budget %s: %w", p.Session.TimeBudget, harness.ErrStopped)
		}
	}
	p.say("pilot step %d: %s", n, texts(knobs))
	begin := time.Now()
	err = harness.Execute(ctx, dir, session)
	p.longest = max(p.longest, time.Since(begin))
	return err
}

// read takes the numbers from the runs of the valid blocks.
func (p *pilot) read(c *results.Campaign, knobs []scenarios.Knob) (results.PilotStep, error) {
	var step results.PilotStep
	pair := p.Scenario.Compare[0]
	runs := map[string][]*results.Run{}
	for i := range c.Attempts {
		a := &c.Attempts[i]
		if a.Damage != "" {
			return step, fmt.Errorf("%s: run %s: %s", c.Dir, a.Key, a.Damage)
		}
		if p.host == "" {
			p.host = a.Environment.Fingerprint
		}
		if p.host != a.Environment.Fingerprint {
			return step, fmt.Errorf("%w: the steps of %s were measured on different hosts or software: remove it", harness.ErrRefused, p.Dir)
		}
		if a.Valid {
			runs[a.Key.Arm] = append(runs[a.Key.Arm], a.Run)
		}
	}
	if want := len(c.Plan.Blocks); len(runs[pair.Baseline]) < want || len(runs[pair.Candidate]) < want {
		return step, fmt.Errorf("%w: %s", ErrInvalid, why(c))
	}
	var err error
	step.Metrics, err = p.metrics(runs[pair.Baseline], runs[pair.Candidate])
	for _, k := range knobs {
		v := results.PilotValue{Name: k.Name, Text: k.Text()}
		if rise, ok := p.rise(k, step.Metrics); ok {
			v.Metric, v.RisePct = k.Metric, rise
		}
		step.Values = append(step.Values, v)
	}
	return step, err
}

// why is what voided the last attempt of a block.
func why(c *results.Campaign) string {
	last := "no reason is recorded"
	for _, e := range c.Entries {
		if e.Event == results.EventBlockVoid {
			last = e.Why()
		}
	}
	return last
}

func texts(knobs []scenarios.Knob) string {
	var parts []string
	for _, k := range knobs {
		parts = append(parts, k.Name+"="+k.Text())
	}
	return strings.Join(parts, " ")
}

// rises tell what the last step measured, and what all steps together say of it.
func rises(steps []results.PilotStep) string {
	var parts []string
	last := len(steps) - 1
	for i, v := range steps[last].Values {
		if v.Metric == "" {
			continue
		}
		part := fmt.Sprintf("%s rose by %.2f %% (%s=%s)", v.Metric, v.RisePct, v.Name, v.Text)
		if last > 0 {
			part += fmt.Sprintf(", by %.2f %% as all steps together say", results.FitPct(steps, last, i))
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}

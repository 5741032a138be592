package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/aituner/opprof/harness/arrival"
	"github.com/aituner/opprof/harness/engine"
	"github.com/aituner/opprof/results"
)

// ErrStopped says that the campaign was stopped before its end and can be
// resumed: a time budget or an interruption.
var ErrStopped = errors.New("stopped before the end; opbench resume goes on")

// ErrRefused says that the campaign cannot go on here, whatever is retried.
var ErrRefused = errors.New("refused")

// Options are what a campaign needs beside its plan.
type Options struct {
	Engine engine.Engine
	// TimeBudget, if not 0, bounds this session: no run starts that would
	// probably not end in time, and one that is still going is given up.
	TimeBudget time.Duration
	// Look judges the first blocks of a campaign at a planned look; needed if
	// the plan has several. It must read the run directory only.
	Look func(dir string, blocks int) (Judgement, error)
	// Machine describes the host of the servers; ThisMachine does it for the one
	// that opbench runs on, which is meant if it is nil.
	Machine func(context.Context) (results.Environment, error)
	// Observe is called at each change of state. It must not block.
	Observe func(Status)
	// Private maps paths of this machine to what replaces them in the logs and
	// messages of a run, so that a campaign can be published as it is.
	Private map[string]string
	// Tool is the version of opbench, for the ledger.
	Tool string
}

// journal is what a run directory says of a campaign, and where more is added.
type journal struct {
	dir     string
	plan    *results.Plan
	ledger  *results.Ledger
	state   *state // what the ledger says
	changed func() // called after each entry; nil: nobody looks
	// private maps paths of this machine to what replaces them in what is kept.
	private map[string]string
}

// campaign is one session of work on a run directory.
type campaign struct {
	journal
	opt    Options
	work   expanded
	env    results.Environment
	begin  time.Time
	status Status
}

// Execute runs what is left of a campaign, which is everything for a new run
// directory. It returns nil when nothing is left, ErrStopped when it was
// stopped, and another error when the machine or the files are at fault.
func Execute(ctx context.Context, dir string, opt Options) error {
	c := &campaign{opt: opt, journal: journal{dir: dir, private: opt.Private}, begin: time.Now()}
	c.changed = c.observe
	if c.opt.Machine == nil {
		c.opt.Machine = ThisMachine(nil)
	}
	arrival.KeepOn() // long before the first answer
	if err := c.open(ctx); err != nil {
		return err
	}
	defer c.ledger.Close()
	if opt.TimeBudget > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, c.begin.Add(opt.TimeBudget))
		defer cancel()
	}
	err := c.blocks(ctx)
	if ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		err = c.interrupted(ctx)
	}
	if err != nil {
		return err
	}
	return c.append(results.Entry{Event: results.EventComplete})
}

// open reads the plan and the ledger, clears what a crash left behind, and
// refuses to go on under changed conditions.
func (c *campaign) open(ctx context.Context) error {
	var err error
	if c.plan, err = results.ReadPlan(c.dir); err != nil {
		return err
	}
	if err := samePlan(c.plan, c.opt.Tool); err != nil {
		return err
	}
	if severalLooks(c.plan) && c.opt.Look == nil {
		return errNoJudge
	}
	if c.work, err = expand(&c.plan.Scenario); err != nil {
		return err
	}
	if c.env, err = c.environment(ctx); err != nil {
		return err
	}
	if c.ledger, err = results.OpenLedger(results.LedgerPath(c.dir)); err != nil {
		return err
	}
	c.state = replay(c.plan, c.ledger.Entries())
	if err := c.enter(); err != nil {
		c.ledger.Close()
		return err
	}
	return nil
}

// enter begins a session: host check, ledger entry, lost run sealed aside.
func (c *campaign) enter() error {
	if c.state.complete {
		return fmt.Errorf("%w: %s is complete, and a closed plan is never extended: start a new campaign", ErrRefused, c.dir)
	}
	if why := results.Extension(c.plan, c.ledger.Entries()); why != "" {
		return fmt.Errorf("%w: %s was extended after the fact (%s): a closed plan never is, start a new campaign", ErrRefused, c.dir, why)
	}
	if err := c.comparable(); err != nil {
		return err
	}
	err := c.append(c.session())
	for _, key := range slices.Clone(c.state.open) {
		if err == nil {
			err = c.abort(key, "the session ended in mid-run")
		}
	}
	if err != nil {
		return err
	}
	return c.voidElsewhere()
}

// samePlan refuses a plan that this binary would not make: other rules, other
// patches, another workload.
func samePlan(old *results.Plan, tool string) error {
	now, err := Plan(&old.Scenario, old.ScenarioFile, []byte(old.ScenarioText), tool)
	if err == nil {
		err = Replicate(now, old.Replicate)
	}
	if err == nil {
		err = SetPilot(now, old.Pilot)
	}
	if err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	if now.Hash == old.Hash {
		return nil
	}
	var parts []string
	if now.Rules != old.Rules {
		parts = append(parts, "analysis rules")
	}
	if now.WorkloadSHA256 != old.WorkloadSHA256 {
		parts = append(parts, "workload")
	}
	for id, sum := range old.Patches {
		if now.Patches[id] != sum {
			parts = append(parts, "patch "+id)
		}
	}
	if len(parts) == 0 {
		parts = []string{"order or canonical scenario"}
	}
	return fmt.Errorf("%w: this opbench would make plan %.8s, the campaign has %.8s (changed: %s): use the one that began it, %s",
		ErrRefused, now.Hash, old.Hash, strings.Join(parts, ", "), old.Maker())
}

// append writes a ledger entry and keeps the state in step with it.
func (j *journal) append(e results.Entry) error {
	e.Time = time.Now().UTC()
	if err := j.ledger.Append(e); err != nil {
		return err
	}
	j.state.apply(e)
	if j.changed != nil {
		j.changed()
	}
	return nil
}

// stop records an orderly end before the last block.
func (c *campaign) stop(why string) error {
	if err := c.append(results.Entry{Event: results.EventStop, Detail: why}); err != nil {
		return err
	}
	return fmt.Errorf("%s: %w", why, ErrStopped)
}

// interrupted stops a session that was told to end. Where what was lost may not be
// repeated any more there is nothing to go on with: the campaign ends, and the report
// says why.
func (c *campaign) interrupted(ctx context.Context) error {
	if c.state.exhausted() {
		return nil
	}
	return c.stop("interrupted: " + context.Cause(ctx).Error())
}

// blocks runs every block that is not decided yet, up to a look that decides.
func (c *campaign) blocks(ctx context.Context) error {
	if err := c.missedLooks(); err != nil {
		return err
	}
	for _, b := range c.state.blocks() {
		if c.state.stopped {
			return nil
		}
		for !c.state.decided(b) {
			if c.state.exhausted() {
				return nil // the report says INVALID
			}
			if err := c.attempt(ctx, b); err != nil {
				return err
			}
		}
		if err := c.lookAfter(b); err != nil {
			return err
		}
	}
	return nil
}

// attempt runs what is left of a block's current attempt and decides it. All
// arms run even if one is invalid: whether a fault belongs to one arm shows only
// beside the other.
func (c *campaign) attempt(ctx context.Context, b results.Block) error {
	n := c.state.attempt(b)
	var left []*run
	for pos, arm := range b.Order {
		key := results.Key{Block: b.Name(), Attempt: n, Arm: arm}
		if !c.state.has(key) {
			left = append(left, &run{campaign: c, block: b, key: key, dir: results.RunPath(c.dir, key), pos: pos})
		}
	}
	if c.plan.Scenario.Design.Interleaved() {
		if len(left) > 0 && len(left) < len(b.Order) {
			return c.append(results.Entry{Event: results.EventBlockVoid, Block: b.Name(), Attempt: n,
				Detail: "the session ended between the runs of an interleaved block"})
		}
		if err := c.carryOut(ctx, left); err != nil {
			return err
		}
		return c.decide(b, n)
	}
	for _, r := range left {
		if err := c.carryOut(ctx, []*run{r}); err != nil {
			return err
		}
	}
	return c.decide(b, n)
}

// decide accepts a block whose runs have all ended, or voids it.
func (c *campaign) decide(b results.Block, n int) error {
	var causes []results.Cause
	for _, arm := range b.Order {
		for _, f := range c.state.findings(results.Key{Block: b.Name(), Attempt: n, Arm: arm}) {
			f.Arm = arm
			causes = append(causes, f)
		}
	}
	if len(causes) > 0 {
		return c.append(results.Entry{Event: results.EventBlockVoid, Block: b.Name(), Attempt: n, Causes: causes})
	}
	return c.append(results.Entry{Event: results.EventBlockValid, Block: b.Name(), Attempt: n})
}

// fits stops the session if the next run would probably outlast the budget.
func (c *campaign) fits(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	need := c.plan.Scenario.Design.Cooldown + c.state.next()
	if c.opt.TimeBudget > 0 && time.Since(c.begin)+need+need/20 > c.opt.TimeBudget {
		return c.stop(fmt.Sprintf("time budget %s: the next run would take about %s", c.opt.TimeBudget, need.Round(time.Second)))
	}
	return nil
}

// carryOut measures runs that belong together, one or all of an interleaved
// block, with the cool-down before them, and seals their directories.
func (c *campaign) carryOut(ctx context.Context, runs []*run) error {
	if len(runs) == 0 {
		return nil
	}
	if err := c.fits(ctx); err != nil {
		return err
	}
	if err := c.cooldown(ctx); err != nil {
		return err
	}
	for _, r := range runs {
		if err := os.MkdirAll(r.dir, 0o755); err != nil {
			return fmt.Errorf("create run %s: %w", r.key, err)
		}
		if err := c.append(entry(results.EventRunStart, r.key)); err != nil {
			return err
		}
	}
	findings, err := c.measure(ctx, runs)
	if ctx.Err() != nil {
		return errors.Join(c.abortAll(runs, context.Cause(ctx).Error()), ctx.Err())
	}
	if err != nil {
		return errors.Join(err, c.abortAll(runs, err.Error()))
	}
	return c.seal(runs, findings)
}

func (c *campaign) measure(ctx context.Context, runs []*run) ([][]results.Cause, error) {
	if c.plan.Scenario.Design.Interleaved() {
		return (&together{campaign: c, block: runs[0].block, runs: runs}).measure(ctx)
	}
	findings, err := runs[0].measure(ctx)
	if err != nil {
		err = fmt.Errorf("run %s: %w", runs[0].key, err)
	}
	return [][]results.Cause{findings}, err
}

// seal makes the runs' files final. The ledger comes last, in one go.
func (c *campaign) seal(runs []*run, findings [][]results.Cause) error {
	var ends []results.Entry
	for i, r := range runs {
		sum, err := results.Seal(r.dir)
		if err != nil {
			return err
		}
		e := entry(results.EventRunEnd, r.key)
		e.Findings, e.SumsSHA256 = findings[i], sum
		ends = append(ends, e)
	}
	for _, e := range ends {
		if err := c.append(e); err != nil {
			return err
		}
	}
	return nil
}

func entry(event results.Event, key results.Key) results.Entry {
	return results.Entry{Event: event, Block: key.Block, Attempt: key.Attempt, Arm: key.Arm}
}

func (c *campaign) abortAll(runs []*run, why string) error {
	var errs []error
	for _, r := range runs {
		errs = append(errs, c.abort(r.key, why))
	}
	return errors.Join(errs...)
}

func (c *campaign) cooldown(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(c.plan.Scenario.Design.Cooldown):
		return nil
	}
}

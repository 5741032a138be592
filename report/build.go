// Package report says what a campaign means. It reads a run directory, computes
// everything again from what was measured, and renders one view as text,
// Markdown, HTML and JSON. It never starts anything and reads no clock: the same
// run directory always gives the same bytes.
package report

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// Exit codes that go with a view.
const (
	ExitPass         = 0
	ExitFail         = 10
	ExitInconclusive = 11
	ExitInvalid      = 12
	ExitUnfinished   = 14
	// ExitUnderpowered is of aa and power: what was to be shown, or planned, is
	// more than the blocks can carry.
	ExitUnderpowered = 12
)

// builder gathers what the parts of a view need.
type builder struct {
	c        *results.Campaign
	s        *scenarios.Scenario
	view     *View
	attempts []*attempt
	blocks   []block // accepted, burn-in left out, in the plan's order
	planned  int
	alpha    float64
	general  []Reason  // INVALID for every comparison
	evidence *evidence // the latest A/A campaign beside this one, if any
	aaOpen   bool      // the A/A that the scenario requires did not show equality

	alone      []block                              // accepted, but the only ones of their hosts
	hostNumber map[string]int                       // of the host groups of all accepted blocks
	past       bool                                 // judged as at an earlier look
	stepTimes  map[results.Key]map[string]stepTimes // of runs and phases
}

// Build judges a campaign. Nothing that the harness concluded is trusted:
// metrics, findings and effects are computed again. tool is the version to stamp
// on the result. A campaign that the ledger does not call complete gets no
// verdict and shows no effects. An error means that the plan itself cannot be
// judged; damaged runs are part of the view.
func Build(c *results.Campaign, tool string) (*View, error) {
	b, err := read(c, tool)
	if err != nil {
		return nil, err
	}
	b.judgeAll()
	b.view.pictures = b.pictures()
	if b.view.Finished {
		b.view.Measured = measured(c)
	}
	return b.view, nil
}

// read examines every run and what lies beside the campaign.
func read(c *results.Campaign, tool string) (*builder, error) {
	b := &builder{c: c, s: &c.Plan.Scenario, stepTimes: map[results.Key]map[string]stepTimes{}}
	if err := b.prepare(tool); err != nil {
		return nil, fmt.Errorf("judge %s: %w", filepath.Base(c.Dir), err)
	}
	b.readAttempts()
	if err := b.findNeighbours(); err != nil {
		return nil, err
	}
	if err := b.checkPilot(); err != nil {
		return nil, err
	}
	return b, nil
}

// judgeAll turns examined runs into verdicts.
func (b *builder) judgeAll() {
	b.acceptBlocks()
	b.separateHosts()
	b.countBlocks()
	b.describeRuns()
	b.describeEnvironment()
	b.view.Recorders = b.recorders()
	b.view.Beside = b.beside()
	b.requireAA()
	b.checkLooks()
	b.compare()
	b.conclude()
}

func (b *builder) prepare(tool string) error {
	p := b.c.Plan
	if err := p.CheckRules(); err != nil {
		return err
	}
	for _, blk := range p.Blocks {
		if !blk.BurnIn {
			b.planned++
		}
	}
	b.view = &View{
		Schema: results.Schema, Kind: "verdict", Tool: tool, Rules: p.Rules,
		Finished: b.c.Complete, Simulated: b.s.Engine.Kind == scenarios.EngineSim,
		Thinned: len(b.c.Thinned), Comparisons: []Comparison{}, Runs: []Run{},
	}
	b.hostNumber = map[string]int{}
	b.describeSubject()
	if why := results.Extension(p, b.c.Entries); why != "" {
		b.invalid("extension", "%s; a closed plan is never extended", why)
		b.alpha = stat.DefaultAlpha // of intervals that decide nothing
		return nil
	}
	if !b.gated() {
		return nil
	}
	var err error
	if b.alpha, err = errorPerBound(b.s); err == nil && b.severalLooks() {
		b.view.Subject.LevelPct = 100 * (1 - 2*b.alpha)
	}
	return err
}

// gated reports whether the campaign has effects at all.
func (b *builder) gated() bool { return b.s.Purpose != scenarios.Correctness }

// errorPerBound is the one-sided error of each bound. Several looks share the
// error of a 95 % interval; their constants exist for no other confidence.
func errorPerBound(s *scenarios.Scenario) (float64, error) {
	alpha, err := stat.LookAlpha(s.Design.Looks)
	if err != nil {
		return 0, err
	}
	if len(s.Design.Looks) == 1 {
		return (1 - s.Gate.Confidence) / 2, nil
	}
	if s.Gate.Confidence != 0.95 {
		return 0, fmt.Errorf("looks %v need a confidence of 95 %%, the scenario says %g %%", s.Design.Looks, 100*s.Gate.Confidence)
	}
	return alpha, nil
}

// look returns the planned look that a finished campaign stopped at, or 0.
func (b *builder) look() int {
	if n := b.view.Blocks.Valid; slices.Contains(b.s.Design.Looks, n) {
		return n
	}
	return 0
}

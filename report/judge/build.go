// Package judge makes a view of a run directory, in steps that take and return
// values: accept the blocks that count, compare the arms, conclude; the evidence
// stands beside them. Everything is computed again from what was measured. Nothing
// is started and no clock is read: the same run directory gives the same view.
package judge

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/judge/evidence"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// Build judges a campaign. Nothing that the harness concluded is trusted:
// metrics, findings and effects are computed again. tool is the version to stamp
// on the result. A campaign that the ledger does not call complete gets no
// verdict and shows no effects. An error means that the plan itself cannot be
// judged; damaged runs are part of the view.
func Build(c *results.Campaign, tool string) (*view.View, error) {
	q, err := ask(c, tool)
	if err != nil {
		return nil, err
	}
	return q.answer(), nil
}

// ask reads a campaign, examines every run and looks at what lies beside it.
func ask(c *results.Campaign, tool string) (*question, error) {
	q := &question{campaign: c, tool: tool}
	var err error
	if q.alpha, q.found, err = level(c); err != nil {
		return nil, fmt.Errorf("judge %s: %w", filepath.Base(c.Dir), err)
	}
	for _, why := range c.Damage {
		q.found = append(q.found, view.NewFinding(view.ReasonDamaged, "%s", why))
	}
	q.runs = accept.Examine(c)
	q.found = append(accept.Selection(c, q.runs), q.found...)
	if q.near, err = evidence.FindNearby(c, func(dir string) evidence.Said { return judgedAgain(dir, tool) }); err != nil {
		return nil, err
	}
	differ, note, err := accept.CheckPilot(c)
	if err != nil {
		return nil, err
	}
	q.found = append(q.found, differ...)
	if note != "" {
		q.notes = append(q.notes, note)
	}
	return q, nil
}

// level is the one-sided error of each bound. A campaign that was extended beyond
// its plan has intervals that decide nothing, and a finding.
func level(c *results.Campaign) (float64, []view.Finding, error) {
	if err := c.Plan.CheckRules(); err != nil {
		return 0, nil, err
	}
	if why := results.Extension(c.Plan, c.Entries); why != "" {
		return stat.DefaultAlpha, []view.Finding{{Name: view.ReasonExtension, Detail: why + "; a closed plan is never extended"}}, nil
	}
	if !accept.HasEffects(&c.Plan.Scenario) {
		return 0, nil, nil
	}
	alpha, err := ErrorPerBound(&c.Plan.Scenario)
	return alpha, nil, err
}

// ErrorPerBound is the one-sided error of each bound. Several looks share the
// error of a 95 % interval; their constants exist for no other confidence.
func ErrorPerBound(s *scenarios.Scenario) (float64, error) {
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

// answer takes the steps of a verdict: accept, compare, conclude, with the
// evidence beside them.
func (q *question) answer() *view.View {
	in := accept.Blocks(q.campaign, q.runs)
	v := q.describe(in)
	blocks, missing := countBlocks(in)
	v.Blocks = blocks
	general := slices.Concat(q.found, in.Findings, missing)
	aaOpen, wanting := requireAA(q)
	general = append(general, wanting...)
	looks, ignored := q.checkLooks(in, v.Blocks.Valid)
	v.Looks = looks
	general = append(general, ignored...)
	v.Comparisons = q.compare(in, merged(general))
	v.Causes = tellCauses(in, v.Comparisons)
	q.conclude(in, v, aaOpen)
	q.rememberRules(in, v, aaOpen)
	v.Notes = append(v.TellRepeats(accept.HasEffects(in.Scenario)), v.Notes...)
	return v
}

// describe begins a view with all that needs no judgement.
func (q *question) describe(in *accept.Accepted) *view.View {
	c, s := q.campaign, in.Scenario
	v := &view.View{
		Schema: view.VerdictSchema, Kind: "verdict", Tool: q.tool, Rules: results.RulesVersion,
		Finished: c.Complete, Simulated: s.Engine.Kind.Capabilities().Simulated,
		Thinned: len(c.Thinned), Notes: slices.Clone(q.notes), AA: q.near.AA, Earlier: q.near.Earlier,
		Subject: evidence.Subject(c, q.runs), Reproduce: evidence.Reproduce(c.Plan), Environment: evidence.Environment(q.runs),
		Recorders: evidence.Recorders(in), Beside: evidence.Beside(in),
	}
	for _, a := range q.runs {
		v.Simulated = v.Simulated || a.Run != nil && a.Run.Server.Simulated
	}
	if severalLooks(s) && accept.HasEffects(s) && !slices.ContainsFunc(q.found, func(f view.Finding) bool { return f.Name == view.ReasonExtension }) {
		v.Subject.LevelPct = 100 * (1 - 2*q.alpha)
	}
	v.Runs, v.Aborted = evidence.Runs(c, q.runs)
	v.Repeats = accept.CountRepeats(c, q.runs)
	v.Plots = evidence.Plots(in, v.Runs)
	if v.Finished {
		v.Measured = evidence.Measured(c)
	}
	return v
}

// countBlocks counts the blocks, and finds it INVALID where a finished campaign
// has too few. Analysed is the planned look that it stopped at.
func countBlocks(in *accept.Accepted) (view.Blocks, []view.Finding) {
	c := in.Campaign
	n := view.Blocks{
		Planned: in.Planned, Valid: len(in.Blocks) + len(in.Alone), NotPooled: len(in.Alone),
		BurnIn: len(c.Plan.Blocks) - in.Planned, Voided: len(c.Voids),
	}
	for _, k := range in.All() {
		n.ValidRuns += len(k.Runs)
	}
	if !c.Complete {
		return n, nil
	}
	atLook := accept.HasEffects(in.Scenario) && slices.Contains(in.Scenario.Design.Looks, n.Valid)
	if n.Valid == n.Planned || atLook {
		n.Analysed = n.Valid
		return n, nil
	}
	why := fmt.Sprintf("%d of %d planned blocks are valid", n.Valid, n.Planned)
	if c.Closed != "" {
		why += ", and the campaign was closed: " + c.Closed
	}
	return n, []view.Finding{{Name: view.ReasonBlocksMissing, Detail: why}}
}

// merged tells each finding once, with all its places.
func merged(list []view.Finding) (once []view.Finding) {
	for _, f := range list {
		once = view.Merge(once, f)
	}
	return once
}

// judgedAgain is what the files of a campaign say, not what was saved of them.
func judgedAgain(dir, tool string) evidence.Said {
	c, err := results.Load(dir)
	if err != nil {
		return evidence.Said{Problem: "not readable"}
	}
	v, err := Build(c, tool)
	if err != nil {
		return evidence.Said{Problem: "not judged"}
	}
	return evidence.SaidBy(v)
}

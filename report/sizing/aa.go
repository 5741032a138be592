// Package sizing says how much a host and a plan can see: whether equal arms were
// shown to be equal, which metrics carry the margin, and how many blocks it takes.
package sizing

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aituner/opprof/report/judge"
	"github.com/aituner/opprof/report/judge/rates"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// Errors of a campaign that cannot answer the question.
var (
	ErrNoEqualArms = errors.New("no equal arms")        // nothing to judge as an A/A
	ErrUnfinished  = errors.New("not finished")         // its effects are not shown before the end
	ErrUnusable    = errors.New("the data are INVALID") // something makes its numbers untrustworthy
)

// JudgeAA judges the A/A evidence in a campaign: the arms of a campaign of
// purpose aa, or the arm of another one that repeats an arm (same_as). It returns
// ErrNoEqualArms if the campaign has none. An unfinished campaign has no effects
// and the result UNFINISHED.
func JudgeAA(c *results.Campaign, tool string) (*view.Equality, error) {
	v, list, err := equalComparisons(c, tool)
	if err != nil {
		return nil, err
	}
	e := &view.Equality{
		Schema: results.Schema, Kind: "aa", Tool: tool, Rules: v.Rules, Subject: v.Subject,
		Simulated: v.Simulated, Blocks: v.Blocks, Comparisons: []view.EqualArms{},
	}
	if !v.Finished {
		e.Result, e.ExitCode, e.Sentence = v.Result, v.ExitCode, v.Sentence
		return e, nil
	}
	p, err := newPlanner(&c.Plan.Scenario)
	if err != nil {
		return nil, err
	}
	for _, pair := range list {
		e.Comparisons = append(e.Comparisons, p.equalArms(pair))
	}
	e.Reach = newReach(e.Comparisons, v.Subject.MarginPct)
	if e.Reach != nil {
		e.Reach.Blocks = p.carryAll(e.Reach, list)
	}
	concludeAA(e)
	return e, nil
}

// equalComparisons judges a campaign and picks the comparisons of equal arms.
func equalComparisons(c *results.Campaign, tool string) (*view.View, []*view.Comparison, error) {
	s := &c.Plan.Scenario
	name := view.CampaignName(c.Dir)
	if s.Purpose == scenarios.Correctness {
		return nil, nil, fmt.Errorf("%s: %w to judge: a correctness campaign has no effects", name, ErrNoEqualArms)
	}
	v, err := judge.Build(c, tool)
	if err != nil {
		return nil, nil, err
	}
	var list []*view.Comparison
	for i := range v.Comparisons {
		if v.Comparisons[i].AA {
			list = append(list, &v.Comparisons[i])
		}
	}
	if list == nil {
		return nil, nil, fmt.Errorf("%s: %w to judge: run a scenario of purpose aa, or one with an arm that repeats another one (same_as) and is compared with it",
			name, ErrNoEqualArms)
	}
	return v, list, nil
}

// planner turns spreads into numbers of blocks.
type planner struct {
	rule  stat.Rule
	power float64 // wanted
	arms  int     // of the plan that is sized
}

func newPlanner(s *scenarios.Scenario) (planner, error) {
	alpha, err := judge.ErrorPerBound(s)
	return planner{stat.Rule{Alpha: alpha, ByOrder: s.Design.AdjustOrder}, rates.TargetPower, len(s.Arms)}, err
}

func (p planner) size(n int) int { return judge.PlanSize(n, p.arms) }

// carryAll is the plan whose gate passes on all metrics within reach, as they move
// together: each of them alone needs fewer blocks.
func (p planner) carryAll(r *view.Reach, list []*view.Comparison) int {
	var within []view.Placed
	for _, c := range list {
		for _, m := range c.Primaries() {
			here := func(x view.Carried) bool { return x.Phase == m.Phase && x.Name == m.Name }
			if slices.ContainsFunc(r.Within, here) {
				within = append(within, m)
			}
		}
	}
	j := rates.NewJoint(within, p.rule, jointCampaigns)
	if j == nil {
		return 0
	}
	return j.Needed(rates.AtUpper, p.power, p.size)
}

func (p planner) equalArms(c *view.Comparison) view.EqualArms {
	out := view.EqualArms{Baseline: c.Baseline, Candidate: c.Candidate, Reasons: slices.Clone(c.Failed), Metrics: []view.EqualMetric{}}
	for _, r := range c.Invalid {
		if r.Name != view.ReasonBias { // judged here, metric by metric
			out.Reasons = append(out.Reasons, r)
		}
	}
	if c.Stalling() {
		out.Stalls = view.StallLine(c)
	}
	if c.Batched() {
		out.Outputs = view.OutputsLine(c)
	}
	adjusted := judge.BiasP(c)
	for i, ph := range c.Primaries() {
		m := p.equalMetric(ph, adjusted[i])
		m.Load = c.Load(ph.Phase)
		if len(out.Reasons) > 0 {
			m.Result, m.Why, m.AA, m.Gate = view.NewResult(stat.Invalid, out.Reasons[0].Name), "", nil, nil
		}
		out.Metrics = append(out.Metrics, m)
	}
	concludePair(&out)
	return out
}

func (p planner) equalMetric(m view.Placed, adjusted float64) view.EqualMetric {
	out := view.EqualMetric{
		Phase: m.Phase, Name: m.Name, Label: m.Label, MarginPct: m.MarginPct,
		Effect: m.Effect, Lower: m.Lower, Upper: m.Upper,
	}
	d := m.Detail
	if d == nil { // a value is missing, or all are the same
		out.Result, out.Why = m.Result, strings.TrimPrefix(m.LastRemark(), ": ")
		return out
	}
	out.SD, out.AdjustedP = d.SD, view.Finite(adjusted)
	out.Result = view.NewResult(equalVerdict(d, adjusted), "")
	if out.Verdict == view.Equal && m.Is(stat.Inconclusive, view.ReasonSelection) {
		out.Result = m.Result
	}
	upper := max(d.SD, d.SDUpper)
	out.AA = &view.Need{Observed: p.forAA(d.SD, d.Margin), Upper: p.forAA(upper, d.Margin)}
	out.Gate = &view.Need{Observed: p.forGate(d.SD, d.Margin, 0), Upper: p.forGate(upper, d.Margin, 0)}
	if m.Advice != nil {
		out.Noise = m.Advice.Noise
	}
	return out
}

func equalVerdict(d *view.Detail, adjusted float64) stat.Verdict {
	switch {
	case judge.Biased(d, adjusted):
		return view.Bias
	case stat.Equivalent(stat.Estimate{N: d.N, L: d.L, U: d.U}, d.Margin):
		return view.Equal
	}
	return view.Underpowered
}

// forGate is the number of blocks with which a gate passes a metric, 0 if none is enough.
func (p planner) forGate(sd, margin, theta float64) int {
	n, err := stat.GateBlocksNeeded(sd, margin, theta, p.rule, p.power, p.size)
	if err != nil {
		return 0
	}
	return n
}

// forAA is the number of blocks with which an A/A shows equality of a metric, or 0: both
// bounds have to hold, so each may be missed half as often.
func (p planner) forAA(sd, margin float64) int {
	n, err := stat.GateBlocksNeeded(sd, margin, 0, p.rule, (1+p.power)/2, p.size)
	if err != nil {
		return 0
	}
	return n
}

package judge

import (
	"fmt"
	"slices"

	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/judge/rates"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results/validity"
	"github.com/aituner/opprof/scenarios"
)

// compare judges every comparison of the plan. What was found about the whole
// campaign holds for each of them.
func (q *question) compare(in *accept.Accepted, general []view.Finding) []view.Comparison {
	list := []view.Comparison{}
	for _, pair := range in.Scenario.Compare {
		c := view.Comparison{Baseline: pair.Baseline, Candidate: pair.Candidate, AA: equalArms(in.Scenario, pair)}
		c.Gating = !c.AA || in.Scenario.Purpose == scenarios.AA || in.Scenario.Gate.RequireAA
		if in.Campaign.Complete {
			c.Invalid = slices.Clone(general)
			q.judge(in, &c)
		}
		list = append(list, c)
	}
	if in.Campaign.Complete {
		q.adjust(in, list)
	}
	return list
}

// adjust keeps the FAIL of all comparisons together at its stated error. A control
// asks each metric for itself.
func (q *question) adjust(in *accept.Accepted, list []view.Comparison) {
	if in.Scenario.Purpose == scenarios.Control {
		return
	}
	gating := gatingOf(list)
	rates.Adjust(gating, 2*q.alpha)
	for _, c := range gating {
		settle(in, c)
	}
}

func equalArms(s *scenarios.Scenario, pair scenarios.Comparison) bool {
	base, _ := s.Arm(pair.Baseline)
	cand, _ := s.Arm(pair.Candidate)
	return s.Purpose == scenarios.AA || s.Repeats(base, cand)
}

// judge fills a comparison of a finished campaign.
func (q *question) judge(in *accept.Accepted, c *view.Comparison) {
	examineRuns(in, c)
	q.examinePair(in, c)
	if accept.HasEffects(in.Scenario) {
		checkBalance(in, c)
		c.ProbeLag = probeLag(in, c)
		for _, p := range in.Scenario.Phases {
			c.Phases = append(c.Phases, q.phase(in, c, p))
		}
		hostGroups(in, c)
		orderEffects(in, c)
		bias(c)
		c.Stalls = stalls(in, c)
		c.Growth = growth(in, c)
		c.CPU = cpu(in, c)
	}
	settle(in, c)
}

// examineRuns turns what speaks against an accepted run into a reason: such a
// run should have voided its block, so nothing built on it counts.
func examineRuns(in *accept.Accepted, c *view.Comparison) {
	for _, k := range in.All() {
		for _, arm := range []string{c.Baseline, c.Candidate} {
			a := k.Runs[arm]
			for _, f := range a.Findings {
				f.Where = []string{a.Key.String()}
				c.Invalid = view.Merge(c.Invalid, f.Finding)
			}
		}
	}
}

// checkBalance refuses a set of blocks in which one arm ran first more often
// than a plan allows: the order could then pass for an effect.
func checkBalance(in *accept.Accepted, c *view.Comparison) {
	first := 0
	for _, baseline := range baselineFirst(in, c) {
		if baseline {
			first++
		}
	}
	if second := len(in.Blocks) - first; first-second > 1 || second-first > 1 {
		invalidate(c, view.ReasonUnbalanced, "the baseline ran first in %s, the candidate in %d", view.Plural(first, "block", "blocks"), second)
	}
}

func (q *question) phase(in *accept.Accepted, c *view.Comparison, p scenarios.Phase) view.Phase {
	out := view.Phase{Name: p.Name, Load: load(p.Arrival)}
	var secondary []view.Metric
	for _, m := range scenarios.Metrics() {
		primary := slices.Contains(p.Primary, m.Name)
		one, ok := q.metric(in, c, p, m, primary)
		switch {
		case primary:
			out.Metrics = append(out.Metrics, one)
		case ok:
			secondary = append(secondary, one)
		}
	}
	out.Metrics = append(out.Metrics, secondary...)
	return out
}

func load(a scenarios.Arrival) string {
	if a.Kind == scenarios.ArrivalClosed {
		return view.Plural(a.Streams, "stream", "streams")
	}
	if a.Kind == scenarios.ArrivalTrace {
		return "trace, time × " + view.Plain(a.Scale)
	}
	return fmt.Sprintf("%s %s/s", a.Kind, view.Plain(a.Rate))
}

// loadOf is the load of a phase of the scenario.
func loadOf(in *accept.Accepted, phase string) string {
	i := slices.IndexFunc(in.Scenario.Phases, func(p scenarios.Phase) bool { return p.Name == phase })
	return load(in.Scenario.Phases[i].Arrival)
}

// examinePair applies the rules that need both arms.
func (q *question) examinePair(in *accept.Accepted, c *view.Comparison) {
	pair := scenarios.Comparison{Baseline: c.Baseline, Candidate: c.Candidate}
	out := validity.Compare(in.Campaign.Plan, pair, in.Campaign.Attempts)
	if len(in.All()) == 0 { // INVALID for other reasons: that there is nothing to compare follows
		out = validity.Comparison{Identity: validity.Identity{Status: validity.IdentityNone}}
	}
	for _, f := range out.Findings {
		c.Invalid = view.Merge(c.Invalid, accept.FindingOf(f))
	}
	switch id := out.Identity; id.Status {
	case validity.IdentityOK:
		if id.Remark != "" {
			c.Notes = append(c.Notes, id.Remark)
		}
		c.Identity = fmt.Sprintf("outputs identical %d/%d", id.Equal, id.Prompts)
	case validity.IdentityFail:
		c.Identity = fmt.Sprintf("outputs differ, identical %d/%d", id.Equal, id.Prompts)
		c.Failed = append(c.Failed, view.Finding{Name: view.ReasonIdentity, Detail: id.Message})
	case validity.IdentityReported:
		if c.Identity = fmt.Sprintf("outputs identical %d/%d (reported only)", id.Equal, id.Prompts); id.Message != "" {
			c.Identity = "outputs not comparable (reported only)"
			c.Notes = append(c.Notes, id.Message)
		}
	case validity.IdentityNone:
		c.Identity = "outputs not compared"
	default:
		c.Identity = "outputs prove nothing"
	}
	q.timedOutputs(in, c, out.Timed)
	if f := validity.Reliability(in.Campaign.Plan, pair, in.Campaign.Attempts); f != nil {
		c.Failed = append(c.Failed, accept.FindingOf(*f))
	}
}

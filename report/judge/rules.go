package judge

import (
	"fmt"
	"slices"

	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
)

// rememberRules says of a plan of earlier rules what it would have come to by them:
// who waits for a verdict must see that the rules changed it, and not the runs.
func (q *question) rememberRules(in *accept.Accepted, v *view.View, aaOpen bool) {
	planned := q.campaign.Plan.Rules
	if planned == results.RulesVersion {
		return
	}
	v.Planned = &view.Planned{Rules: planned}
	note := fmt.Sprintf("planned under rules %s, judged under %s", planned, results.RulesVersion)
	if v.Finished {
		v.Planned.Result = q.underRules(in, v, aaOpen, planned)
		note += fmt.Sprintf("; under %s: %s", planned, v.Planned.Result)
	}
	v.Notes = append(v.Notes, note)
}

// underRules is the result by the rules of an earlier version, from the intervals
// and findings of this one. It leaves the view as it is.
func (q *question) underRules(in *accept.Accepted, v *view.View, aaOpen bool, rules string) view.Result {
	list := make([]view.Comparison, len(v.Comparisons))
	for i := range v.Comparisons {
		list[i] = comparisonUnder(&v.Comparisons[i], rules)
		settleUnder(in, &list[i], rules)
	}
	r := overall(gatingOf(list))
	if aaOpen && r.Verdict == stat.Pass {
		r = view.NewResult(stat.Inconclusive, view.ReasonAA)
	}
	return r
}

// comparisonUnder is a copy without what the rules of that version did not know.
func comparisonUnder(c *view.Comparison, rules string) view.Comparison {
	later := func(f view.Finding) bool { return !f.Name.Since(rules) }
	out := *c
	out.Invalid = slices.DeleteFunc(slices.Clone(c.Invalid), later)
	out.Failed = slices.DeleteFunc(slices.Clone(c.Failed), later)
	if rules < "3" {
		withoutTimedOutputs(&out)
	}
	out.Phases = slices.Clone(c.Phases)
	for i := range out.Phases {
		p := &out.Phases[i]
		p.Metrics = slices.Clone(p.Metrics)
		for k := range p.Metrics {
			if m := &p.Metrics[k]; m.Primary && m.Detail != nil {
				m.Result, m.Control = view.NewResult(byBounds(m), ""), nil
			}
		}
	}
	return out
}

// withoutTimedOutputs takes out what the outputs of timed requests decide.
func withoutTimedOutputs(c *view.Comparison) {
	for i := range c.Outputs {
		c.Failed = slices.DeleteFunc(c.Failed, func(f view.Finding) bool { return f.Detail != "" && f.Detail == c.Outputs[i].Failed })
	}
	c.Outputs = nil
}

// byBounds is the verdict of a metric by its interval alone.
func byBounds(m *view.Metric) stat.Verdict {
	v := stat.Judge(stat.Estimate{L: m.Detail.L, U: m.Detail.U, N: m.Detail.N}, m.Detail.Margin)
	if m.Equivalence == notEqual && (v == stat.Pass || v == stat.Fail) {
		return stat.Inconclusive
	}
	return v
}

// settleUnder gives a comparison its verdict by the rules of that version: a control
// passed by them also where it caught nothing.
func settleUnder(in *accept.Accepted, c *view.Comparison, rules string) {
	settle(in, c)
	if rules < "3" && c.Result.Is(stat.Inconclusive, view.ReasonControl) {
		c.Result = view.NewResult(stat.Pass, view.ReasonControl)
	}
}

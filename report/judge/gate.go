package judge

import (
	"fmt"
	"slices"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
)

// invalidate adds a finding for which no metric of the comparison has a verdict.
func invalidate(c *view.Comparison, name view.Reason, format string, args ...any) {
	c.Invalid = view.Merge(c.Invalid, view.Finding{Name: name, Detail: fmt.Sprintf(format, args...)})
}

// conditions are the facts beside the metrics that bear on a verdict.
func conditions(c *view.Comparison) stat.Conditions {
	failed := func(name view.Reason) bool {
		return slices.ContainsFunc(c.Failed, func(f view.Finding) bool { return f.Name == name })
	}
	return stat.Conditions{
		IdentityFailed: failed(view.ReasonIdentity), ReliabilityFailed: failed(view.ReasonReliability),
		Invalid: len(c.Invalid) > 0, Stalls: c.Stalling() || c.Batched(),
	}
}

// settleGate gives the comparison its verdict and, where it is INVALID, takes it
// from every metric.
func settleGate(c *view.Comparison) {
	c.Invalid = view.Ranked(c.Invalid)
	var verdicts []stat.Verdict
	for i := range c.Phases {
		for j := range c.Phases[i].Metrics {
			m := &c.Phases[i].Metrics[j]
			if !m.Primary {
				continue
			}
			if len(c.Invalid) > 0 {
				m.Result = view.NewResult(stat.Invalid, c.Invalid[0].Name)
				m.Advice = nil
			}
			if m.Unadjusted() {
				verdicts = append(verdicts, stat.Inconclusive)
				continue
			}
			verdicts = append(verdicts, m.Verdict)
		}
	}
	if c.Phases == nil {
		verdicts = []stat.Verdict{stat.Pass} // correctness: only the conditions decide
	}
	v := stat.Overall(verdicts, conditions(c))
	c.Result = view.NewResult(v, reasonOf(c, v))
}

// reasonOf says what the verdict of a comparison rests on; empty if on its
// metrics.
func reasonOf(c *view.Comparison, v stat.Verdict) view.Reason {
	switch {
	case v == stat.Fail && len(c.Failed) > 0:
		return c.Failed[0].Name
	case v == stat.Invalid && len(c.Invalid) > 0:
		return c.Invalid[0].Name
	case v == stat.Invalid:
		return firstReason(c, v)
	case v == stat.Inconclusive && selected(c):
		return view.ReasonSelection
	case v == stat.Inconclusive && c.Batched():
		return view.ReasonBatch
	case v == stat.Inconclusive && slices.ContainsFunc(c.Primaries(), func(p view.Placed) bool { return p.Unadjusted() }):
		return view.ReasonUnadjusted
	case v == stat.Inconclusive && c.Count(stat.Inconclusive) == 0:
		return view.ReasonStalls
	case v == stat.Pass && c.Phases == nil:
		return view.ReasonChecks
	}
	return ""
}

// firstReason is that of the first primary metric with a verdict.
func firstReason(c *view.Comparison, v stat.Verdict) view.Reason {
	for _, p := range c.Primaries() {
		if p.Verdict == v {
			return p.Reason
		}
	}
	return ""
}

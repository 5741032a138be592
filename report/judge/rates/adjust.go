// Package rates says how often a verdict can be wrong, and keeps FAIL to its part of
// that: a campaign asks many questions at once.
package rates

import (
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
)

// Adjust keeps the FAIL of a campaign at its stated error. PASS needs no correction
// for the number of metrics, because all must pass (an intersection-union test); FAIL
// is a union, so the p value of each metric that fails by its own bound is multiplied
// by the number of metrics that could (Bonferroni). level is what the product may be.
// A metric that exceeds it keeps its FAIL with the reason "unadjusted".
func Adjust(gating []*view.Comparison, level float64) {
	family := candidates(gating)
	for _, p := range family {
		if p.Verdict != stat.Fail || p.Detail == nil || p.Detail.PAbove == nil {
			continue
		}
		adjusted := min(1, float64(len(family))**p.Detail.PAbove)
		p.Detail.PAdjusted = &adjusted
		p.Detail.Tests = len(family)
		if adjusted > level {
			p.Result = view.NewResult(stat.Fail, view.ReasonUnadjusted)
		}
	}
}

// candidates are the metrics that can make the campaign a FAIL: the valid primary
// ones. Equal arms have no FAIL.
func candidates(gating []*view.Comparison) (list []view.Placed) {
	for _, c := range gating {
		for _, p := range c.Primaries() {
			if c.AA || p.Verdict == stat.Invalid {
				continue
			}
			if len(gating) > 1 {
				p.Of = c.Name()
			}
			list = append(list, p)
		}
	}
	return list
}

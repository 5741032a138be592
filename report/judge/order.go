package judge

import (
	"fmt"

	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
)

// orderEffects tells how much it mattered which arm of a pair ran first, with
// Holm's correction over the primary metrics of the comparison.
func orderEffects(in *accept.Accepted, c *view.Comparison) {
	var with []view.Placed
	var found []stat.OrderResult
	var p []float64
	for _, m := range c.Primaries() {
		r, err := stat.OrderEffect(m.Effects(), baselineFirst(in, c))
		if m.Detail == nil || err != nil {
			continue
		}
		with, found, p = append(with, m), append(found, r), append(p, r.P)
	}
	for i, adjusted := range stat.Holm(p) {
		m := with[i]
		m.Detail.OrderPct, m.Detail.OrderP = view.Finite(EffectPct(found[i].Effect, m.Direction())), view.Finite(adjusted)
		if found[i].Flag(adjusted, m.Detail.Margin) {
			m.Remarks = append(m.Remarks, fmt.Sprintf("order effect %s (adjusted p %.2g): which arm ran first mattered",
				view.Percent(EffectPct(found[i].Effect, m.Direction()), m.MarginPct), adjusted))
		}
	}
}

// baselineFirst says of each block whether the baseline ran first.
func baselineFirst(in *accept.Accepted, c *view.Comparison) []bool {
	var first []bool
	for i := range in.Blocks {
		first = append(first, in.Blocks[i].BaselineFirst(c))
	}
	return first
}

// bias voids an A/A comparison whose equal arms differ.
func bias(c *view.Comparison) {
	if !c.AA {
		return
	}
	list := c.Primaries()
	for i, adjusted := range BiasP(c) {
		if m := list[i]; m.Detail != nil && Biased(m.Detail, adjusted) {
			invalidate(c, view.ReasonBias, "equal arms differ in %s by %s (adjusted p %.2g)", m, view.Percent(*m.Effect, m.MarginPct), adjusted)
		}
	}
}

// BiasP are the p values of no difference, by Holm over all primary metrics.
func BiasP(c *view.Comparison) []float64 {
	var p []float64
	for _, m := range c.Primaries() {
		x := 0.0
		if m.Detail != nil {
			x = m.Detail.P
		}
		p = append(p, x)
	}
	return stat.Holm(p)
}

// Biased says whether equal arms differ in a metric, see stat.Biased.
func Biased(d *view.Detail, adjustedP float64) bool {
	return stat.Biased(stat.Estimate{Mean: d.Mean}, adjustedP, d.Margin)
}

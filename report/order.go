package report

import (
	"fmt"

	"github.com/aituner/opprof/report/stat"
)

// orderEffects tells how much it mattered which arm of a pair ran first, with
// Holm's correction over the primary metrics of the comparison.
func (b *builder) orderEffects(c *Comparison) {
	var with []primary
	var found []stat.OrderResult
	var p []float64
	for _, m := range c.primaries() {
		r, err := stat.OrderEffect(m.d, b.baselineFirst(c))
		if m.Detail == nil || err != nil {
			continue
		}
		with, found, p = append(with, m), append(found, r), append(p, r.P)
	}
	for i, adjusted := range stat.Holm(p) {
		m := with[i]
		m.Detail.OrderPct, m.Detail.OrderP = ptr(m.percent(found[i].Effect)), ptr(adjusted)
		if found[i].Flag(adjusted, m.margin) {
			m.Remarks = append(m.Remarks, fmt.Sprintf("order effect %s (adjusted p %.2g): which arm ran first mattered",
				trimmed(percent(m.percent(found[i].Effect), m.MarginPct)), adjusted))
		}
	}
}

func (b *builder) baselineFirst(c *Comparison) []bool {
	var first []bool
	for i := range b.blocks {
		first = append(first, b.blocks[i].baselineFirst(c))
	}
	return first
}

// bias voids an A/A comparison whose equal arms differ.
func (b *builder) bias(c *Comparison) {
	if !c.AA {
		return
	}
	list := c.primaries()
	var p []float64
	for _, m := range list {
		p = append(p, m.estimate.P)
	}
	for i, adjusted := range stat.Holm(p) {
		if m := list[i]; m.Detail != nil && stat.Biased(m.estimate, adjusted, m.margin) {
			c.invalid("bias", "equal arms differ in %s by %s (adjusted p %.2g)", m, trimmed(percent(*m.Effect, m.MarginPct)), adjusted)
		}
	}
}

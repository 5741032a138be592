package report

import (
	"fmt"
	"slices"

	"github.com/aituner/opprof/report/stat"
)

// hosts returns the host group of every accepted block, as the candidate's run
// found it: a changed machine, driver or GPU is another group.
func (b *builder) hosts(c *Comparison) []string {
	var hosts []string
	for i := range b.blocks {
		hosts = append(hosts, hostOf(b.blocks[i].runs[c.Candidate]))
	}
	return hosts
}

func hostOf(a *attempt) string {
	if a.Environment == nil {
		return ""
	}
	return a.Environment.Host + "\x00" + a.Environment.Fingerprint
}

func distinct(names []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

// hostGroups refuses blocks that span hosts and groups that are too small to
// pool.
func (b *builder) hostGroups(c *Comparison) {
	hosts := b.hosts(c)
	c.Hosts = len(distinct(hosts))
	count := map[string]int{}
	for i := range b.blocks {
		count[hosts[i]]++
		base, cand := b.blocks[i].runs[c.Baseline], b.blocks[i].runs[c.Candidate]
		if base.Damage == "" && cand.Damage == "" && hostOf(base) != hostOf(cand) {
			c.invalid("block spans hosts", "block %s ran on two hosts", b.blocks[i].plan.Name())
		}
	}
	for _, h := range distinct(hosts) {
		if c.Hosts > 1 && count[h] < 2 {
			c.invalid("host group too small", "a host has a single block: its noise is unknown")
			return
		}
	}
	if c.Hosts > 1 {
		c.Notes = append(c.Notes, fmt.Sprintf("blocks ran on %d hosts; effects are pooled within hosts", c.Hosts))
	}
}

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

package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aituner/opprof/report/stat"
)

// leastPooled is the number of blocks from which a host's noise is known.
const leastPooled = 2

// HostEffects is a metric on each of several hosts.
type HostEffects struct {
	Hosts []HostEffect `json:"hosts"`
	// Q asks whether the pooled hosts differ by more than their noise; absent
	// with a single one.
	Q *float64 `json:"cochran_q,omitempty"`
	P *float64 `json:"cochran_p,omitempty"`
}

// HostEffect is the effect on one host. Hosts have numbers in order of
// appearance: their names are nobody's business.
type HostEffect struct {
	Host   int     `json:"host"`
	Blocks int     `json:"blocks"`
	Effect float64 `json:"effect_pct"`
	Pooled bool    `json:"pooled"`
}

// hostOf is the host group that a run belongs to, "" for a damaged run.
func hostOf(a *attempt) string {
	if a.Environment == nil {
		return ""
	}
	return a.Environment.Group()
}

func distinct(names []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

// hostsOf are the host groups of a block's undamaged runs: one, or the block is
// INVALID.
func (k *block) hostsOf() []string {
	var hosts []string
	for _, arm := range k.plan.Order {
		if h := hostOf(k.runs[arm]); h != "" {
			hosts = append(hosts, h)
		}
	}
	return distinct(hosts)
}

// separateHosts takes the blocks of hosts with a single one out of the analysis:
// nothing is known about the noise there, so they are shown and not pooled.
func (b *builder) separateHosts() {
	count := map[string]int{}
	for i := range b.blocks {
		hosts := b.blocks[i].hostsOf()
		if len(hosts) > 1 {
			b.invalid("block spans hosts", "block %s ran on %s hosts", b.blocks[i].plan.Name(), map[int]string{2: "two", 3: "three", 4: "four"}[len(hosts)])
			return
		}
		b.blocks[i].host = strings.Join(hosts, "")
		count[b.blocks[i].host]++
		b.numberHost(b.blocks[i].host)
	}
	b.checkSoftware()
	if len(b.hostNumber) < 2 || !b.gated() {
		return
	}
	lone := func(k block) bool { return k.host != "" && count[k.host] < leastPooled }
	for _, k := range b.blocks {
		if lone(k) {
			b.alone = append(b.alone, k)
		}
	}
	b.blocks = slices.DeleteFunc(slices.Clone(b.blocks), lone)
	if len(b.alone) > 0 && len(b.blocks) < stat.MinBlocks {
		b.invalid("host group too small", "%s alone on a host and not pooled, %s left, at least %d are needed",
			plural(len(b.alone), "block is", "blocks are"), plural(len(b.blocks), "block is", "blocks are"), stat.MinBlocks)
	}
}

func (b *builder) numberHost(host string) {
	if _, known := b.hostNumber[host]; !known && host != "" {
		b.hostNumber[host] = len(b.hostNumber) + 1
	}
}

// checkSoftware refuses runs on different software, drivers or GPU models: that
// is another question, not another host.
func (b *builder) checkSoftware() {
	var first *attempt
	var want map[string]string
	for i := range b.blocks {
		for _, arm := range b.blocks[i].plan.Order {
			a := b.blocks[i].runs[arm]
			if a.Environment == nil {
				continue
			}
			got := a.Environment.Software()
			if first == nil {
				first, want = a, got
			}
			for _, name := range sortedKeys(union(want, got)) {
				if want[name] != got[name] {
					b.invalid("software differs", "%s is %q in %s and %q in %s", name, want[name], first.Key, got[name], a.Key)
					return
				}
			}
		}
	}
}

func union(a, b map[string]string) map[string]string {
	all := map[string]string{}
	for _, m := range []map[string]string{a, b} {
		for k, v := range m {
			all[k] = v
		}
	}
	return all
}

// hosts returns the host group of every analysed block.
func (b *builder) hosts() []string {
	var hosts []string
	for i := range b.blocks {
		hosts = append(hosts, b.blocks[i].host)
	}
	return hosts
}

// hostGroups says which blocks ran where.
func (b *builder) hostGroups(c *Comparison) {
	if c.Hosts = len(b.hostNumber); c.Hosts < 2 {
		return
	}
	names := make([][]string, c.Hosts)
	for _, list := range [][]block{b.blocks, b.alone} {
		for _, k := range list {
			if n := b.hostNumber[k.host]; n > 0 {
				names[n-1] = append(names[n-1], k.plan.Name())
			}
		}
	}
	note := fmt.Sprintf("blocks ran on %d hosts, effects are pooled within hosts", c.Hosts)
	for i, list := range names {
		note += fmt.Sprintf("; host %d: %s", i+1, strings.Join(list, ", "))
	}
	c.Notes = append(c.Notes, note)
	for _, k := range b.alone {
		c.Notes = append(c.Notes, fmt.Sprintf("block %s is the only one of host %d: shown, not pooled", k.plan.Name(), b.hostNumber[k.host]))
	}
}

// perHost adds the effect on every host, also on those that are not pooled.
func (b *builder) perHost(c *Comparison, phase string, m *Metric, e stat.Estimate) {
	if len(b.hostNumber) < 2 {
		return
	}
	out := &HostEffects{Hosts: make([]HostEffect, len(b.hostNumber))}
	for i := range out.Hosts {
		out.Hosts[i].Host = i + 1
	}
	if len(e.Hosts) > 1 {
		out.Q, out.P = ptr(e.Q), ptr(e.QP)
	}
	sums := make([]float64, len(out.Hosts))
	add := func(k *block, d float64, pooled bool) {
		if n := b.hostNumber[k.host]; n > 0 {
			h := &out.Hosts[n-1]
			h.Blocks, h.Pooled = h.Blocks+1, pooled
			sums[n-1] += d
			h.Effect = m.percent(sums[n-1] / float64(h.Blocks))
		}
	}
	for i := range b.blocks {
		add(&b.blocks[i], m.d[i], true)
	}
	for i := range b.alone {
		k := &b.alone[i]
		d, err := stat.LogRatio(k.runs[c.Baseline].values[phase][m.Name], k.runs[c.Candidate].values[phase][m.Name], m.dir)
		if err == nil {
			add(k, d, false)
		}
	}
	m.Hosts = out
	m.Remarks = append(m.Remarks, out.remark())
}

// remark shows the effect on every host and whether they differ by more than
// their noise.
func (h *HostEffects) remark() string {
	var parts []string
	for _, x := range h.Hosts {
		if x.Blocks == 0 {
			continue
		}
		part := fmt.Sprintf("host %d: %s in %s", x.Host, trimmed(percent(x.Effect, noMargin)), plural(x.Blocks, "block", "blocks"))
		if !x.Pooled {
			part += " (not pooled)"
		}
		parts = append(parts, part)
	}
	if h.Q != nil {
		parts = append(parts, fmt.Sprintf("Cochran's Q %.2f (p = %.2g)", *h.Q, *h.P))
	}
	return strings.Join(parts, ", ")
}

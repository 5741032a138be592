package judge

import (
	"fmt"
	"strings"

	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
)

// hosts returns the host group of every analysed block.
func hosts(in *accept.Accepted) []string {
	var hosts []string
	for i := range in.Blocks {
		hosts = append(hosts, in.Blocks[i].Host)
	}
	return hosts
}

// hostGroups says which blocks ran where.
func hostGroups(in *accept.Accepted, c *view.Comparison) {
	if c.Hosts = len(in.HostNumber); c.Hosts < 2 {
		return
	}
	names := make([][]string, c.Hosts)
	for _, k := range in.All() {
		if n := in.HostNumber[k.Host]; n > 0 {
			names[n-1] = append(names[n-1], k.Plan.Name())
		}
	}
	note := fmt.Sprintf("blocks ran on %d hosts, effects are pooled within hosts", c.Hosts)
	for i, list := range names {
		note += fmt.Sprintf("; host %d: %s", i+1, strings.Join(list, ", "))
	}
	c.Notes = append(c.Notes, note)
	for _, k := range in.Alone {
		c.Notes = append(c.Notes, fmt.Sprintf("block %s is the only one of host %d: shown, not pooled", k.Plan.Name(), in.HostNumber[k.Host]))
	}
}

// perHost adds the effect on every host, also on those that are not pooled.
func perHost(in *accept.Accepted, c *view.Comparison, phase string, m *measured) {
	if len(in.HostNumber) < 2 {
		return
	}
	out := &view.HostEffects{Hosts: make([]view.HostEffect, len(in.HostNumber))}
	for i := range out.Hosts {
		out.Hosts[i].Host = i + 1
	}
	if len(m.estimate.Hosts) > 1 {
		out.Q, out.P = view.Finite(m.estimate.Q), view.Finite(m.estimate.QP)
	}
	sums := make([]float64, len(out.Hosts))
	add := func(k *accept.Block, d float64, pooled bool) {
		if n := in.HostNumber[k.Host]; n > 0 {
			h := &out.Hosts[n-1]
			h.Blocks, h.Pooled = h.Blocks+1, pooled
			sums[n-1] += d
			h.Effect = m.percent(sums[n-1] / float64(h.Blocks))
		}
	}
	for i := range in.Blocks {
		add(&in.Blocks[i], m.d[i], true)
	}
	for i := range in.Alone {
		k := &in.Alone[i]
		d, err := stat.LogRatio(k.Runs[c.Baseline].Values[phase][m.Name], k.Runs[c.Candidate].Values[phase][m.Name], m.dir)
		if err == nil {
			add(k, d, false)
		}
	}
	m.Hosts = out
	m.Remarks = append(m.Remarks, hostRemark(out))
}

// hostRemark shows the effect on every host and whether they differ by more than
// their noise.
func hostRemark(h *view.HostEffects) string {
	var parts []string
	for _, x := range h.Hosts {
		if x.Blocks == 0 {
			continue
		}
		part := fmt.Sprintf("host %d: %s in %s", x.Host, view.Percent(x.Effect, view.NoMargin), view.Plural(x.Blocks, "block", "blocks"))
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

package judge

import (
	"fmt"
	"strings"

	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/scenarios"
)

// putBack holds a metric to the attempts that do not count: with the worst one of each
// block a PASS must still be a PASS, with the best one a FAIL a FAIL. Whoever chose which
// attempts count has gained nothing then. The attempts, their order and hosts are those of
// the blocks.
func (q *question) putBack(in *accept.Accepted, c *view.Comparison, phase scenarios.Phase, m *measured, opt stat.Options) {
	again := make([][]float64, len(m.d))
	out := &view.PutBack{}
	for _, pair := range in.PutBack(c, phase) {
		base, cand := pair.Baseline.Values[phase.Name][m.Name], pair.Candidate.Values[phase.Name][m.Name]
		if d, err := stat.LogRatio(base, cand, m.dir); err == nil {
			again[pair.Block] = append(again[pair.Block], d)
			out.Attempts = append(out.Attempts, pair.Name)
		}
	}
	if out.Attempts == nil {
		return
	}
	largest, smallest := stat.WorstSets(m.d, again)
	worst, noWorst := stat.Analyze(largest, opt)
	best, noBest := stat.Analyze(smallest, opt)
	if noWorst == nil {
		out.Upper = view.Finite(m.percent(worst.U))
	}
	if noBest == nil {
		out.Lower = view.Finite(m.percent(best.L))
	}
	m.PutBack = out
	m.Remarks = append(m.Remarks, fmt.Sprintf("with the worst attempt of each block (put back: %s) the bounds are %s and %s",
		strings.Join(out.Attempts, ", "), view.MaybePercent(out.Lower, m.MarginPct), view.MaybePercent(out.Upper, m.MarginPct)))
	passes, fails := noWorst == nil && worst.U < m.margin, noBest == nil && best.L > m.margin
	switch {
	case m.equal(in, c):
		passes = noWorst == nil && noBest == nil && stat.Equivalent(stat.Estimate{N: best.N, L: best.L, U: worst.U}, m.margin)
	case in.Scenario.Purpose == scenarios.Control:
		passes = true // that it passes speaks against the metric, so it stands
	}
	if p, err := stat.PAbove(smallest, m.margin, opt); err == nil && m.Detail.PAbove != nil {
		p = max(p, *m.Detail.PAbove)
		m.Detail.PAbove = &p
	}
	if m.Verdict == stat.Pass && !passes || m.Verdict == stat.Fail && !fails {
		m.Result, m.Equivalence = view.NewResult(stat.Inconclusive, view.ReasonSelection), ""
	}
}

// equal reports whether the arms are equal on purpose: PASS means that they were shown to be.
func (m *measured) equal(in *accept.Accepted, c *view.Comparison) bool {
	return in.Scenario.Purpose == scenarios.AA || c.AA
}

// selected reports whether a comparison is undecided by its attempts that do not count,
// and by nothing else.
func selected(c *view.Comparison) bool {
	open := 0
	for _, p := range c.Primaries() {
		if p.Verdict == stat.Inconclusive {
			if p.Reason != view.ReasonSelection {
				return false
			}
			open++
		}
	}
	return open > 0
}

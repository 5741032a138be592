package report

import (
	"fmt"
	"slices"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/scenarios"
)

func (b *builder) compare() {
	for _, pair := range b.s.Compare {
		c := Comparison{Baseline: pair.Baseline, Candidate: pair.Candidate}
		c.AA = b.equalArms(pair)
		c.Gating = !c.AA || b.s.Purpose == scenarios.AA || b.s.Gate.RequireAA
		if b.c.Complete {
			b.judge(&c)
		}
		b.view.Comparisons = append(b.view.Comparisons, c)
	}
}

func (b *builder) equalArms(pair scenarios.Comparison) bool {
	base, _ := b.s.Arm(pair.Baseline)
	cand, _ := b.s.Arm(pair.Candidate)
	return b.s.Purpose == scenarios.AA || b.s.Repeats(base, cand)
}

// judge fills a comparison of a finished campaign.
func (b *builder) judge(c *Comparison) {
	c.Invalid = slices.Clone(b.general)
	b.examineRuns(c)
	b.examinePair(c)
	if b.gated() {
		b.checkBalance(c)
		c.ProbeLag = b.probeLag(c)
		for _, p := range b.s.Phases {
			c.Phases = append(c.Phases, b.phase(c, p))
		}
		b.hostGroups(c)
		b.orderEffects(c)
		b.bias(c)
		c.Stalls = b.stalls(c)
		c.Growth = b.growth(c)
		c.CPU = b.cpu(c)
	}
	b.settle(c)
}

// examineRuns turns what speaks against an accepted run into a reason: such a
// run should have voided its block, so nothing built on it counts.
func (b *builder) examineRuns(c *Comparison) {
	for _, k := range slices.Concat(b.blocks, b.alone) {
		for _, arm := range []string{c.Baseline, c.Candidate} {
			a := k.runs[arm]
			for _, f := range a.findings {
				f.Where = []string{a.Key.String()}
				c.Invalid = merge(c.Invalid, f)
			}
		}
	}
}

// checkBalance refuses a set of blocks in which one arm ran first more often
// than a plan allows: the order could then pass for an effect.
func (b *builder) checkBalance(c *Comparison) {
	first := 0
	for i := range b.blocks {
		if b.blocks[i].baselineFirst(c) {
			first++
		}
	}
	if second := len(b.blocks) - first; first-second > 1 || second-first > 1 {
		c.invalid("unbalanced order", "the baseline ran first in %d blocks, the candidate in %d", first, second)
	}
}

func (b *builder) phase(c *Comparison, p scenarios.Phase) Phase {
	out := Phase{Name: p.Name, Load: load(p.Arrival)}
	var secondary []Metric
	for _, m := range scenarios.Metrics() {
		primary := slices.Contains(p.Primary, m.Name)
		one, ok := b.metric(c, p.Name, m, primary)
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
	if a.Kind == "closed" {
		return plural(a.Streams, "stream", "streams")
	}
	if a.Kind == "trace" {
		return "trace, time × " + plainNumber(a.Scale)
	}
	return fmt.Sprintf("%s %s/s", a.Kind, plainNumber(a.Rate))
}

// settle gives the comparison its verdict and, where it is INVALID, takes it
// from every metric.
func (c *Comparison) settle() {
	var verdicts []stat.Verdict
	for i := range c.Phases {
		for j := range c.Phases[i].Metrics {
			m := &c.Phases[i].Metrics[j]
			if !m.Primary {
				continue
			}
			if len(c.Invalid) > 0 {
				m.Verdict, m.Result = stat.Invalid, "INVALID("+c.Invalid[0].Name+")"
				m.Advice = nil
			}
			verdicts = append(verdicts, m.Verdict)
		}
	}
	if c.Phases == nil {
		verdicts = []stat.Verdict{stat.Pass} // correctness: only the conditions decide
	}
	c.conditions.Invalid = len(c.Invalid) > 0
	c.conditions.Stalls = c.Stalls != nil && c.Stalls.Flagged
	c.Verdict = stat.Overall(verdicts, c.conditions)
	c.Result = c.result()
}

// result names the verdict with its reason.
func (c *Comparison) result() string {
	switch {
	case c.Verdict == stat.Fail && len(c.Failed) > 0:
		return "FAIL(" + c.Failed[0].Name + ")"
	case c.Verdict == stat.Invalid && len(c.Invalid) > 0:
		return "INVALID(" + c.Invalid[0].Name + ")"
	case c.Verdict == stat.Invalid:
		return c.firstResult(stat.Invalid)
	case c.Verdict == stat.Inconclusive && c.count(stat.Inconclusive) == 0:
		return "INCONCLUSIVE(stalls)"
	case c.Verdict == stat.Pass && c.Phases == nil:
		return "PASS(checks)"
	}
	return string(c.Verdict)
}

// primaries returns the primary metrics with their phases.
func (c *Comparison) primaries() (list []primary) {
	for i := range c.Phases {
		for j := range c.Phases[i].Metrics {
			if m := &c.Phases[i].Metrics[j]; m.Primary {
				list = append(list, primary{Metric: m, phase: c.Phases[i].Name})
			}
		}
	}
	return list
}

// primary is a primary metric of a phase.
type primary struct {
	*Metric
	phase string
	of    string // the comparison, where there are several
}

func (p primary) String() string {
	if p.of != "" {
		return p.Label + ", " + p.phase + ", " + p.of
	}
	return p.Label + ", " + p.phase
}

func (c *Comparison) count(v stat.Verdict) int {
	n := 0
	for _, p := range c.primaries() {
		if p.Verdict == v {
			n++
		}
	}
	return n
}

func (c *Comparison) firstResult(v stat.Verdict) string {
	for _, p := range c.primaries() {
		if p.Verdict == v {
			return p.Result
		}
	}
	return string(v)
}

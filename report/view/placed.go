package view

import (
	"slices"

	"github.com/aituner/opprof/report/stat"
)

// Placed is a metric with its place: its phase and, where there are several, its
// comparison.
type Placed struct {
	*Metric
	Phase string
	Of    string // the comparison, where there are several
}

// String names the metric and its place.
func (p Placed) String() string {
	if p.Of != "" {
		return p.Label + ", " + p.Phase + ", " + p.Of
	}
	return p.Label + ", " + p.Phase
}

// LastRemark is the last remark after a colon, or nothing.
func (m *Metric) LastRemark() string {
	if len(m.Remarks) == 0 {
		return ""
	}
	return ": " + m.Remarks[len(m.Remarks)-1]
}

// Direction is which values are better.
func (m *Metric) Direction() stat.Direction {
	if m.Better == stat.HigherIsBetter.String() {
		return stat.HigherIsBetter
	}
	return stat.LowerIsBetter
}

// Effects are the d of the pairs: the natural logarithm of the ratio of their two
// runs, positive is worse.
func (m *Metric) Effects() (d []float64) {
	for _, p := range m.Pairs {
		if x, err := stat.LogRatio(p.Baseline, p.Candidate, m.Direction()); err == nil {
			d = append(d, x)
		}
	}
	return d
}

// Primaries returns the primary metrics with their phases.
func (c *Comparison) Primaries() []Placed {
	return c.metrics(func(m *Metric) bool { return m.Primary })
}

// Shown are the metrics of a comparison that bear on a gate.
func (c *Comparison) Shown() []Placed {
	return c.metrics(func(m *Metric) bool { return m.Primary || IsCore(m.Name) })
}

func (c *Comparison) metrics(want func(*Metric) bool) (list []Placed) {
	for i := range c.Phases {
		for j := range c.Phases[i].Metrics {
			if m := &c.Phases[i].Metrics[j]; want(m) {
				list = append(list, Placed{Metric: m, Phase: c.Phases[i].Name})
			}
		}
	}
	return list
}

// Losing are the metrics that are not primary whose lower bounds lie above the margin.
// An INVALID comparison has none.
func (c *Comparison) Losing() []Placed {
	if len(c.Invalid) > 0 {
		return nil
	}
	return c.metrics(func(m *Metric) bool { return !m.Primary && m.Detail != nil && m.Detail.L > m.Detail.Margin })
}

// Find returns a metric of a phase, or nil.
func (c *Comparison) Find(phase, name string) *Metric {
	i := slices.IndexFunc(c.Phases, func(p Phase) bool { return p.Name == phase })
	if i < 0 {
		return nil
	}
	for j := range c.Phases[i].Metrics {
		if m := &c.Phases[i].Metrics[j]; m.Name == name {
			return m
		}
	}
	return nil
}

// Count returns how many primary metrics have a verdict.
func (c *Comparison) Count(v stat.Verdict) int {
	n := 0
	for _, p := range c.Primaries() {
		if p.Verdict == v {
			n++
		}
	}
	return n
}

// Name is the candidate against the baseline.
func (c *Comparison) Name() string { return c.Candidate + " against " + c.Baseline }

// Load is that of a phase, in words.
func (c *Comparison) Load(phase string) string {
	for _, p := range c.Phases {
		if p.Name == phase {
			return p.Load
		}
	}
	return ""
}

// Stalling reports whether the candidate stalls more often than the baseline.
func (c *Comparison) Stalling() bool { return c.Stalls != nil && c.Stalls.Flagged }

// Comments are the remarks of the primary metrics.
func (c *Comparison) Comments() []string {
	var list []string
	for _, p := range c.Primaries() {
		for _, r := range p.Remarks {
			list = append(list, p.String()+": "+r)
		}
		if p.Equivalence != "" {
			list = append(list, p.String()+": "+p.Equivalence)
		}
	}
	return list
}

package view

import (
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// Control is what a positive control shows about a primary metric.
type Control struct {
	// Outcome is caught (FAIL: the slowdown is shown), not passed
	// (INCONCLUSIVE), not sensitive here (PASS), or not reached: the slowdown
	// hardly moved the metric, and its verdict says nothing.
	Outcome Outcome `json:"outcome"`
	// RisePct is by how many percent the metric rose in the pilot.
	RisePct *float64 `json:"pilot_rise_pct,omitempty"`
}

// Outcome is what a control shows about one metric.
type Outcome string

// Outcomes of a control.
const (
	Caught       Outcome = "caught"
	NotPassed    Outcome = "not passed"
	NotSensitive Outcome = "not sensitive here"
	NotReached   Outcome = "not reached"
)

// InPilot is the rise in the pilot, in parentheses, or nothing.
func (m *Metric) InPilot() string {
	if m.Control == nil || m.Control.RisePct == nil {
		return ""
	}
	return " (pilot " + Percent(*m.Control.RisePct, results.LeastRisePct) + ")"
}

// Word is what tables and plots show as the verdict of a primary metric.
func (m *Metric) Word() string {
	switch {
	case m.Control != nil:
		return string(m.Control.Outcome)
	case m.Unadjusted():
		return m.Result.String()
	}
	return string(m.Verdict)
}

// Unadjusted reports whether the metric fails by its own bound and does not make the
// campaign a FAIL: as one of several questions it may have come about by chance.
func (m *Metric) Unadjusted() bool { return m.Is(stat.Fail, ReasonUnadjusted) }

// Fails reports whether the metric makes its campaign a FAIL.
func (m *Metric) Fails() bool { return m.Verdict == stat.Fail && !m.Unadjusted() }

// Tone is the verdict whose colour and shape go with that word: in a control, a
// metric that fails is well. It is empty for one that was not reached.
func (m *Metric) Tone() stat.Verdict {
	switch {
	case m.Unadjusted():
		return stat.Inconclusive
	case m.Control == nil:
		return m.Verdict
	}
	return map[Outcome]stat.Verdict{Caught: stat.Pass, NotPassed: stat.Inconclusive, NotSensitive: stat.Fail}[m.Control.Outcome]
}

// Shown is the result as tables with reasons show it: the outcome of a control, or
// the verdict with its reason.
func (m *Metric) Shown() string {
	if m.Control != nil {
		return string(m.Control.Outcome)
	}
	return m.Result.String()
}

// Missed reports whether the gate passed a metric that the slowdown reached.
func (c *Control) Missed() bool { return c.Outcome == NotSensitive }

// Applied reports whether the slowdown reached the metric.
func (c *Control) Applied() bool { return c.Outcome != NotReached }

// LabelOf is a metric as reports call it.
func LabelOf(metric string) string {
	if m, ok := scenarios.FindMetric(metric); ok {
		return m.Label
	}
	return metric
}

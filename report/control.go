package report

import (
	"fmt"
	"strings"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// Control is what a positive control shows about a primary metric.
type Control struct {
	// Outcome is caught (FAIL: the slowdown is shown), not passed
	// (INCONCLUSIVE), not sensitive here (PASS), or not reached: the slowdown
	// hardly moved the metric, and its verdict says nothing.
	Outcome string `json:"outcome"`
	// RisePct is by how many percent the metric rose in the pilot.
	RisePct *float64 `json:"pilot_rise_pct,omitempty"`
}

// Outcomes of a control.
const (
	caught       = "caught"
	notPassed    = "not passed"
	notSensitive = "not sensitive here"
	notReached   = "not reached"
)

// Results of a control.
const (
	controlHolds  = "PASS(control)"
	controlMissed = "FAIL(not sensitive)"
)

// settle gives a comparison its verdict. A positive control turns the rule
// around: the candidate is slower for certain, so a metric that passes has not
// noticed. What makes a campaign INVALID, outputs that differ and a candidate
// that breaks count as ever; stalls of a candidate that waits do not.
func (b *builder) settle(c *Comparison) {
	c.settle()
	if b.s.Purpose != scenarios.Control || c.AA || len(c.Invalid)+len(c.Failed) > 0 {
		return
	}
	seen := map[string]int{}
	for _, p := range c.primaries() {
		b.controlOf(p)
		if p.Control != nil {
			seen[p.Control.Outcome]++
		}
	}
	switch {
	case seen[notSensitive] > 0:
		c.Verdict, c.Result = stat.Fail, controlMissed
	case c.count(stat.Invalid) > 0:
		c.Verdict, c.Result = stat.Invalid, c.firstResult(stat.Invalid)
	case seen[caught]+seen[notPassed] == 0:
		c.invalid("control not applied", "no primary metric rose by %s %% in the pilot, so there was nothing to notice", plainNumber(results.LeastRisePct))
		c.settle()
	default:
		c.Verdict, c.Result = stat.Pass, controlHolds
	}
}

// controlOf says what a metric shows. Without a pilot the slowdown is taken to
// have reached it.
func (b *builder) controlOf(p primary) {
	if p.Verdict == stat.Invalid {
		return
	}
	p.Control = &Control{Outcome: map[stat.Verdict]string{stat.Fail: caught, stat.Inconclusive: notPassed, stat.Pass: notSensitive}[p.Verdict]}
	p.Advice = nil
	if pilot := b.c.Plan.Pilot; pilot != nil {
		if rise, ok := pilot.Rise(p.phase, p.Name); ok {
			p.Control.RisePct = ptr(rise)
		}
		if !pilot.Applied(p.phase, p.Name) {
			p.Control.Outcome = notReached
		}
	}
	p.Result = p.Control.Outcome
	switch p.Control.Outcome {
	case notSensitive:
		p.Remarks = append(p.Remarks, "not sensitive here: it passes although the candidate is slowed down"+p.inPilot()+", so it cannot be primary here")
	case notReached:
		p.Remarks = append(p.Remarks, fmt.Sprintf("not reached, control not applied: the slowdown moved it%s, less than %s %%, so its verdict says nothing", p.inPilot(), plainNumber(results.LeastRisePct)))
	}
}

// inPilot is the rise in the pilot, in parentheses, or nothing.
func (m *Metric) inPilot() string {
	if m.Control == nil || m.Control.RisePct == nil {
		return ""
	}
	return " (pilot " + trimmed(percent(*m.Control.RisePct, results.LeastRisePct)) + ")"
}

// word is what tables and plots show as the verdict of a primary metric.
func (m *Metric) word() string {
	if m.Control != nil {
		return m.Control.Outcome
	}
	return string(m.Verdict)
}

// tone is the verdict whose colour and shape go with that word: in a control, a
// metric that fails is well. It is empty for one that was not reached.
func (m *Metric) tone() stat.Verdict {
	if m.Control == nil {
		return m.Verdict
	}
	return map[string]stat.Verdict{caught: stat.Pass, notPassed: stat.Inconclusive, notSensitive: stat.Fail}[m.Control.Outcome]
}

// controlled reports whether the verdict is that of a positive control.
func (v *View) controlled() bool { return v.Result == controlHolds || v.Result == controlMissed }

// controlSentence says what noticed the slowdown and what did not.
func controlSentence(gating []*Comparison) string {
	by := map[string][]string{}
	reached := 0
	for _, p := range allPrimaries(gating) {
		if p.Control == nil {
			continue
		}
		by[p.Control.Outcome] = append(by[p.Control.Outcome], p.String()+p.inPilot())
		if p.Control.Outcome != notReached {
			reached++
		}
	}
	claim := fmt.Sprintf("The slowdown is noticed: none of %s that it reached passes (%d caught, %d not passed)",
		plural(reached, "primary metric", "primary metrics"), len(by[caught]), len(by[notPassed]))
	if by[caught] == nil {
		claim = fmt.Sprintf("The slowdown passes on none of %s that it reached, and is shown on none (0 caught, %d not passed): the noise hides it",
			plural(reached, "primary metric", "primary metrics"), len(by[notPassed]))
	}
	if missed := by[notSensitive]; missed != nil {
		pass := "passes"
		if len(missed) > 1 {
			pass = "pass"
		}
		claim = fmt.Sprintf("Not sensitive here: %s; %d of %s that the slowdown reached %s all the same and cannot be primary here",
			strings.Join(missed, ", "), len(missed), plural(reached, "primary metric", "primary metrics"), pass)
	}
	if spared := by[notReached]; spared != nil {
		claim += "; not reached, control not applied to " + strings.Join(spared, ", ")
	}
	return claim
}

// noteControl says how the slowdown was set.
func (b *builder) noteControl() {
	v := b.view
	v.Notes = append(v.Notes, "positive control: the candidate is slowed down on purpose; a metric that passes all the same is not sensitive here")
	pilot := b.c.Plan.Pilot
	if pilot == nil {
		v.Notes = append(v.Notes, "no pilot: the slowdown is that of the scenario, and is taken to reach every metric")
		return
	}
	v.Pilot = pilot
	if pilot.Chosen < 1 || pilot.Chosen > len(pilot.Steps) {
		return
	}
	for i, x := range pilot.Steps[pilot.Chosen-1].Values {
		rise := results.FitPct(pilot.Steps, pilot.Chosen-1, i)
		if x.Metric != "" && (rise < pilot.LowPct || rise > pilot.HighPct) {
			near := pilot.LowPct
			if rise > near {
				near = pilot.HighPct
			}
			v.Notes = append(v.Notes, fmt.Sprintf("the pilot aimed at a rise of %s by %s to %s %% and came to %s", labelOf(x.Metric),
				plainNumber(pilot.LowPct), plainNumber(pilot.HighPct), trimmed(percent(rise, near))))
		}
	}
}

// pilotLines tell the steps of the pilot, one line each.
func pilotLines(v *View) (lines []string) {
	if v.Pilot == nil {
		return nil
	}
	for i, step := range v.Pilot.Steps {
		line := fmt.Sprintf("step %d", i+1)
		if i+1 == v.Pilot.Chosen {
			line += " (used)"
		}
		var values, rises []string
		for _, x := range step.Values {
			values = append(values, x.Name+"="+x.Text)
		}
		for _, m := range step.Metrics {
			rises = append(rises, fmt.Sprintf("%s, %s %s", labelOf(m.Metric), m.Phase, trimmed(percent(m.RisePct, results.LeastRisePct))))
		}
		lines = append(lines, line+": "+strings.Join(values, " ")+" · "+strings.Join(rises, " · "))
	}
	if rises := fitted(v.Pilot); len(lines) > 1 && rises != nil {
		lines = append(lines, "all steps together: "+strings.Join(rises, " · "))
	}
	return lines
}

// fitted is what all steps say that each metric rises by with the used values:
// these rises decide whether the slowdown reached it.
func fitted(p *results.Pilot) (rises []string) {
	if p.Chosen < 1 || p.Chosen > len(p.Steps) {
		return nil
	}
	for _, m := range p.Steps[p.Chosen-1].Metrics {
		rise, _ := p.Rise(m.Phase, m.Metric)
		rises = append(rises, fmt.Sprintf("%s, %s %s", labelOf(m.Metric), m.Phase, trimmed(percent(rise, results.LeastRisePct))))
	}
	return rises
}

// labelOf is a metric as reports call it.
func labelOf(metric string) string {
	if m, ok := scenarios.FindMetric(metric); ok {
		return m.Label
	}
	return metric
}

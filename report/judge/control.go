package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
)

// settleControl turns the rule around for a positive control: the candidate is
// slower for certain, so a metric that passes has not noticed, and one that neither
// passes nor fails shows nothing. It takes a metric in every phase that caught the
// slowdown to say that this gate can fail here. What makes a campaign INVALID,
// outputs that differ and a candidate that breaks count as ever; stalls of a
// candidate that waits do not.
func settleControl(pilot *results.Pilot, c *view.Comparison) {
	seen := map[view.Outcome]int{}
	for _, p := range c.Primaries() {
		if p.Verdict != stat.Invalid {
			controlOf(pilot, p)
			seen[p.Control.Outcome]++
		}
	}
	switch {
	case seen[view.NotSensitive] > 0:
		c.Result = view.NewResult(stat.Fail, view.ReasonNotSensitive)
	case c.Count(stat.Invalid) > 0:
		c.Result = view.NewResult(stat.Invalid, firstReason(c, stat.Invalid))
	case seen[view.Caught]+seen[view.NotPassed] == 0:
		invalidate(c, view.ReasonNotApplied, "no primary metric rose by %s %% in the pilot, so there was nothing to notice", view.Plain(results.LeastRisePct))
		settleGate(c)
	case len(uncaught(c)) > 0:
		c.Result = view.NewResult(stat.Inconclusive, view.ReasonControl)
	default:
		c.Result = view.NewResult(stat.Pass, view.ReasonControl)
	}
}

// uncaught are the phases in which no primary metric caught the slowdown.
func uncaught(c *view.Comparison) (phases []string) {
	for _, p := range c.Phases {
		asked, caught := false, false
		for _, m := range p.Metrics {
			asked = asked || m.Primary
			caught = caught || m.Control != nil && m.Control.Outcome == view.Caught
		}
		if asked && !caught {
			phases = append(phases, p.Name)
		}
	}
	return phases
}

// controlOf says what a metric shows. Without a pilot the slowdown is taken to
// have reached it.
func controlOf(pilot *results.Pilot, p view.Placed) {
	p.Control = &view.Control{Outcome: map[stat.Verdict]view.Outcome{stat.Fail: view.Caught, stat.Inconclusive: view.NotPassed, stat.Pass: view.NotSensitive}[p.Verdict]}
	p.Advice = nil
	if pilot != nil {
		if rise, ok := pilot.Rise(p.Phase, p.Name); ok {
			p.Control.RisePct = view.Finite(rise)
		}
		if !pilot.Applied(p.Phase, p.Name) {
			p.Control.Outcome = view.NotReached
		}
	}
	switch p.Control.Outcome {
	case view.NotSensitive:
		p.Remarks = append(p.Remarks, "not sensitive here: it passes although the candidate is slowed down"+p.InPilot()+", so it cannot be primary here")
	case view.NotReached:
		p.Remarks = append(p.Remarks, fmt.Sprintf("not reached, control not applied: the slowdown moved it%s, less than %s %%, so its verdict says nothing", p.InPilot(), view.Plain(results.LeastRisePct)))
	}
}

// controlled reports whether the verdict is that of a positive control.
func controlled(r view.Result) bool {
	return r.Reason == view.ReasonControl || r.Is(stat.Fail, view.ReasonNotSensitive)
}

// controlSentence says what noticed the slowdown and what did not.
func controlSentence(gating []*view.Comparison) string {
	by := map[view.Outcome][]string{}
	reached := 0
	for _, p := range allPrimaries(gating) {
		if p.Control == nil {
			continue
		}
		by[p.Control.Outcome] = append(by[p.Control.Outcome], p.String()+p.InPilot())
		if p.Control.Outcome != view.NotReached {
			reached++
		}
	}
	claim := fmt.Sprintf("The slowdown is noticed: none of %s that it reached passes (%d caught, %d not passed)",
		view.Plural(reached, "primary metric", "primary metrics"), len(by[view.Caught]), len(by[view.NotPassed]))
	if open := uncaughtIn(gating); open != nil {
		claim = fmt.Sprintf("It is not shown that this gate can fail here: the slowdown is caught on no primary metric of %s (%d caught, %d not passed)",
			strings.Join(open, ", "), len(by[view.Caught]), len(by[view.NotPassed]))
	}
	if missed := by[view.NotSensitive]; missed != nil {
		pass := "passes"
		if len(missed) > 1 {
			pass = "pass"
		}
		claim = fmt.Sprintf("Not sensitive here: %s; %d of %s that the slowdown reached %s all the same and cannot be primary here",
			strings.Join(missed, ", "), len(missed), view.Plural(reached, "primary metric", "primary metrics"), pass)
	}
	if spared := by[view.NotReached]; spared != nil {
		claim += "; not reached, control not applied to " + strings.Join(spared, ", ")
	}
	return claim
}

// uncaughtIn are the phases that did not notice, of all comparisons.
func uncaughtIn(gating []*view.Comparison) (phases []string) {
	for _, c := range gating {
		for _, name := range uncaught(c) {
			if !slices.Contains(phases, name) {
				phases = append(phases, name)
			}
		}
	}
	return phases
}

// noteControl says how the slowdown was set.
func noteControl(pilot *results.Pilot) []string {
	notes := []string{"positive control: the candidate is slowed down on purpose; a metric that passes all the same is not sensitive here"}
	if pilot == nil {
		return append(notes, "no pilot: the slowdown is that of the scenario, and is taken to reach every metric")
	}
	if pilot.Chosen < 1 || pilot.Chosen > len(pilot.Steps) {
		return notes
	}
	for i, x := range pilot.Steps[pilot.Chosen-1].Values {
		rise := results.FitPct(pilot.Steps, pilot.Chosen-1, i)
		if x.Metric != "" && (rise < pilot.LowPct || rise > pilot.HighPct) {
			near := pilot.LowPct
			if rise > near {
				near = pilot.HighPct
			}
			notes = append(notes, fmt.Sprintf("the pilot aimed at a rise of %s by %s to %s %% and came to %s", view.LabelOf(x.Metric),
				view.Plain(pilot.LowPct), view.Plain(pilot.HighPct), view.Percent(rise, near)))
		}
	}
	return notes
}

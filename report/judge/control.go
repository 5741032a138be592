package judge

import (
	"fmt"

	"github.com/aituner/opprof/report/judge/wording"
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
	case len(wording.Uncaught(c)) > 0:
		c.Result = view.NewResult(stat.Inconclusive, view.ReasonControl)
	default:
		c.Result = view.NewResult(stat.Pass, view.ReasonControl)
	}
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

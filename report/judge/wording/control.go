package wording

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
)

// Uncaught are the phases in which no primary metric caught the slowdown.
func Uncaught(c *view.Comparison) (phases []string) {
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

// controlled reports whether the verdict is that of a positive control.
func controlled(r view.Result) bool {
	return r.Reason == view.ReasonControl || r.Is(stat.Fail, view.ReasonNotSensitive)
}

// controlSentence says what noticed the slowdown and what did not.
func controlSentence(gating []*view.Comparison) string {
	by := map[view.Outcome][]string{}
	reached := 0
	for _, p := range AllPrimaries(gating) {
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
		for _, name := range Uncaught(c) {
			if !slices.Contains(phases, name) {
				phases = append(phases, name)
			}
		}
	}
	return phases
}

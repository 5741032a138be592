// Package wording says a verdict in words, from the comparisons as they were judged.
package wording

import (
	"slices"

	"github.com/aituner/opprof/report/judge/evidence"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/scenarios"
)

// Wording puts a verdict into words: its sentence, what to do next, and what would
// decide it.
type Wording struct {
	View     *view.View
	Scenario *scenarios.Scenario
	Gating   []*view.Comparison // that count
	AAOpen   bool               // the A/A that is required did not show equality
	AA       *evidence.AA       // nil: none is required
	Level    float64            // error that all metrics together may have, two-sided, as a fraction
}

// AllPrimaries are the primary metrics of several comparisons, with the names of these
// where there are more than one.
func AllPrimaries(gating []*view.Comparison) (list []view.Placed) {
	for _, c := range gating {
		for _, p := range c.Primaries() {
			if len(gating) > 1 {
				p.Of = c.Name()
			}
			list = append(list, p)
		}
	}
	return list
}

// withoutEqual leaves the comparisons of equal arms out, if there are others:
// they are evidence, not what was asked.
func withoutEqual(list []*view.Comparison) []*view.Comparison {
	others := slices.DeleteFunc(slices.Clone(list), func(c *view.Comparison) bool { return c.AA })
	if len(others) == 0 {
		return list
	}
	return others
}

package judge

import (
	"slices"

	"github.com/aituner/opprof/report/judge/evidence"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/scenarios"
)

// wording puts a verdict into words.
type wording struct {
	v      *view.View
	s      *scenarios.Scenario
	gating []*view.Comparison
	aaOpen bool
	aa     *evidence.AA
	level  float64 // error that all metrics together may have
}

func allPrimaries(gating []*view.Comparison) (list []view.Placed) {
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

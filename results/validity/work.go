package validity

import (
	"fmt"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/shapes"
	"github.com/aituner/opprof/scenarios"
)

// CompareWork asks between runs what the rule work-differs asks of one, where the plan does not have the lengths: plans
// of earlier versions, and prompts that are texts. Most runs are right, of equally
// many the first. Runs that broke early, and phases with failed requests, are
// passed over.
func CompareWork(plan *results.Plan, attempts []results.Attempt) []Finding {
	var found []Finding
	for _, phase := range plan.Scenario.Phases {
		if _, known := plan.ShapeSHA256[phase.Name]; known {
			continue
		}
		runs := runsWithWork(plan, phase, attempts)
		reference := mostAlike(runs)
		for _, r := range runs {
			if r.sum == reference.sum {
				continue
			}
			f := finding(RuleWork, CauseHarness,
				"the requests of phase %s are not those of %s: %s; all runs must get the same work: measure the campaign again",
				phase.Name, reference.of.Key, shapesDiffer(r.shapes, reference.shapes)).in(phase.Name)
			found = append(found, f.about(ScopeRun, r.of))
		}
	}
	return found
}

// workOf is what a run sent to a phase.
type workOf struct {
	of     *results.Attempt
	shapes []shapes.Shape
	sum    string
}

func runsWithWork(plan *results.Plan, phase scenarios.Phase, attempts []results.Attempt) (runs []workOf) {
	for i := range attempts {
		a := &attempts[i]
		if a.Run == nil || a.Run.Failure != "" {
			continue
		}
		s := &subject{scenario: &plan.Scenario, run: a.Run, requests: a.Requests}
		s.phases(func(p scenarios.Phase, got *results.Phase) {
			if p.Name == phase.Name && s.comparable(p, got) {
				sent := shapes.Of(a.Requests, p.Name)
				runs = append(runs, workOf{a, sent, shapes.SHA256(sent)})
			}
		})
	}
	return runs
}

// mostAlike is the first run of those that are most often alike.
func mostAlike(runs []workOf) (reference workOf) {
	count := map[string]int{}
	for _, r := range runs {
		count[r.sum]++
	}
	for _, r := range runs {
		if count[r.sum] > count[reference.sum] {
			reference = r
		}
	}
	return reference
}

// shapesDiffer says what the first request is that differs, and how many do.
func shapesDiffer(got, want []shapes.Shape) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%s, not %d", counted(len(got), "request", "requests"), len(want))
	}
	n, first := 0, -1
	for i := range got {
		if got[i] != want[i] {
			if n++; n == 1 {
				first = i
			}
		}
	}
	return fmt.Sprintf("%d of %s differ, the first is %s, not %s",
		n, counted(len(got), "request", "requests"), shapeText(got[first]), shapeText(want[first]))
}

func shapeText(s shapes.Shape) string {
	role := "timed"
	if s.Warmup {
		role = "warm-up"
	}
	return fmt.Sprintf("request %d (%s, prompt of %s, asks for %d)", s.Index, role, counted(s.Prompt, "token", "tokens"), s.Want)
}

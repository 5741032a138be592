package validity

import (
	"fmt"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// work: every run sends the requests of the plan, all of them once, in the same
// roles and of the same lengths. A run that sends less is faster for another reason
// than its arm. Failed and unsent requests are findings of their own.
func work(s *subject) {
	s.phases(func(plan scenarios.Phase, got *results.Phase) {
		if !s.comparable(plan, got) {
			return
		}
		shapes := results.ShapesOf(s.requests, plan.Name)
		want, known := s.shapes[plan.Name]
		why := misnumbered(shapes, plan.Warmup.Requests)
		if why == "" && known && results.ShapeSHA256(shapes) != want {
			why = "the lengths of prompts or of wanted outputs are others"
		}
		if why != "" {
			s.add(finding(RuleWork, CauseHarness, "the requests of phase %s are not those of the plan: %s; all runs must get the same work: repeat the block",
				plan.Name, why).in(plan.Name))
		}
	})
}

// comparable reports whether nothing else is wrong with the number of a phase's
// requests or with their records.
func (s *subject) comparable(plan scenarios.Phase, got *results.Phase) bool {
	failures, all, _ := s.count(plan.Name, failed)
	timed, _, _ := s.count(plan.Name, func(r *results.Request) bool { return !r.Warmup })
	return failures == 0 && all > 0 && got.Unsent == 0 && (timed == plan.Source.Requests || all == plan.Source.Requests+plan.Warmup.Requests)
}

// misnumbered says which request is not there once and in its role, or "". Shapes
// are sorted by index; the first ones are the warm-up.
func misnumbered(shapes []results.Shape, warmup int) string {
	for i, s := range shapes {
		switch {
		case s.Index < i:
			return fmt.Sprintf("request %d is there twice", s.Index)
		case s.Index > i:
			return fmt.Sprintf("request %d is missing", i)
		case s.Warmup && i >= warmup:
			return fmt.Sprintf("request %d is warm-up, and is planned to be timed", i)
		case !s.Warmup && i < warmup:
			return fmt.Sprintf("request %d is timed, and is planned to be warm-up", i)
		}
	}
	return ""
}

// CompareWork does so between runs, where the plan does not have the lengths: plans
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
			f := finding(RuleWork, CauseHarness, "the requests of phase %s are not those of %s: %s; all runs must get the same work: measure the campaign again",
				phase.Name, reference.of.Key, shapesDiffer(r.shapes, reference.shapes)).in(phase.Name)
			found = append(found, f.about(ScopeRun, r.of))
		}
	}
	return found
}

// workOf is what a run sent to a phase.
type workOf struct {
	of     *results.Attempt
	shapes []results.Shape
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
				shapes := results.ShapesOf(a.Requests, p.Name)
				runs = append(runs, workOf{a, shapes, results.ShapeSHA256(shapes)})
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
func shapesDiffer(got, want []results.Shape) string {
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
	return fmt.Sprintf("%d of %s differ, the first is %s, not %s", n, counted(len(got), "request", "requests"), shapeText(got[first]), shapeText(want[first]))
}

func shapeText(s results.Shape) string {
	role := "timed"
	if s.Warmup {
		role = "warm-up"
	}
	return fmt.Sprintf("request %d (%s, prompt of %s, asks for %d)", s.Index, role, counted(s.Prompt, "token", "tokens"), s.Want)
}

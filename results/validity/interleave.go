package validity

import (
	"fmt"
	"maps"
	"slices"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// maxIdleCores is how many cores the server of an interleaved arm may keep busy,
// on average, while the other arms have their turns.
const maxIdleCores = 0.1

// slicing: the timed requests of interleaved arms, and only of these, are sent
// in slices.
func slicing(s *subject) {
	want := s.scenario.Design.Interleaved()
	loose := map[string]int{} // timed requests in no slice, by phase
	for i := range s.requests {
		if r := &s.requests[i]; !r.Warmup && r.Slice == 0 {
			loose[r.Phase]++
		}
	}
	s.phases(func(plan scenarios.Phase, got *results.Phase) {
		sliced := 0
		for _, one := range got.Slices {
			sliced += one.Requests
		}
		switch {
		case !want && sliced > 0:
			s.add(finding(ruleSlicesMissing, CauseHarness, "phase %s was sent in %s, the plan has none; repeat the block", plan.Name, counted(len(got.Slices), "slice", "slices")).in(plan.Name))
		case want && (sliced != got.Planned || loose[plan.Name] > 0):
			s.add(finding(ruleSlicesMissing, CauseHarness, "phase %s has %d of %s in its slices and %d outside; repeat the block",
				plan.Name, sliced, counted(got.Planned, "timed request", "timed requests"), loose[plan.Name]).in(plan.Name))
		}
	})
}

// idleArm: a server that works while it is not its turn slows the others down.
func idleArm(s *subject) {
	s.phases(func(plan scenarios.Phase, got *results.Phase) {
		if got.IdleSeconds <= 0 {
			return
		}
		used := 0.0
		for _, role := range slices.Sorted(maps.Keys(got.IdleCPUSeconds)) {
			used += got.IdleCPUSeconds[role]
		}
		if cores := used / got.IdleSeconds; !(cores <= maxIdleCores) {
			s.add(finding(ruleIdleArm, CauseHost, "the server used %.2f cores in phase %s while other arms had their turns and may use %.1f at most: raise design.interleave.settle until it is at rest",
				cores, plan.Name, maxIdleCores).in(plan.Name))
		}
	})
}

// slicesDiffer: in each block the arms send the same requests slice by slice,
// and each of the two comes first equally often.
func slicesDiffer(p *pairing) []Finding {
	var found []Finding
	p.pairs(func(b, c *results.Attempt) {
		for i := range b.Run.Phases {
			phase := &b.Run.Phases[i]
			if why := unlike(phase.Slices, slicesOf(c.Run, phase.Name)); why != "" {
				found = append(found, Finding{Rule: ruleSlicesDiffer, Scope: ScopePair, Key: c.Key, Arm: p.of.Candidate, Phase: phase.Name, Cause: CauseHarness,
					Message: fmt.Sprintf("phase %s of block %s: %s", phase.Name, c.Key.Block, why)})
			}
		}
	})
	return found
}

func slicesOf(run *results.Run, phase string) []results.Slice {
	for i := range run.Phases {
		if run.Phases[i].Name == phase {
			return run.Phases[i].Slices
		}
	}
	return nil
}

func unlike(b, c []results.Slice) string {
	if len(b) != len(c) {
		return fmt.Sprintf("the arms have %d and %d slices", len(b), len(c))
	}
	lead := 0
	for i := range b {
		if b[i].Number != c[i].Number || b[i].Requests != c[i].Requests {
			return fmt.Sprintf("slice %d has %s in one arm, slice %d has %d in the other", b[i].Number, counted(b[i].Requests, "request", "requests"), c[i].Number, c[i].Requests)
		}
		if b[i].Position < c[i].Position {
			lead++
		} else {
			lead--
		}
	}
	if lead < -1 || lead > 1 {
		return fmt.Sprintf("one arm had its turn first %d times more often than the other", max(lead, -lead))
	}
	return ""
}

package validity

import (
	"slices"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// minArmFaults is how often the candidate may not fail by its own fault.
const minArmFaults = 2

// Reliability decides FAIL(reliability) for a comparison: a cause that belongs
// to the arm was seen in the candidate at least twice and never in the
// baseline, over all attempts, void ones included, burn-in excluded. It returns
// nil if that is not so.
func Reliability(plan *results.Plan, c scenarios.Comparison, attempts []results.Attempt) *Finding {
	var baseline, candidate []Finding // one per run
	for i := range attempts {
		a := &attempts[i]
		if a.BurnIn || a.Run == nil {
			continue
		}
		fault := armFault(plan, a)
		switch {
		case fault == nil:
		case a.Key.Arm == c.Baseline:
			baseline = append(baseline, *fault)
		case a.Key.Arm == c.Candidate:
			candidate = append(candidate, *fault)
		}
	}
	if len(baseline) > 0 || len(candidate) < minArmFaults {
		return nil
	}
	first := &candidate[0]
	f := finding(RuleReliability, CauseArm, "%s failed by its own fault in %d runs and %s in none; first %s: %s",
		c.Candidate, len(candidate), c.Baseline, first.Key, results.Cause{Message: first.Message}.Brief())
	f.Scope, f.Arm, f.First = ScopeComparison, c.Candidate, first
	return &f
}

func armFault(plan *results.Plan, a *results.Attempt) *Finding {
	found := Run(plan, a.Run, a.Requests, a.Identity)
	if i := slices.IndexFunc(found, func(f Finding) bool { return f.Cause == CauseArm }); i >= 0 {
		return &found[i]
	}
	return nil
}

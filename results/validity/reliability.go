package validity

import (
	"fmt"
	"slices"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// minArmFaults is how often a candidate has to fail by its own fault where the baseline
// never does.
const minArmFaults = 2

// maxFisherP is the one-sided p of Fisher's exact test below which a candidate fails
// more often than a baseline that fails as well: of a hundred comparisons of equal arms
// at most one.
const maxFisherP = 0.01

// faults are the runs of an arm, and of those that failed by its fault the first finding.
type faults struct {
	runs  int
	found []Finding
}

// Reliability decides FAIL(reliability) for a comparison: a cause that belongs
// to the arm was seen in the candidate at least twice and never in the baseline, or in
// so many more of its runs that it is no chance, over all attempts, void ones included,
// burn-in excluded. It returns nil if that is not so.
func Reliability(plan *results.Plan, c scenarios.Comparison, attempts []results.Attempt) *Finding {
	var baseline, candidate faults
	for i := range attempts {
		a := &attempts[i]
		switch {
		case a.BurnIn || a.Run == nil:
		case a.Key.Arm == c.Baseline:
			baseline.add(armFault(plan, a))
		case a.Key.Arm == c.Candidate:
			candidate.add(armFault(plan, a))
		}
	}
	b, n := len(baseline.found), len(candidate.found)
	words := fmt.Sprintf("in %d runs and %s in none", n, c.Baseline)
	if p := fisher(n, candidate.runs, b, baseline.runs); b > 0 {
		if p >= maxFisherP {
			return nil
		}
		words = fmt.Sprintf("in %d of %d runs and %s in %d of %d (Fisher's exact p = %.2g, below %v)",
			n, candidate.runs, c.Baseline, b, baseline.runs, p, maxFisherP)
	} else if n < minArmFaults {
		return nil
	}
	first := &candidate.found[0]
	f := finding(RuleReliability, CauseArm, "%s failed by its own fault %s; first %s: %s",
		c.Candidate, words, first.Key, results.Cause{Message: first.Message}.Brief())
	f.Scope, f.Arm, f.First = ScopeComparison, c.Candidate, first
	return &f
}

func (f *faults) add(fault *Finding) {
	f.runs++
	if fault != nil {
		f.found = append(f.found, *fault)
	}
}

func armFault(plan *results.Plan, a *results.Attempt) *Finding {
	found := Run(plan, a.Run, a.Requests, a.Identity)
	if i := slices.IndexFunc(found, func(f Finding) bool { return f.Cause == CauseArm }); i >= 0 {
		return &found[i]
	}
	return nil
}

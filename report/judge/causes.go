package judge

import (
	"slices"

	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/judge/evidence"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results/validity"
	"github.com/aituner/opprof/scenarios"
)

// tellCauses gathers why runs do not count. What FAIL(reliability) rests on is told
// there; INVALID(valid blocks missing) says what voided most blocks, if that does
// not stand there already.
func tellCauses(in *accept.Accepted, list []view.Comparison) (told []view.Cause) {
	causes := evidence.Causes(in)
	for i := range list {
		if f := unreliable(in, &list[i]); f != nil {
			if k := slices.IndexFunc(causes, func(c evidence.Cause) bool { return c.Is(f) }); k >= 0 {
				causes[k].Told = true
			}
		}
	}
	if len(causes) > 0 && causes[0].Voided() && !causes[0].Told && gaveUp(in) {
		causes[0].Told = blame(list, causes)
	}
	for _, c := range causes {
		told = append(told, c.Cause)
	}
	return told
}

// gaveUp reports whether blocks are missing because they were void too often.
func gaveUp(in *accept.Accepted) bool {
	if in.Campaign.Closed != "" {
		return false
	}
	missing := map[string]bool{}
	for _, b := range in.Campaign.Plan.Blocks {
		missing[b.Name()] = !b.BurnIn
	}
	for _, k := range in.All() {
		missing[k.Plan.Name()] = false
	}
	for void := range in.Campaign.Voids {
		if missing[void.Block] {
			return true
		}
	}
	return false
}

// unreliable is the finding of a run that FAIL(reliability) begins with.
func unreliable(in *accept.Accepted, c *view.Comparison) *validity.Finding {
	if !slices.ContainsFunc(c.Failed, func(f view.Finding) bool { return f.Name == view.ReasonReliability }) {
		return nil
	}
	pair := scenarios.Comparison{Baseline: c.Baseline, Candidate: c.Candidate}
	return validity.Reliability(in.Campaign.Plan, pair, in.Campaign.Attempts).First
}

// blame adds the first cause to the findings that blocks are missing, and reports
// whether there is one.
func blame(list []view.Comparison, causes []evidence.Cause) (found bool) {
	words := causes[0].Claim()
	if more := len(causes) - 1; more > 0 {
		words += ", and " + view.Plural(more, "more cause", "more causes")
	}
	for i := range list {
		for k := range list[i].Invalid {
			if f := &list[i].Invalid[k]; f.Name == view.ReasonBlocksMissing {
				f.Detail += ": " + words
				found = true
			}
		}
	}
	return found
}

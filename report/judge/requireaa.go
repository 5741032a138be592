package judge

import (
	"slices"

	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/scenarios"
)

// requireAA holds a campaign to its scenario's demand for a passed A/A: without
// one there is no verdict; one that could not show equality leaves no PASS, open.
// An A/A inside the campaign is judged with it.
func requireAA(q *question) (open bool, found []view.Finding) {
	s := &q.campaign.Plan.Scenario
	inside := func(pair scenarios.Comparison) bool { return equalArms(s, pair) }
	if !s.Gate.RequireAA || !accept.HasEffects(s) || slices.ContainsFunc(s.Compare, inside) {
		return false, nil
	}
	var verdict stat.Verdict
	if e := q.near.Evidence; e != nil && e.Wanting == "" {
		verdict = e.Said.Verdict
	}
	switch verdict {
	case stat.Pass:
		return false, nil
	case stat.Inconclusive:
		return true, nil
	case stat.Invalid, stat.Fail:
		return false, []view.Finding{view.NewFinding(view.ReasonAAFailed, "the scenario requires a passed A/A, the one beside the campaign says: %s", q.near.AA)}
	}
	return false, []view.Finding{view.NewFinding(view.ReasonAAMissing, "the scenario requires a passed A/A of this workload and server beside the campaign, found: %s", q.near.AA)}
}

package judge

import (
	"github.com/aituner/opprof/report/judge/rates"
	"github.com/aituner/opprof/report/judge/wording"
	"github.com/aituner/opprof/report/view"
)

// wholeCampaigns are simulated for each number of blocks that is tried: the chance of a
// plan is known to 1.5 points then.
const wholeCampaigns = 400

// whole is what a new campaign would need: it passes only if every metric does.
func (q *question) whole(gating []*view.Comparison) *view.Whole {
	j := rates.NewJoint(wording.AllPrimaries(gating), q.rule(), wholeCampaigns)
	if j == nil {
		return nil
	}
	observed := func(p view.Placed) (sd, theta, margin float64) {
		sd, _, margin = rates.AtUpper(p)
		return sd, p.Detail.Mean, margin
	}
	out := &view.Whole{
		Metrics: len(j.Metrics), IfZero: j.Needed(rates.AsSeen, rates.TargetPower, q.planSize),
		IfZeroUpper:     j.Needed(rates.AtUpper, rates.TargetPower, q.planSize),
		IfObservedUpper: j.Needed(observed, rates.TargetPower, q.planSize),
	}
	for _, p := range j.Metrics {
		out.Campaigns = max(out.Campaigns, p.Detail.SDCampaigns)
	}
	return out
}

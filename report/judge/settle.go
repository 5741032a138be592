package judge

import (
	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/scenarios"
)

// settle gives a comparison its verdict by the rule of its purpose.
func settle(in *accept.Accepted, c *view.Comparison) {
	settleGate(c)
	if in.Scenario.Purpose == scenarios.Control && !c.AA && len(c.Invalid)+len(c.Failed) == 0 {
		settleControl(in.Campaign.Plan.Pilot, c)
	}
}

package evidence

import (
	"slices"

	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
)

// Runs lists every attempt and every lost run.
func Runs(c *results.Campaign, all []*accept.Run) (runs []view.Run, lost []view.Aborted) {
	runs = []view.Run{}
	for _, a := range all {
		runs = append(runs, describeRun(c, a))
	}
	for _, e := range c.Aborted {
		why := e.Detail
		if why == "" {
			why = "lost to a crash or an interruption"
		}
		lost = append(lost, view.Aborted{Block: e.Block, Attempt: e.Attempt, Arm: e.Arm, Why: why})
	}
	return runs, lost
}

func describeRun(c *results.Campaign, a *accept.Run) view.Run {
	r := view.Run{Block: a.Key.Block, Attempt: a.Key.Attempt, Arm: a.Key.Arm, Findings: a.Findings, Warnings: a.Warnings}
	switch why, void := c.Voids[a.Key.BlockAttempt()]; {
	case a.Damage != "":
		r.State, r.Why = view.RunDamaged, a.Damage
	case void:
		r.State, r.Why = view.RunVoid, why
	case a.BurnIn:
		r.State = view.RunBurnIn
	case a.Valid && len(a.Findings) > 0:
		r.State, r.Why = view.RunInvalid, "accepted by the harness"
	case a.Valid:
		r.State = view.RunValid
	default:
		r.State = view.RunBlockOpen
	}
	if len(a.Findings) == 0 {
		for _, f := range a.Attempt.Findings {
			r.Warnings = append(slices.Clone(r.Warnings), "found by the harness, not found again: "+f)
		}
	}
	if a.Run != nil {
		r.Position = a.Run.Position + 1
		r.Seconds = a.Run.End.Sub(a.Run.Start).Seconds()
		r.Ready = a.Run.Server.ReadyIn
		if a.Run.Failure != "" {
			r.Warnings = append(slices.Clone(r.Warnings), "ended early ("+string(a.Run.FailureClass)+"): "+a.Run.Failure)
		}
	}
	return r
}

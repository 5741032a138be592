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
		lost = append(lost, view.Aborted{Block: e.Block, Attempt: e.Attempt, Arm: e.Arm, Why: why + sentWords[e.Timed]})
	}
	return runs, lost
}

// sentWords say what an aborted run had sent; ledgers from before that was noted do not.
var sentWords = map[results.Sent]string{
	results.SentYes: "; timed requests had been sent", results.SentNo: "; before its first timed request",
	results.SentUnknown: "; timed requests may have been sent",
}

// describeRun names the rules that a run broke; what was seen is told by the causes
// and the findings of its comparison.
func describeRun(c *results.Campaign, a *accept.Run) view.Run {
	r := view.Run{Block: a.Key.Block, Attempt: a.Key.Attempt, Arm: a.Key.Arm, Warnings: a.Warnings}
	for _, f := range a.Findings {
		r.Findings = with(r.Findings, f.Name)
	}
	r.State, r.Why = stateOf(c, a)
	if len(a.Findings) == 0 {
		for _, f := range a.Attempt.Findings {
			r.Warnings = append(slices.Clone(r.Warnings), "found by the harness, not found again: "+f.String())
		}
	}
	if a.Run != nil {
		r.Position = a.Run.Position + 1
		r.Seconds = a.Run.End.Sub(a.Run.Start).Seconds()
		r.Ready = a.Run.Server.ReadyIn
	}
	return r
}

// stateOf is what a run is worth, and why where its findings do not say it.
func stateOf(c *results.Campaign, a *accept.Run) (view.RunState, string) {
	switch entry, void := c.Voids[a.Key.BlockAttempt()]; {
	case a.Damage != "":
		return view.RunDamaged, ""
	case void && len(entry.Causes) > 0 && len(a.Findings) == 0:
		return view.RunVoid, entry.Rules() // of the runs that took it with them
	case void:
		return view.RunVoid, entry.Detail
	case a.BurnIn:
		return view.RunBurnIn, ""
	case a.Valid && len(a.Findings) > 0:
		return view.RunInvalid, "accepted by the harness"
	case a.Valid:
		return view.RunValid, ""
	}
	return view.RunBlockOpen, ""
}

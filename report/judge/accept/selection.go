package accept

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/selection"
)

// Selection finds what makes a campaign one of chosen runs: more of them were repeated
// than the plan allows, an attempt is void and nothing shows why, or what was aborted is
// not there any more. The ledger says what was repeated; that the harness stopped at the
// limit is not believed. Burn-in is free.
func Selection(c *results.Campaign, runs []*Run) (found []view.Finding) {
	repeats, limit := selection.Count(c.Entries), selection.Limit(c.Plan)
	if repeats.Used > limit {
		found = append(found, view.NewFinding(view.ReasonSelection, "%s, only %d may be repeated", CountRepeats(c, runs).Words(), limit))
	}
	for _, void := range voids(c) {
		if why := groundless(c, runs, void); why != "" {
			found = append(found, view.NewFinding(view.ReasonSelection, "attempt %d of block %s is void, and %s", void.Attempt, void.Block, why))
		}
	}
	for i, a := range c.Lost {
		if a.Damage != "" && !a.BurnIn {
			found = append(found, view.NewFinding(view.ReasonSelection, "the aborted run %s is not what was sealed: %s", c.Aborted[i].Folder, a.Damage))
		}
	}
	return found
}

// voids are the void attempts of planned blocks, in their order.
func voids(c *results.Campaign) []results.BlockAttempt {
	list := slices.DeleteFunc(slices.Collect(maps.Keys(c.Voids)), func(a results.BlockAttempt) bool { return c.Voids[a].BurnIn() })
	slices.SortFunc(list, func(x, y results.BlockAttempt) int {
		return cmp.Or(strings.Compare(x.Block, y.Block), cmp.Compare(x.Attempt, y.Attempt))
	})
	return list
}

// groundless says why an attempt should not be void, or "". Plans of older rules may have
// voided it by a rule that is another one now: it is put back then.
func groundless(c *results.Campaign, runs []*Run, void results.BlockAttempt) string {
	var damage string
	measured, fault, fired := false, false, false
	for _, a := range runs {
		switch {
		case a.Key.BlockAttempt() != void:
			continue
		case a.Damage != "":
			damage = a.Key.String() + ": " + a.Damage
		}
		measured = true
		for _, f := range a.Findings {
			fired = fired || f.Rule != ""
			fault = fault || f.Rule != "" && !f.Rule.PutBack()
		}
	}
	switch {
	case fault || damage == "" && fired || selection.Proven(c.Plan, c.Entries, void):
		return ""
	case damage != "":
		return "its files are not what was sealed: " + damage
	case measured && !selection.VoidsAreReproduced(c.Plan):
		return ""
	case !measured:
		return "nothing was measured in it"
	}
	return "no rule finds anything in its runs"
}

// CountRepeats counts aborted runs and void attempts, by arm; nil if there are none.
func CountRepeats(c *results.Campaign, runs []*Run) *view.Repeats {
	counted := selection.Count(c.Entries)
	if counted.Used == 0 {
		return nil
	}
	out := &view.Repeats{Used: counted.Used, Allowed: selection.Limit(c.Plan), Void: counted.Void}
	for _, arm := range c.Plan.Scenario.Arms {
		n := 0
		for _, void := range voids(c) {
			if slices.ContainsFunc(runs, func(a *Run) bool {
				return a.Key.BlockAttempt() == void && a.Key.Arm == arm.Name && slices.ContainsFunc(a.Findings, func(f Finding) bool { return f.Rule != "" })
			}) {
				n++
			}
		}
		out.Aborted += counted.Aborted[arm.Name]
		out.Arms = append(out.Arms, view.ArmRepeats{Arm: arm.Name, Aborted: counted.Aborted[arm.Name], Void: n})
	}
	return out
}

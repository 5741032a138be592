package accept

import (
	"slices"
	"strings"

	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/selection"
	"github.com/aituner/opprof/scenarios"
)

// Again is a pair of runs of a block beside the accepted one.
type Again struct {
	Block               int    // index in Accepted.Blocks
	Name                string // of the attempt, as its folder is named
	Baseline, Candidate *Run
}

// PutBack are the pairs of a comparison that a phase has beside the accepted ones: void
// attempts in which no fault of the records was found, and aborted runs, each with the
// other arm's run that was lost with it, that ended beside it, or that counts. Both have
// all timed requests of the phase.
func (in *Accepted) PutBack(c *view.Comparison, p scenarios.Phase) (pairs []Again) {
	groups := selection.Interruptions(in.Campaign.Entries)
	for i := range in.Blocks {
		pairs = append(pairs, in.voidPairs(i, c, p)...)
		for k, a := range in.Lost {
			if a.Key.Block != in.Blocks[i].Plan.Name() || !whole(a, p) {
				continue
			}
			pair := Again{Block: i, Name: in.Campaign.Aborted[k].Folder}
			switch a.Key.Arm {
			case c.Baseline:
				pair.Baseline, pair.Candidate = a, in.partner(i, k, groups, c.Candidate, p)
			case c.Candidate:
				pair.Baseline, pair.Candidate = in.partner(i, k, groups, c.Baseline, p), a
			}
			if pair.Baseline != nil && pair.Candidate != nil {
				pairs = append(pairs, pair)
			}
		}
	}
	return pairs
}

// voidPairs are those of the void attempts of a block.
func (in *Accepted) voidPairs(i int, c *view.Comparison, p scenarios.Phase) (pairs []Again) {
	for _, a := range in.Runs {
		if _, void := in.Campaign.Voids[a.Key.BlockAttempt()]; !void || a.Key.Arm != c.Candidate || a.Key.Block != in.Blocks[i].Plan.Name() {
			continue
		}
		base := find(in.Runs, results.Key{Block: a.Key.Block, Attempt: a.Key.Attempt, Arm: c.Baseline})
		if base != nil && usable(a, p) && usable(base, p) {
			pairs = append(pairs, Again{i, nameOf(a.Key.BlockAttempt()), base, a})
		}
	}
	return pairs
}

// partner is the run of an arm that an aborted one, the k-th, is compared with.
func (in *Accepted) partner(i, k int, groups []int, arm string, p scenarios.Phase) *Run {
	key := in.Lost[k].Key
	for j, a := range in.Lost {
		if groups[j] == groups[k] && a.Key.Block == key.Block && a.Key.Arm == arm && whole(a, p) {
			return a
		}
	}
	key.Arm = arm
	if a := find(in.Runs, key); a != nil && usable(a, p) {
		return a
	}
	if a := in.Blocks[i].Runs[arm]; whole(a, p) {
		return a
	}
	return nil
}

func find(runs []*Run, key results.Key) *Run {
	if i := slices.IndexFunc(runs, func(a *Run) bool { return a.Key == key }); i >= 0 {
		return runs[i]
	}
	return nil
}

// usable runs are whole, and no rule found a fault in their records.
func usable(a *Run, p scenarios.Phase) bool {
	return whole(a, p) && !slices.ContainsFunc(a.Findings, func(f Finding) bool { return f.Rule != "" && !f.Rule.PutBack() })
}

// whole reports whether a run has all timed requests of a phase, each as it was asked for.
func whole(a *Run, p scenarios.Phase) bool {
	if a.Run == nil || a.Phase(p.Name) == nil {
		return false
	}
	done := map[int]bool{}
	for i := range a.Requests {
		if r := &a.Requests[i]; r.Phase == p.Name && !r.Warmup && r.OK() && r.OutputTokens == r.WantTokens {
			done[r.Index] = true
		}
	}
	return len(done) == p.Source.Requests
}

// nameOf names an attempt as its folder is named.
func nameOf(a results.BlockAttempt) string {
	return strings.TrimSuffix(results.Key{Block: a.Block, Attempt: a.Attempt}.Dir(), "/")
}

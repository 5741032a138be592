// Package accept examines every run of a campaign and collects the blocks that
// count, with everything that speaks against the choice.
package accept

import (
	"fmt"
	"slices"

	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// Accepted is what a verdict is made from: the blocks of a campaign that count,
// and what speaks against the choice. It is not changed once it is made.
type Accepted struct {
	Campaign *results.Campaign
	Scenario *scenarios.Scenario
	Runs     []*Run  // every sealed run, in running order
	Lost     []*Run  // aborted runs, in the order of Campaign.Aborted
	Blocks   []Block // burn-in left out, in the plan's order
	// Alone are accepted too, but each is the only block of its host: nothing is
	// known about the noise there, so they are shown and not pooled.
	Alone []Block
	// HostNumber numbers the host groups in order of appearance, from 1.
	HostNumber map[string]int
	Planned    int // blocks, burn-in left out
	// Findings hold for every comparison.
	Findings []view.Finding
}

// HasEffects reports whether a campaign has effects at all.
func HasEffects(s *scenarios.Scenario) bool { return s.Purpose != scenarios.Correctness }

// Blocks collects the blocks that the harness accepted, among runs that
// were examined. It trusts that choice only where exactly one attempt with every
// arm is there.
func Blocks(c *results.Campaign, runs []*Run) *Accepted {
	in := &Accepted{Campaign: c, Scenario: &c.Plan.Scenario, Runs: runs, Lost: examineLost(c), HostNumber: map[string]int{}}
	for _, planned := range c.Plan.Blocks {
		if planned.BurnIn {
			continue
		}
		in.Planned++
		if k := in.accept(planned); k != nil {
			in.Blocks = append(in.Blocks, *k)
		}
	}
	in.separateHosts()
	return in
}

// accept returns the accepted runs of a planned block; nil if it has none, or not
// one of every arm.
func (in *Accepted) accept(planned results.Block) *Block {
	k := Block{Plan: planned, Runs: map[string]*Run{}}
	for _, a := range in.Runs {
		if !a.Valid || a.Key.Block != planned.Name() {
			continue
		}
		if k.Runs[a.Key.Arm] != nil {
			in.invalid(view.ReasonTwoAccepted, "block %s: arm %s was accepted twice, choosing one would be selection", planned.Name(), a.Key.Arm)
		}
		k.Runs[a.Key.Arm] = a
	}
	if len(k.Runs) == 0 {
		return nil
	}
	if arm := k.missing(); arm != "" {
		in.invalid(view.ReasonIncomplete, "block %s was accepted without a run of arm %s", planned.Name(), arm)
		return nil
	}
	in.checkOrder(&k)
	return &k
}

// checkOrder compares the order in which the servers started with the plan's.
func (in *Accepted) checkOrder(k *Block) {
	for i, arm := range k.Plan.Order {
		if run := k.Runs[arm].Run; run != nil && run.Position != i {
			in.invalid(view.ReasonOrder, "block %s: arm %s ran in place %d, planned in place %d", k.Plan.Name(), arm, run.Position+1, i+1)
		}
	}
}

func (in *Accepted) invalid(name view.Reason, format string, args ...any) {
	in.Findings = view.Merge(in.Findings, view.Finding{Name: name, Detail: fmt.Sprintf(format, args...)})
}

// All are the accepted blocks, also those that are not pooled.
func (in *Accepted) All() []Block { return slices.Concat(in.Blocks, in.Alone) }

// Names joins the names of blocks, given by their index.
func (in *Accepted) Names(index []int) string {
	names := ""
	for i, k := range index {
		if i > 0 {
			names += ", "
		}
		names += in.Blocks[k].Plan.Name()
	}
	return names
}

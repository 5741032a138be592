// Package selection counts what a campaign measured again, from its ledger alone: the
// harness stops at the limit, and the report holds every campaign to the same one.
// Whoever may choose which runs count has no error rate.
package selection

import (
	"slices"

	"github.com/aituner/opprof/results"
)

// Repeats counts aborted runs and void attempts, burn-in left out. The zero value is
// that of an empty ledger.
type Repeats struct {
	// Used is how many repeats were needed: one for each interruption of a block, however
	// many of its runs were lost, and one for each void attempt that did not come of one.
	Used    int
	Aborted map[string]int // runs by arm
	Void    int            // attempts of blocks

	open map[results.Key]bool              // started and not ended
	lost map[results.BlockAttempt][]string // arms of the interruption since the last start
}

// Limit is how many repeats a plan allows: a third of its blocks, rounded up.
func Limit(p *results.Plan) int { return (p.Scenario.Design.Blocks + 2) / 3 }

// Count goes through a ledger.
func Count(entries []results.Entry) *Repeats {
	r := &Repeats{}
	for _, e := range entries {
		r.Add(e)
	}
	return r
}

// Add takes the next entry of the ledger.
func (r *Repeats) Add(e results.Entry) {
	if e.BurnIn() {
		return
	}
	if r.open == nil {
		r.open, r.lost, r.Aborted = map[results.Key]bool{}, map[results.BlockAttempt][]string{}, map[string]int{}
	}
	attempt := e.Key().BlockAttempt()
	switch e.Event {
	case results.EventRunStart:
		if r.open[e.Key()] { // no entry says how the run before it ended
			r.abort(e)
		}
		r.open[e.Key()] = true
		delete(r.lost, attempt)
	case results.EventRunEnd:
		delete(r.open, e.Key())
	case results.EventRunAbort:
		delete(r.open, e.Key())
		r.abort(e)
	case results.EventBlockVoid:
		r.Void++
		if r.lost[attempt] == nil {
			r.Used++
		}
	}
}

// abort counts a lost run. Runs of a block that are lost together differ in their arms.
func (r *Repeats) abort(e results.Entry) {
	attempt := e.Key().BlockAttempt()
	r.Aborted[e.Arm]++
	if together := r.lost[attempt]; together == nil || slices.Contains(together, e.Arm) {
		r.Used++
		r.lost[attempt] = nil
	}
	r.lost[attempt] = append(r.lost[attempt], e.Arm)
}

// Interruptions tells the runs that were lost together: for each entry of the ledger
// that aborts a run, in order, the number of its interruption.
func Interruptions(entries []results.Entry) (numbers []int) {
	r := &Repeats{}
	for _, e := range entries {
		r.Add(e)
		if e.Event == results.EventRunAbort {
			numbers = append(numbers, r.Used)
		}
	}
	return numbers
}

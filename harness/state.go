package harness

import (
	"slices"
	"time"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/selection"
)

// state is what the ledger says, and nothing else.
type state struct {
	plan        *results.Plan
	ended       map[results.Key][]results.Cause // sealed runs and their findings
	valid       map[string]bool                 // blocks
	voids       map[string]int                  // void attempts by block
	repeats     selection.Repeats
	open        []results.Key   // runs that were started and not ended
	started     time.Time       // of the last one
	recent      []time.Duration // of the last runs, or interleaved blocks
	total       time.Duration   // of all runs
	fingerprint string
	complete    bool

	begun    map[string]bool        // blocks of which a run was started
	where    map[results.Key]string // host group of every sealed run
	groups   []string               // host groups in order of appearance
	group    string                 // of the last session, with its software
	software map[string]string
	looked   map[int]bool // looks that were made, by blocks
	stopped  bool         // a look ended the campaign
}

func replay(plan *results.Plan, entries []results.Entry) *state {
	s := &state{plan: plan, ended: map[results.Key][]results.Cause{}, valid: map[string]bool{}, voids: map[string]int{},
		begun: map[string]bool{}, where: map[results.Key]string{}, looked: map[int]bool{}}
	for _, e := range entries {
		s.apply(e)
	}
	return s
}

func (s *state) apply(e results.Entry) {
	s.repeats.Add(e)
	switch e.Event {
	case results.EventSession:
		s.enterGroup(e)
	case results.EventRunStart:
		s.open, s.started = append(s.open, e.Key()), e.Time
		s.begun[e.Block] = true
	case results.EventRunEnd:
		s.close(e.Key())
		s.ended[e.Key()] = e.Findings
		s.where[e.Key()] = s.group
		d := e.Time.Sub(s.started)
		s.recent = append(s.recent[max(0, len(s.recent)-recentRuns+1):], d)
		s.total += d / s.atOnce()
	case results.EventRunAbort:
		s.close(e.Key())
	case results.EventBlockValid:
		s.valid[e.Block] = true
	case results.EventBlockVoid:
		s.voids[e.Block]++
	case results.EventLook:
		s.looked[e.Blocks] = true
		s.stopped = e.Follows == results.FollowsStop
	case results.EventComplete, results.EventClose:
		s.complete = true
	}
}

// recentRuns is how many runs say how long the next one takes: few enough that
// a first start, which compiles for minutes, is soon forgotten.
const recentRuns = 3

// next is how long the next run may take, 0 if that is unknown.
func (s *state) next() time.Duration {
	if len(s.recent) == 0 {
		return 0
	}
	return slices.Max(s.recent)
}

func (s *state) close(k results.Key) {
	s.open = slices.DeleteFunc(s.open, func(open results.Key) bool { return open == k })
}

// atOnce is how many runs share their time.
func (s *state) atOnce() time.Duration {
	if s.plan.Scenario.Design.Interleaved() {
		return time.Duration(len(s.plan.Scenario.Arms))
	}
	return 1
}

// burnInAttempts: a burn-in block that is void is repeated once and then left.
const burnInAttempts = 2

// decided reports whether nothing is left to do for a block.
func (s *state) decided(b results.Block) bool {
	return s.valid[b.Name()] || b.BurnIn && s.voids[b.Name()] >= burnInAttempts
}

// attempt is the number of the block's current attempt, from 1.
func (s *state) attempt(b results.Block) int { return s.voids[b.Name()] + 1 }

func (s *state) has(k results.Key) bool { _, ok := s.ended[k]; return ok }

func (s *state) findings(k results.Key) []results.Cause { return s.ended[k] }

// exhausted reports whether more was void or aborted than may be repeated.
func (s *state) exhausted() bool { return s.repeats.Used > selection.Limit(s.plan) }

// done counts the sealed runs of decided blocks and all runs of the plan, with
// the burn-in blocks of the current host group.
func (s *state) done() (done, total int) {
	for _, b := range s.blocks() {
		total += len(b.Order)
		switch {
		case s.decided(b):
			done += len(b.Order)
		default:
			for _, arm := range b.Order {
				if s.has(results.Key{Block: b.Name(), Attempt: s.attempt(b), Arm: arm}) {
					done++
				}
			}
		}
	}
	if s.stopped {
		total = done // a look made the other blocks needless
	}
	return done, total
}

package harness

import (
	"cmp"
	"fmt"
	"time"

	"github.com/aituner/opprof/results"
)

// Status is where a campaign stands: counts and health, never effects.
type Status struct {
	Done, Runs int    // runs of the plan
	Run        string // "block 3/6 on, attempt 1", empty between runs
	Doing      string // "starting server", "phase wide", ...
	Last       string // the last event in words
	// Left is the estimated time to the end, 0 while unknown.
	Left time.Duration
}

func (c *campaign) observe() {
	if c.opt.Observe == nil {
		return
	}
	st := &c.status
	st.Done, st.Runs = c.state.done()
	st.Left = 0
	if n := len(c.state.ended); n > 0 && !c.state.stopped && !c.state.complete {
		mean := c.state.total/time.Duration(n) + c.plan.Scenario.Design.Cooldown
		st.Left = mean * time.Duration(st.Runs-st.Done)
	}
	if entries := c.ledger.Entries(); len(entries) > 0 {
		st.Last = Describe(entries)
	}
	c.opt.Observe(*st)
}

// Describe says in one line what the last of a ledger's entries means. A cause that
// an earlier run had is not told again.
func Describe(entries []results.Entry) string {
	e := entries[len(entries)-1]
	switch e.Event {
	case results.EventSession:
		return "session begins"
	case results.EventRunStart:
		return fmt.Sprintf("run %s starts", e.Key())
	case results.EventRunEnd:
		return describeEnd(entries[:len(entries)-1], e)
	case results.EventRunAbort:
		return fmt.Sprintf("run %s lost: %s", e.Key(), e.Detail)
	case results.EventBlockValid:
		return fmt.Sprintf("block %s valid", e.Block)
	case results.EventBlockVoid:
		return fmt.Sprintf("block %s attempt %d void: %s", e.Block, e.Attempt, cmp.Or(e.Detail, e.Rules()))
	case results.EventLook:
		return describeLook(e)
	case results.EventStop:
		return "stopped: " + e.Detail
	case results.EventComplete:
		return "complete"
	case results.EventClose:
		return "closed before the end: " + e.Detail
	}
	return string(e.Event)
}

func describeEnd(before []results.Entry, e results.Entry) string {
	if len(e.Findings) == 0 {
		return fmt.Sprintf("run %s done", e.Key())
	}
	found := e.Findings[0]
	for _, old := range before {
		if len(old.Findings) > 0 && old.Findings[0].Rule == found.Rule && old.Findings[0].Kin() == found.Kin() {
			return fmt.Sprintf("run %s is INVALID like run %s", e.Key(), old.Key())
		}
	}
	return fmt.Sprintf("run %s is INVALID: %s", e.Key(), found.Brief())
}

// Progress reads where a campaign stands from its run directory alone.
func Progress(dir string) (*results.Plan, Status, []results.Entry, error) {
	plan, err := results.ReadPlan(dir)
	if err != nil {
		return nil, Status{}, nil, err
	}
	entries, err := results.ReadLedger(results.LedgerPath(dir))
	if err != nil {
		return nil, Status{}, nil, err
	}
	s := replay(plan, entries)
	st := Status{}
	st.Done, st.Runs = s.done()
	if len(s.open) > 0 {
		st.Run = s.open[0].String()
	}
	if n := len(s.ended); n > 0 && !s.stopped && !s.complete {
		st.Left = s.total / time.Duration(n) * time.Duration(st.Runs-st.Done)
	}
	if len(entries) > 0 {
		st.Last = Describe(entries)
	}
	return plan, st, entries, nil
}

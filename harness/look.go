package harness

import (
	"errors"
	"fmt"
	"slices"

	"github.com/aituner/opprof/results"
)

// Judgement is what a planned look at an unfinished campaign found. It holds no
// effects: who sees them is tempted to stop early.
type Judgement struct {
	Verdict string // PASS, FAIL, INCONCLUSIVE, INVALID
	Stop    bool   // the verdict ends the campaign
}

// errNoJudge is a fault of the caller.
var errNoJudge = errors.New("the plan has several looks, and Options.Look is not set")

// severalLooks reports whether the campaign can end before its last block.
func severalLooks(p *results.Plan) bool { return len(p.Scenario.Design.Looks) > 1 }

// missedLooks makes the look that is due if the last session died between a
// block and its look. It refuses a ledger that went on without one.
func (c *campaign) missedLooks() error {
	for _, b := range c.plan.Blocks {
		if c.state.due(b) == 0 {
			continue
		}
		if later := c.state.begunAfter(b); later != "" {
			return fmt.Errorf("%w: block %s ran without the look planned after block %s", ErrRefused, later, b.Name())
		}
		if err := c.lookAfter(b); err != nil {
			return err
		}
	}
	return nil
}

// lookAfter makes the look that is planned after a block, if there is one, and
// writes what follows from it before anything else happens.
func (c *campaign) lookAfter(b results.Block) error {
	number := c.state.due(b)
	if number == 0 {
		return nil
	}
	j, err := c.opt.Look(c.dir, b.Number)
	if err != nil {
		return fmt.Errorf("look %d, after %d blocks: %w", number, b.Number, err)
	}
	follows := results.FollowsOn
	switch {
	case number == len(c.plan.Scenario.Design.Looks):
		follows = results.FollowsEnd
	case j.Stop:
		follows = results.FollowsStop
	}
	return c.append(results.Entry{Event: results.EventLook, Look: number, Blocks: b.Number, Verdict: j.Verdict, Follows: follows})
}

// due is the number, from 1, of the look that follows a valid block and was not
// made yet; 0: none.
func (s *state) due(b results.Block) int {
	if b.BurnIn || !s.valid[b.Name()] || !severalLooks(s.plan) || s.looked[b.Number] || s.stopped {
		return 0
	}
	return 1 + slices.Index(s.plan.Scenario.Design.Looks, b.Number)
}

// begunAfter names a block that was run after another one, "" if none was.
func (s *state) begunAfter(b results.Block) string {
	for _, later := range s.plan.Blocks {
		if !later.BurnIn && later.Number > b.Number && s.begun[later.Name()] {
			return later.Name()
		}
	}
	return ""
}

// describeLook names the verdict only where it ended the campaign.
func describeLook(e results.Entry) string {
	text := fmt.Sprintf("look %d, after %d blocks: ", e.Look, e.Blocks)
	switch e.Follows {
	case results.FollowsStop:
		return text + e.Verdict + ", nothing more to run"
	case results.FollowsEnd:
		return text + "the last one"
	}
	return text + "undecided, goes on"
}

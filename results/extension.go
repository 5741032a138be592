package results

import (
	"fmt"
	"strconv"
	"strings"
)

// Extension says how a closed plan was extended, or "". The number of blocks and
// the looks are fixed before the first run; whoever adds blocks until the result
// pleases has no error rate.
func Extension(p *Plan, entries []Entry) string {
	if why := editedPlan(p, entries); why != "" {
		return why
	}
	return extraRuns(p, entries)
}

// editedPlan finds a plan.json that is not the one which the campaign began with.
func editedPlan(p *Plan, entries []Entry) string {
	planned := 0
	for _, b := range p.Blocks {
		if !b.BurnIn {
			planned++
		}
	}
	d := p.Scenario.Design
	if planned != d.Blocks {
		return fmt.Sprintf("plan.json was edited: it lists %d blocks, its scenario says %d", planned, d.Blocks)
	}
	if n := len(d.Looks); n > 0 && d.Looks[n-1] != planned {
		return fmt.Sprintf("plan.json was edited: its last look comes after %d blocks, it lists %d", d.Looks[n-1], planned)
	}
	for _, e := range entries {
		if e.PlanSHA256 != "" && p.FileSHA256 != "" && e.PlanSHA256 != p.FileSHA256 {
			return fmt.Sprintf("plan.json is not the one that entry %d of the ledger began with: SHA-256 %.12s, then %.12s",
				e.Seq, p.FileSHA256, e.PlanSHA256)
		}
	}
	return ""
}

// extraRuns finds runs after the end and runs of blocks that the plan lacks.
func extraRuns(p *Plan, entries []Entry) string {
	ended := ""
	hosts := map[string]bool{}
	for _, e := range entries {
		switch e.Event {
		case EventSession:
			if e.HostGroup != "" {
				hosts[e.HostGroup] = true
			}
		case EventLook:
			if e.Follows == FollowsStop {
				ended = fmt.Sprintf("the look at %d blocks, which decided", e.Blocks)
			}
		case EventComplete:
			ended = "the campaign was complete"
		case EventClose:
			ended = "the campaign was closed"
		case EventRunStart, EventRunEnd:
			if ended != "" {
				return fmt.Sprintf("run %s came after %s", e.Key(), ended)
			}
			if !p.has(e.Block, max(1, len(hosts))) {
				return fmt.Sprintf("run %s is of a block that is not in the plan", e.Key())
			}
		}
	}
	return ""
}

// has reports whether a block is in the plan. Every host group has as many
// burn-in blocks of its own as the plan lists.
func (p *Plan) has(block string, hosts int) bool {
	for _, b := range p.Blocks {
		if b.Name() == block {
			return true
		}
	}
	number, burnIn := strings.CutPrefix(block, burnInPrefix)
	n, err := strconv.Atoi(number)
	return burnIn && err == nil && n >= 1 && n <= p.BurnInBlocks()*hosts
}

package selection

import (
	"strconv"

	"github.com/aituner/opprof/results"
)

// Proven reports whether the ledger itself shows why an attempt is void, so that no rule
// needs to find anything in its runs: the session ended between the runs of an
// interleaved block, or the block had been begun in another host group.
func Proven(p *results.Plan, entries []results.Entry, void results.BlockAttempt) bool {
	session, group := 0, ""
	var ended []sealed
	for _, e := range entries {
		switch {
		case e.Event == results.EventSession:
			session, group = session+1, e.HostGroup
		case e.Key().BlockAttempt() != void:
		case e.Event == results.EventRunEnd:
			ended = append(ended, sealed{session, group})
		case e.Event == results.EventBlockVoid:
			return cut(p, ended, session) || moved(ended, group)
		}
	}
	return false
}

// sealed is where a run ended.
type sealed struct {
	session int
	group   string // of hosts
}

// cut reports whether some, but not all, runs of an interleaved block ended in an
// earlier session.
func cut(p *results.Plan, ended []sealed, session int) bool {
	if !p.Scenario.Design.Interleaved() || len(ended) == 0 || len(ended) >= len(p.Scenario.Arms) {
		return false
	}
	for _, s := range ended {
		if s.session >= session {
			return false
		}
	}
	return true
}

// moved reports whether a run ended in another host group.
func moved(ended []sealed, group string) bool {
	for _, s := range ended {
		if s.group != "" && s.group != group {
			return true
		}
	}
	return false
}

// rulesOfVoids are the analysis rules from which on a void attempt has to be reproduced.
const rulesOfVoids = 3

// VoidsAreReproduced reports whether every void attempt of a plan has to have a rule that
// finds something: the rules that it was voided by are those that it is judged by.
func VoidsAreReproduced(p *results.Plan) bool {
	rules, err := strconv.Atoi(p.Rules)
	return err != nil || rules >= rulesOfVoids
}

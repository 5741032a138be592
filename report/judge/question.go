package judge

import (
	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/judge/evidence"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// question is a campaign that is to be judged, with all that was read of it.
// Nothing changes it: each step takes it and returns what it found.
type question struct {
	campaign *results.Campaign
	runs     []*accept.Run
	near     evidence.Nearby
	// found before the runs were asked, in the order of precedence
	found []view.Finding
	notes []string
	tool  string
	alpha float64 // one-sided error of each bound
	past  bool    // as at an earlier look
}

// severalLooks reports whether a campaign can end before its last block.
func severalLooks(s *scenarios.Scenario) bool { return len(s.Design.Looks) > 1 }

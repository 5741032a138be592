package rates

import (
	"fmt"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/scenarios"
)

// Of the simulated campaigns that report/stat/CALIBRATION.md lists; a test holds the
// texts against that file.
const (
	badStarts = "With rare bad starts there is no such bound (at n = 6 / 8 / 10: 26 / 17 / 11 % where one start in five is 16 % slower)"
)

// Words are the stated error of a result, which is a rate over campaigns and never
// the chance that this one is wrong. They are empty where the result rests on no
// interval: controls, INVALID, checks, and FAIL of outputs or reliability. alpha is
// the one-sided error of each bound.
func Words(r view.Result, s *scenarios.Scenario, alpha float64) string {
	const given = "If blocks are independent and their noise symmetric, "
	switch {
	case s.Purpose == scenarios.Control || s.Purpose == scenarios.Correctness || r.Verdict == stat.Invalid:
		return ""
	case r.Is(stat.Fail, ""):
		return fmt.Sprintf(given+"a campaign in which nothing costs more than the margin FAILs in at most %s %% of campaigns", view.Plain(failPct(s, alpha)))
	case r.Verdict == stat.Fail:
		return ""
	}
	return fmt.Sprintf(given+"a cost of exactly the margin passes in at most %s %% of campaigns. %s", view.Plain(50*(1-s.Gate.Confidence)), badStarts)
}

// failPct is the error of FAIL: that of both sides, at every look.
func failPct(s *scenarios.Scenario, alpha float64) float64 {
	return float64(int(1000*2*alpha*float64(len(s.Design.Looks))+0.5)) / 10
}

package rates_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/aituner/opprof/report/judge/rates"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/scenarios"
)

func scenario(purpose scenarios.Purpose, looks ...int) *scenarios.Scenario {
	return &scenarios.Scenario{Purpose: purpose, Design: scenarios.Design{Looks: looks}, Gate: scenarios.Gate{Margin: 0.03, Confidence: 0.95}}
}

// The words are a share of campaigns under a condition; what rests on no interval has
// none, and neither has a campaign whose numbers count for nothing.
func TestWordsOfTheErrorRate(t *testing.T) {
	one := scenario(scenarios.Overhead, 10)
	passes := rates.Words(view.NewResult(stat.Pass, ""), one, .025)
	assert.Equal(t, "If blocks are independent and their noise symmetric, a cost of exactly the margin passes in at most 2.5 % of campaigns. "+
		"With rare bad starts there is no such bound (at n = 6 / 8 / 10: 26 / 17 / 11 % where one start in five is 16 % slower)", passes)
	for _, r := range []view.Result{{}, view.NewResult(stat.Inconclusive, ""), view.NewResult(stat.Inconclusive, view.ReasonStalls)} {
		assert.Equal(t, passes, rates.Words(r, one, .025))
	}
	fails := rates.Words(view.NewResult(stat.Fail, ""), one, .025)
	assert.Contains(t, fails, "nothing costs more than the margin FAILs in at most 5 % of campaigns")
	assert.Contains(t, rates.Words(view.NewResult(stat.Fail, ""), scenario(scenarios.Overhead, 10, 20), .01433), "at most 5.7 % of campaigns", "2 looks of 2 · 1.433 %")
	for _, r := range []view.Result{view.NewResult(stat.Invalid, view.ReasonProbeLag), view.NewResult(stat.Fail, view.ReasonIdentity), view.NewResult(stat.Fail, view.ReasonReliability)} {
		assert.Empty(t, rates.Words(r, one, .025), r)
	}
	for _, v := range []stat.Verdict{stat.Pass, stat.Fail, stat.Inconclusive, stat.Invalid, ""} {
		assert.Empty(t, rates.Words(view.NewResult(v, view.ReasonControl), scenario(scenarios.Control, 6), .025))
		assert.Empty(t, rates.Words(view.NewResult(v, ""), scenario(scenarios.Correctness, 1), .025))
	}
	half := scenario(scenarios.Overhead, 10)
	half.Gate.Confidence = 0.9
	assert.Contains(t, rates.Words(view.NewResult(stat.Pass, ""), half, .05), "in at most 5 % of campaigns")
}

package validity

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/results"
)

// Where the plan does not say how long prompts and outputs are, the runs say it to
// each other: most of them are right, of equally many the first.
func TestWorkIsComparedBetweenRuns(t *testing.T) {
	all := healthyCampaign()
	assert.Empty(t, CompareWork(healthyPlan(), all))
	shorter := func(a *results.Attempt) {
		a.Requests[2].WantTokens, a.Requests[2].OutputTokens = 15, 15
	}
	shorter(&all[3])
	found := CompareWork(healthyPlan(), all)
	require.Len(t, found, 1)
	assert.Equal(t, []string{"0002/on", "on", "wide", "work-differs"}, []string{found[0].Key.String(), found[0].Arm, found[0].Phase, string(found[0].Rule)})
	assert.Contains(t, found[0].Message, "not those of 0001/off: 1 of 5 requests differ, the first is request 2 (timed, prompt of 0 tokens, asks for 15), not request 2")
	assertReads(t, found[0].Message)

	all = healthyCampaign()
	for _, i := range []int{0, 2, 4, 6} { // the whole baseline: which of the arms is right cannot be told
		shorter(&all[i])
	}
	found = CompareWork(healthyPlan(), all)
	require.Len(t, found, 4)
	assert.Equal(t, "on", found[0].Arm)
	for _, i := range []int{0, 2, 4, 6} {
		all[i].Requests[0].PromptTokens = 99
	}
	assert.Contains(t, CompareWork(healthyPlan(), all)[0].Message, "2 of 5 requests differ")
}

// A run that is judged for its failures is not judged for its work as well, and a
// plan that has the lengths is asked instead.
func TestWorkOfBrokenRunsIsNotCompared(t *testing.T) {
	for what, edit := range map[string]func(p *results.Plan, a *results.Attempt){
		"failed": func(_ *results.Plan, a *results.Attempt) { a.Requests[2].Error = "EOF" },
		"unsent": func(_ *results.Plan, a *results.Attempt) { a.Run.Phases[0].Unsent = 1 },
		"ended":  func(_ *results.Plan, a *results.Attempt) { a.Run.Failure = "the server ended" },
		"damage": func(_ *results.Plan, a *results.Attempt) { *a = results.Attempt{Key: a.Key, Damage: "lost"} },
		"plan":   func(p *results.Plan, _ *results.Attempt) { p.ShapeSHA256 = map[string]string{"wide": "x"} },
	} {
		plan, all := healthyPlan(), healthyCampaign()
		all[3].Requests[2].WantTokens = 15
		require.Len(t, CompareWork(plan, all), 1, what)
		edit(plan, &all[3])
		assert.Empty(t, CompareWork(plan, all), what)
	}
}

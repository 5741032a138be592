package judge_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/internal/forms"
	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/report/judge"
	"github.com/aituner/opprof/report/render"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
)

// failing voids the first attempts of two blocks and breaks all their runs.
func failing(t *testing.T, fault func(r *trial.Recorded)) *trial.Trial {
	tr := trial.New(t, 6)
	tr.Void = map[string]string{"0002": "noise", "0005": "noise"}
	tr.Edit = func(r *trial.Recorded) {
		if k := r.Run.Key; k.Attempt == 1 && tr.Void[k.Block] != "" {
			fault(r)
		}
	}
	return tr
}

// What differs in its numbers only is one cause; a row of a run has no more than the
// rule's name, and a list no more than a line.
func TestACauseIsToldOnceOverAllRuns(t *testing.T) {
	t.Parallel()
	port := 4000
	v := forms.Build(t, failing(t, func(r *trial.Recorded) {
		port++
		r.Requests[3].Error = fmt.Sprintf("dial tcp 127.0.0.1:%d: connection refused", port)
	}).Write(t.TempDir()))
	assert.Equal(t, "PASS", v.Headline())
	var refused *view.Cause
	for i := range v.Causes {
		if v.Causes[i].Names[0] == "request failed" {
			refused = &v.Causes[i]
		}
	}
	require.NotNil(t, refused)
	assert.Equal(t, []string{"off", "on"}, ordered(refused.Arms))
	assert.Len(t, refused.Runs, 4)
	assert.Equal(t, "first of 4 attempts of 2 arms", refused.Place())
	for _, form := range forms.Forms {
		text := forms.Render(t, v, form.Write)
		assert.Equal(t, 1, strings.Count(text, "connection refused"), form.Extension)
	}
	text := forms.Render(t, v, render.WriteText)
	assert.Contains(t, trial.OneLine(text), "cause request failed: 1 of 13 requests of phase single failed, the first is request 3: dial tcp 127.0.0.1:4001: connection refused")
	for _, r := range v.Runs {
		if r.State == view.RunVoid {
			assert.Contains(t, r.Findings, view.Reason("request failed"))
		}
	}
}

func ordered(arms []string) []string {
	if len(arms) == 2 && arms[0] > arms[1] {
		return []string{arms[1], arms[0]}
	}
	return arms
}

// A refusal with another status is another cause, and the one that voided more runs
// comes first.
func TestOtherCausesStayApart(t *testing.T) {
	t.Parallel()
	v := forms.Build(t, failing(t, func(r *trial.Recorded) {
		r.Run.Failure, r.Run.FailureClass = "phase single: status 503: busy", results.FailureEngine
		if r.Run.Key.String() == "0002/on" {
			r.Run.Failure = "phase single: status 500: dead"
		}
	}).Write(t.TempDir()))
	require.Len(t, v.Causes, 2)
	assert.Equal(t, "run failed: the run ended early: phase single: status 503: busy; see server.log.zst of the run (3 attempts of 2 arms)", v.Causes[0].Line())
	assert.Contains(t, v.Causes[1].Line(), "status 500: dead; see server.log.zst of the run (0002/on)")
}

// Rules that quote the same words are told by these words.
func TestRulesThatQuoteTheSameAreOneCause(t *testing.T) {
	t.Parallel()
	v := forms.Build(t, failing(t, func(r *trial.Recorded) {
		r.Requests[3].Error = "status 401: Unauthorized"
		r.Run.Failure = "identity pass, prompt 0: status 401: Unauthorized"
	}).Write(t.TempDir()))
	require.NotEmpty(t, v.Causes)
	assert.Equal(t, "run failed, request failed: status 401: Unauthorized (4 attempts of 2 arms)", v.Causes[0].Line())
}

// FAIL(reliability) rests on a cause and tells it: no list repeats it.
func TestReliabilityTellsItsCause(t *testing.T) {
	t.Parallel()
	v := forms.Build(t, failing(t, func(r *trial.Recorded) {
		if r.Run.Key.Arm == "on" {
			r.Run.Failure, r.Run.FailureClass = "the server exited with 1", results.FailureEngine
		}
	}).Write(t.TempDir()))
	require.Equal(t, "FAIL(reliability)", v.Headline())
	assert.Contains(t, v.Sentence, "on failed by its own fault in 2 runs and off in none; first 0002/on: the run ended early: the server exited with 1")
	for _, form := range forms.Forms {
		if form.Extension != "json" { // which is data
			assert.Equal(t, 1, strings.Count(forms.Render(t, v, form.Write), "the server exited with 1"), form.Extension)
		}
	}
}

// A run that went with its block says so, and which arm was at fault.
func TestRunThatWentWithItsBlock(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 6)
	tr.Void = map[string]string{"0002": "noise"}
	dir := tr.Write(t.TempDir())
	c, err := results.Load(dir)
	require.NoError(t, err)
	c.Voids[results.BlockAttempt{Block: "0002", Attempt: 1}] = results.Entry{Causes: []results.Cause{{Rule: "no-footer", Arm: "on", Message: "lost"}}}
	v, err := judge.Build(c, "test")
	require.NoError(t, err)
	text := forms.Render(t, v, render.WriteText)
	assert.Regexp(t, "run +0002/o.+, 0002/o.+ attempt 1: void: no footer in on\n", text)
}

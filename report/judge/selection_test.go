package judge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/internal/forms"
	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/page"
	"github.com/aituner/opprof/report/render"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// late makes the client of a run later than is allowed: a rule that is put back.
func late(r *trial.Recorded) { r.Run.Phases[0].Client.ProbeLagP99 = 0.1 }

// firstAttempt edits the first attempt of a block.
func firstAttempt(block string, edit func(*trial.Recorded)) func(*trial.Recorded) {
	return func(r *trial.Recorded) {
		if r.Run.Key.Block == block && r.Run.Key.Attempt == 1 {
			edit(r)
		}
	}
}

// slowIn slows one run by 20 %.
func slowIn(key string) func(results.Key) float64 {
	return func(k results.Key) float64 {
		if k.String() == key {
			return 0.18
		}
		return 0
	}
}

func aborts(n int, arm string) (list []results.Entry) {
	for range n {
		list = append(list, results.Entry{Event: results.EventRunAbort, Block: "0003", Attempt: 1, Arm: arm, Detail: "signal interrupt"})
	}
	return list
}

// Whoever chooses which runs count passes anything: each of these campaigns passed, or
// failed, while what was repeated counted for nothing.
func TestNoRunsAreChosen(t *testing.T) {
	for _, c := range []struct {
		name, want string
		say        string // in the first lines
		edit       func(*trial.Trial)
	}{
		{"nothing was repeated", "PASS", "", func(*trial.Trial) {}},
		{"thirty aborts of the candidate", "INVALID(selection)", "30 aborted runs (on 30, off 0), only 2 may be repeated",
			func(tr *trial.Trial) {
				tr.After = func(dir string) { tr.InsertEntries(dir, aborts(30, "on")...) }
			}},
		{"one abort too many", "INVALID(selection)", "3 aborted runs (on 3, off 0), only 2 may", func(tr *trial.Trial) {
			tr.After = func(dir string) { tr.InsertEntries(dir, aborts(3, "on")...) }
		}},
		{"aborts within the limit, of which nothing is known", "PASS", "2 aborted runs (on 2, off 0); nothing of it is put back", func(tr *trial.Trial) {
			tr.After = func(dir string) { tr.InsertEntries(dir, aborts(2, "on")...) }
		}},
		{"aborts whose entries were cut out of the ledger", "INVALID(selection)", "3 aborted runs (on 3, off 0)", func(tr *trial.Trial) {
			start := results.Entry{Event: results.EventRunStart, Block: "0007", Attempt: 1, Arm: "on"}
			tr.After = func(dir string) { tr.InsertEntries(dir, start, start, start, start) }
		}},
		{"five void attempts of one block", "INVALID(selection)", "5 void blocks (on 0, off 5), only 2 may", func(tr *trial.Trial) {
			tr.Again = map[string]int{"0002": 5}
		}},
		{"an abort and two void blocks", "INVALID(selection)", "1 aborted run (on 1, off 0), 2 void blocks (on 1, off 1), only 2 may", func(tr *trial.Trial) {
			tr.Again = map[string]int{"0002": 1, "0004": 1}
			tr.Lost = []trial.Lost{{Run: "0003/on"}}
		}},
		{"burn-in is free", "PASS", "", func(tr *trial.Trial) {
			tr.Again = map[string]int{"burnin-1": 4}
		}},
		{"a slow candidate is void by a late client", "INCONCLUSIVE(selection)", "1 void block (on 1, off 1); the worst attempt decides: bound +", func(tr *trial.Trial) {
			tr.Again, tr.Slower, tr.Edit = map[string]int{"0002": 1}, slowIn("0002/on"), firstAttempt("0002", late)
		}},
		{"void by a late client, and no slower", "PASS", "1 void block (on 1, off 1); the worst attempt decides: bound +0.", func(tr *trial.Trial) {
			tr.Again, tr.Edit = map[string]int{"0002": 1}, firstAttempt("0002", late)
		}},
		{"a slow candidate is void by a compiled kernel", "PASS", "1 void block (on 0, off 1); nothing of it is put back", func(tr *trial.Trial) {
			tr.Again, tr.Slower = map[string]int{"0002": 1}, slowIn("0002/on")
		}},
		{"a slow candidate is aborted after its phases", "INCONCLUSIVE(selection)", "1 aborted run (on 1, off 0); the worst attempt decides: bound +", func(tr *trial.Trial) {
			tr.Lost = []trial.Lost{{Run: "0003/on", Slower: 0.18, Whole: 2}}
		}},
		{"a slow candidate is aborted in its first phase", "PASS", "nothing of it is put back: no phase is whole", func(tr *trial.Trial) {
			tr.Lost = []trial.Lost{{Run: "0003/on", Slower: 0.18}}
		}},
		{"a fast baseline is aborted", "INCONCLUSIVE(selection)", "1 aborted run (on 0, off 1); the worst attempt decides: bound +", func(tr *trial.Trial) {
			tr.Lost = []trial.Lost{{Run: "0003/off", Slower: -0.18, Whole: 2}}
		}},
		{"aborted and no slower", "PASS", "1 aborted run (on 1, off 0); the worst attempt decides: bound +0.", func(tr *trial.Trial) {
			tr.Lost = []trial.Lost{{Run: "0003/on", Whole: 2}}
		}},
		{"a fast candidate is void by a late client", "INCONCLUSIVE(selection)", "1 void block (on 1, off 1); the worst attempt decides", func(tr *trial.Trial) {
			tr.Effect = map[string]float64{"ttft": 0.06, "tpot": 0.06}
			tr.Again, tr.Edit = map[string]int{"0002": 1}, firstAttempt("0002", late)
			tr.Slower = func(k results.Key) float64 { return -slowIn("0002/on")(k) }
		}},
		{"a FAIL that no attempt takes back", "FAIL", "1 aborted run (on 1, off 0); the worst attempt decides", func(tr *trial.Trial) {
			tr.Effect = map[string]float64{"ttft": 0.06, "tpot": 0.06}
			tr.Lost = []trial.Lost{{Run: "0003/on", Whole: 2}}
		}},
		{"equal arms, one aborted when it was slow", "INCONCLUSIVE(selection)", "1 aborted run", func(tr *trial.Trial) {
			trial.MakeAA(tr)
			tr.Scenario.Arms[1].Name, tr.Scenario.Compare[0].Candidate = "on", "on"
			tr.Lost = []trial.Lost{{Run: "0003/on", Slower: -0.18, Whole: 2}}
		}},
		{"the files of an aborted run are changed", "INVALID(selection)", "the aborted run 0003/on.aborted is not what was sealed", func(tr *trial.Trial) {
			tr.Lost = []trial.Lost{{Run: "0003/on", Slower: 0.18, Whole: 2}}
			tr.After = func(dir string) { trial.Damage(tr.T, dir, "0003/on.aborted") }
		}},
		{"the files of an aborted run are gone", "INVALID(selection)", "no SHA256SUMS", func(tr *trial.Trial) {
			tr.Lost = []trial.Lost{{Run: "0003/on", Slower: 0.18, Whole: 2}}
			tr.After = func(dir string) { trial.Remove(tr.T, dir, "0003/on.aborted") }
		}},
		{"the files of a void run are gone", "INVALID(selection)", "attempt 1 of block 0002 is void, and its files are not what was sealed", func(tr *trial.Trial) {
			tr.Again, tr.Edit = map[string]int{"0002": 1}, firstAttempt("0002", late)
			tr.After = func(dir string) { trial.Remove(tr.T, dir, "0002/on") }
		}},
		{"void without a run", "INVALID(selection)", "attempt 2 of block 0002 is void, and nothing was measured in it", func(tr *trial.Trial) {
			tr.After = func(dir string) {
				tr.InsertEntries(dir, results.Entry{Event: results.EventBlockVoid, Block: "0002", Attempt: 2, Detail: "noise"})
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tr := trial.New(t, 6)
			c.edit(tr)
			v := forms.Build(t, tr.Write(t.TempDir()))
			require.Equal(t, c.want, v.Headline(), v.Sentence)
			assert.Equal(t, view.ExitCodeOf(v.Verdict), v.ExitCode)
			first := v.Sentence + " " + strings.Join(v.Notes, " ")
			assert.Contains(t, first, c.say)
			if c.say == "" {
				assert.Nil(t, v.Repeats)
			}
		})
	}
}

// What was repeated stands at the top of every form, with what the worst attempt gives,
// and in the file.
func TestRepeatsStandInTheFirstLines(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 6)
	tr.Lost = []trial.Lost{{Run: "0003/on", Slower: 0.18, Whole: 1}, {Run: "0005/on"}}
	v := forms.Build(t, tr.Write(t.TempDir()))
	assert.Equal(t, "INCONCLUSIVE(selection)", v.Headline())
	assert.Equal(t, &view.Repeats{Used: 2, Allowed: 2, Aborted: 2, Arms: []view.ArmRepeats{{Arm: "off"}, {Arm: "on", Aborted: 2}}}, v.Repeats)
	for _, form := range []struct {
		text, end string // of the first lines
	}{
		{forms.Render(t, v, render.WriteText), "next "}, {forms.Render(t, v, render.WriteMarkdown), "**Next:**"},
		{forms.Render(t, v, page.Write), "</header>"},
	} {
		top, rest, found := strings.Cut(trial.OneLine(form.text), form.end)
		require.True(t, found)
		assert.True(t, strings.Contains(top, "2 aborted runs (on 2, off 0); the worst attempt decides: bound"), "first lines, to %s", form.end)
		assert.True(t, strings.Contains(top, "INCONCLUSIVE(selection)"))
		assert.True(t, strings.Contains(rest, "with the worst attempt of each block (put back: 0003/on.aborted) the bounds are"))
	}
	single, arrivals := &v.Comparisons[0].Phases[0], &v.Comparisons[0].Phases[1]
	for _, m := range single.Metrics {
		if m.Primary {
			require.NotNil(t, m.PutBack, m.Name)
			assert.Equal(t, []string{"0003/on.aborted"}, m.PutBack.Attempts)
			assert.Greater(t, *m.PutBack.Upper, *m.Upper)
			assert.Equal(t, *m.Lower, *m.PutBack.Lower, "the best attempt is the one that counts")
			assert.True(t, m.Is(stat.Inconclusive, view.ReasonSelection), m.Text)
			assert.Nil(t, m.Advice, "more blocks are no answer")
		}
	}
	for _, m := range arrivals.Metrics {
		assert.Nil(t, m.PutBack, "half of this phase is missing: %s", m.Name)
	}
	assert.Contains(t, strings.Join(v.Next, " "), "let every run end")
}

// Only what was put back changes numbers: a campaign without repeats has those that it
// always had, and one with repeats keeps its effects and bounds beside the worst ones.
func TestPuttingBackKeepsTheNumbers(t *testing.T) {
	t.Parallel()
	plain := forms.Build(t, trial.New(t, 6).Write(t.TempDir()))
	tr := trial.New(t, 6)
	tr.Lost = []trial.Lost{{Run: "0003/on", Slower: 0.18, Whole: 2}}
	again := forms.Build(t, tr.Write(t.TempDir()))
	for i := range plain.Comparisons[0].Phases {
		for k, m := range plain.Comparisons[0].Phases[i].Metrics {
			got := again.Comparisons[0].Phases[i].Metrics[k]
			assert.Equal(t, []any{m.Effect, m.Lower, m.Upper, m.Pairs}, []any{got.Effect, got.Lower, got.Upper, got.Pairs}, m.Name)
			assert.Nil(t, m.PutBack)
		}
	}
}

// A void attempt has to have a rule that finds something; one of an older plan, whose
// rule may be another one now, is put back instead.
func TestVoidsAreReproduced(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 6)
	tr.Again, tr.Slower, tr.Groundless = map[string]int{"0002": 1}, slowIn("0002/on"), true
	dir := tr.Write(t.TempDir())
	for rules, want := range map[string]string{
		"1": "", "2": "", "3": "selection: attempt 1 of block 0002 is void, and no rule finds anything in its runs",
	} {
		c, err := results.Load(dir)
		require.NoError(t, err)
		c.Plan.Rules = rules
		found := accept.Selection(c, accept.Examine(c))
		if want == "" {
			assert.Empty(t, found, "rules %s", rules)
			continue
		}
		require.Len(t, found, 1)
		assert.Equal(t, want, found[0].String())
	}
	trial.EditPlan(t, dir, func(p *results.Plan) { p.Rules = "1" })
	v := forms.Build(t, dir)
	assert.Equal(t, "INCONCLUSIVE(selection)", v.Headline(), "20 % slower, and put back")
}

// What the ledger itself shows needs no rule: here a block that was begun elsewhere. Its
// runs are put back.
func TestBegunOnAnotherHost(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 6)
	tr.Again, tr.Slower, tr.Groundless = map[string]int{"0002": 1}, slowIn("0002/on"), true
	dir := tr.Write(t.TempDir())
	c, err := results.Load(dir)
	require.NoError(t, err)
	c.Plan.Rules = "3"
	for i, e := range c.Entries {
		if e.Event == results.EventSession {
			c.Entries[i].HostGroup = "A"
		}
		if e.Event == results.EventBlockVoid {
			c.Entries[i-1].Event, c.Entries[i-1].HostGroup = results.EventSession, "B" // in place of the second run's end
		}
	}
	assert.Empty(t, accept.Selection(c, accept.Examine(c)))
}

// A campaign that may repeat nothing more says that, and which blocks are missing, for
// the cause that it always told.
func TestRepeatsThatRanOutNameTheCause(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 6)
	tr.Again, tr.Stop = map[string]int{"0005": 3}, 4
	tr.Edit = func(r *trial.Recorded) {
		if r.Run.Key.Block == "0005" && r.Run.Key.Arm == "on" {
			r.Requests[3].Error = "status 401: Unauthorized"
		}
	}
	dir := tr.Write(t.TempDir())
	for attempt := 1; attempt <= 3; attempt++ {
		tr.Attempt(dir, "0005", attempt)
		trial.LedgerEntry(t, dir, results.Entry{Event: results.EventBlockVoid, Block: "0005", Attempt: attempt})
	}
	trial.LedgerEntry(t, dir, results.Entry{Event: results.EventComplete})
	v := forms.Build(t, dir)
	assert.Equal(t, "FAIL(reliability)", v.Headline(), "only the candidate breaks")
	found := v.Comparisons[0].Invalid
	require.GreaterOrEqual(t, len(found), 2)
	assert.Equal(t, []view.Reason{view.ReasonSelection, view.ReasonBlocksMissing}, []view.Reason{found[0].Name, found[1].Name})
}

// The baseline broke once, the candidate in every run: that is no reason to doubt the
// campaign but what it shows.
func TestCandidateThatBreaksMoreOften(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want string
		baseline   string // block in which it breaks
		candidate  string // blocks below this one
	}{
		{"six of six against one of six", "FAIL(reliability)", "0004", "0007"},
		{"four of six against one of six", "INVALID(request failed)", "0004", "0005"},
		{"two of six against none", "FAIL(reliability)", "", "0003"},
		{"one of six against none", "INVALID(request failed)", "", "0002"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tr := trial.New(t, 6)
			tr.Edit = func(r *trial.Recorded) {
				k := r.Run.Key
				if !r.Run.BurnIn && (k.Arm == "on" && k.Block < c.candidate || k.Arm == "off" && k.Block == c.baseline) {
					r.Requests[3].Error = "reset"
				}
			}
			v := forms.Build(t, tr.Write(t.TempDir()))
			assert.Equal(t, c.want, v.Headline())
			if c.baseline != "" && v.Verdict == stat.Fail {
				assert.Contains(t, v.Sentence, "on failed by its own fault in 6 of 6 runs and off in 1 of 6 (Fisher's exact p = 0.0076, below 0.01); first 0001/on: ")
			}
		})
	}
}

// Of a control that passes, attempts put back are no excuse; a slowdown that is caught
// has to be caught with the attempt that shows the least.
func TestControlWithAttemptsPutBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		effect, lost float64
		want         view.Outcome
	}{
		{0.06, 0, view.Caught},
		{0.06, -0.18, view.NotPassed},
		{0.003, 0.18, view.NotSensitive},
	} {
		tr := trial.New(t, 6)
		tr.Scenario.Purpose = scenarios.Control
		tr.Effect = map[string]float64{"ttft": c.effect, "tpot": c.effect}
		tr.Lost = []trial.Lost{{Run: "0003/on", Slower: c.lost, Whole: 2}}
		v := forms.Build(t, tr.Write(t.TempDir()))
		for name, got := range forms.Outcomes(v) {
			assert.Equal(t, c.want, got, "%s: %+v", name, c)
		}
	}
}

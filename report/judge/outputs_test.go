package judge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/internal/forms"
	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/report/render"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/scenarios"
)

// changed gives some timed requests of a phase other outputs in the runs that pick
// names.
func changed(phase string, requests int, pick func(r *trial.Recorded) bool) func(*trial.Recorded) {
	return func(r *trial.Recorded) {
		if !pick(r) {
			return
		}
		left := requests
		for i := range r.Requests {
			if q := &r.Requests[i]; q.Phase == phase && !q.Warmup && left > 0 {
				q.OutputSHA256 += r.Run.Key.String()
				left--
			}
		}
	}
}

func arm(name string) func(*trial.Recorded) bool {
	return func(r *trial.Recorded) bool { return r.Run.Key.Arm == name }
}

func run(name string) func(*trial.Recorded) bool {
	return func(r *trial.Recorded) bool { return r.Run.Key.String() == name }
}

// Whatever the identity pass says, a candidate whose timed outputs differ under one
// stream fails, one that differs once shows nothing, and in a batch it takes eight
// blocks to ask.
func TestTimedOutputs(t *testing.T) {
	for _, c := range []struct {
		name   string
		blocks int
		edit   func(*trial.Recorded)
		expect scenarios.Expectation
		want   string
		says   string
	}{
		{"every output of the candidate", 6, changed("single", 1e6, arm("on")), "", "FAIL(identity)", "the outputs differ: the output of request 1 of phase single differs in 6 of 6 runs of on"},
		{"one request in one run", 6, changed("single", 1, run("0004/on")), "", "INVALID(identity not reproduced)", "differs in 0004/on and in no other of 6 runs of on"},
		{"the baseline, once", 6, changed("single", 1, run("0004/off")), "", "PASS", "(whether the arms differ cannot be asked with 6 blocks; off does not agree with itself: request 1 has another output in 0004/off than in 0001/off)"},
		{"the baseline once, the candidate always", 8, func(r *trial.Recorded) {
			changed("single", 1, run("0004/off"))(r)
			changed("single", 1e6, arm("on"))(r)
		}, "", "INCONCLUSIVE(outputs in batch)", "find out why off gives other outputs from run to run with one stream"},
		{"not asked for", 6, changed("single", 1e6, arm("on")), scenarios.ExpectReport, "PASS", "single, off against on 100.0 %, off against itself 0.0 %, on against itself 100.0 % (reported only: the arms may give other outputs)"},
		{"a batch, six blocks", 6, changed("arrivals", 4, arm("on")), "", "PASS", "arrivals, off against on 33.3 %, off against itself 0.0 %, on against itself 33.3 % (whether the arms differ cannot be asked with 6 blocks)"},
		{"a batch, eight blocks", 8, changed("arrivals", 1e6, arm("on")), "", "INCONCLUSIVE(outputs in batch)", "Timed outputs of phase arrivals differ in 100.0 % of the requests between off and on, and in 0.0 % between runs of off (p = 7.8e-05)"},
		{"a batch that differs everywhere", 8, changed("arrivals", 1e6, func(*trial.Recorded) bool { return true }), "", "PASS", "arrivals, off against on 100.0 %, off against itself 100.0 %"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tr := trial.New(t, c.blocks)
			tr.Edit, tr.Scenario.Identity.Expect = c.edit, c.expect
			v := forms.Build(t, tr.Write(t.TempDir()))
			assert.Equal(t, c.want, v.Headline())
			assert.Contains(t, trial.OneLine(forms.Render(t, v, render.WriteText)), c.says)
			if v.Reason == view.ReasonBatch {
				assert.Equal(t, view.ExitInconclusive, v.ExitCode)
				require.NotEmpty(t, v.Next)
				assert.Equal(t, strings.HasPrefix(c.name, "a batch"), strings.Contains(v.Next[0], "VLLM_BATCH_INVARIANT"))
			}
		})
	}
}

// Outputs that are cut, constant or none prove nothing, in whatever run.
func TestWeakIdentityPass(t *testing.T) {
	all := func(change func(tokens [][]int)) func(*trial.Recorded) {
		return func(r *trial.Recorded) { change(r.Outputs.Tokens) }
	}
	for name, c := range map[string]struct {
		edit func(*trial.Recorded)
		says string
	}{
		"one token of eight": {all(func(x [][]int) {
			for i := range x {
				x[i] = x[i][:1]
			}
		}), "was answered with 1 token, 8 were asked for"},
		"three of four constant": {all(func(x [][]int) {
			for i := range x[:3] {
				x[i] = make([]int, 8)
			}
		}), "only 2 of 4 differ from each other"},
		"all equal": {all(func(x [][]int) {
			for i := range x {
				x[i] = x[0]
			}
		}), "only 1 of 4 differ from each other"},
	} {
		tr := trial.New(t, 6)
		tr.Edit = c.edit
		v := forms.Build(t, tr.Write(t.TempDir()))
		assert.Equal(t, "INVALID(identity)", v.Headline(), name)
		assert.Contains(t, v.Sentence, c.says, name)
	}
}

// Arms with other options are compared and reported, in the identity pass and in the
// timed requests alike: neither can fail them or make them INVALID.
func TestReportedOutputs(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*trial.Recorded)
		says string
	}{
		"a token": {func(r *trial.Recorded) {
			if r.Run.Key.Arm == "on" {
				r.Outputs.Tokens[2][0]++
			}
		}, "outputs identical 3/4 (reported only)"},
		"cut":   {func(r *trial.Recorded) { r.Outputs.Tokens[0] = r.Outputs.Tokens[0][:1] }, "outputs not comparable (reported only)"},
		"timed": {changed("single", 1e6, run("0003/on")), "outputs identical 4/4 (reported only)"},
	} {
		tr := trial.New(t, 6)
		tr.Edit, tr.Scenario.Arms[1].Args = c.edit, map[string]string{"max-num-seqs": "64"}
		v := forms.Build(t, tr.Write(t.TempDir()))
		assert.Equal(t, "PASS", v.Headline(), name)
		assert.Contains(t, v.Sentence, c.says, name)
	}
}

// A plan of earlier rules would have passed what its timed outputs fail today.
func TestTimedOutputsUnderEarlierRules(t *testing.T) {
	for phase, headline := range map[string]string{"single": "FAIL(identity)", "arrivals": "INCONCLUSIVE(outputs in batch)"} {
		tr := trial.New(t, 8)
		tr.Rules, tr.Edit = "2", changed(phase, 1e6, arm("on"))
		v := forms.Build(t, tr.Write(t.TempDir()))
		assert.Equal(t, headline, v.Headline())
		assert.Contains(t, strings.Join(v.Notes, " "), "under 2: PASS", phase)
	}
}

// A start that compiles may give other outputs than later ones: a correctness campaign
// whose candidate agrees with the later start passes, and the report says so.
func TestColdFirstStart(t *testing.T) {
	for name, c := range map[string]struct {
		other map[string]int // by run
		want  string
		says  string
	}{
		"the first start":            {map[string]int{"burnin-1/off": 1}, "PASS(checks)", "the first start gave other outputs than the later ones"},
		"the candidate":              {map[string]int{"0001/on": 1}, "FAIL(identity)", "0001/on against 0001/off"},
		"every start":                {map[string]int{"burnin-1/off": 1, "0001/on": 2}, "INVALID(identity)", "the baseline does not agree with itself: burnin-1/off against 0001/off"},
		"the second of the baseline": {map[string]int{"0001/off": 1}, "INVALID(identity)", "the baseline does not agree with itself"},
	} {
		tr := trial.New(t, 1)
		tr.Scenario.Purpose = scenarios.Correctness
		for i := range tr.Scenario.Phases {
			tr.Scenario.Phases[i].Primary = nil
		}
		tr.Edit = func(r *trial.Recorded) { r.Outputs.Tokens[1][3] += c.other[r.Run.Key.String()] }
		v := forms.Build(t, tr.Write(t.TempDir()))
		assert.Equal(t, c.want, v.Headline(), name)
		assert.Contains(t, trial.OneLine(forms.Render(t, v, render.WriteText)), c.says, name)
	}
}

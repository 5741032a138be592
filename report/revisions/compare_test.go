package revisions

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/report/judge"
	"github.com/aituner/opprof/report/render"
	"github.com/aituner/opprof/report/sizing"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// revisionsTrial has two recording arms, r1 and r2, that are compared with off;
// r2 costs less by d.
func revisionsTrial(t *testing.T, d float64) *trial.Trial {
	tr := trial.New(t, 6)
	record := map[string]string{scenarios.RecorderVariable: "{run_dir}/steps"}
	tr.Scenario.Arms = []scenarios.Arm{
		{Name: "off", Patch: "r2-onepass"}, {Name: "r1", Patch: "r1-seed", Env: record}, {Name: "r2", Patch: "r2-onepass", Env: record},
	}
	tr.Scenario.Compare = []scenarios.Comparison{{Baseline: "off", Candidate: "r1"}, {Baseline: "off", Candidate: "r2"}}
	tr.Effect = map[string]float64{"ttft": 0.02, "tpot": 0.02}
	tr.Slower = func(key results.Key) float64 {
		if key.Arm == "r2" {
			return -d
		}
		return 0
	}
	return tr
}

func textOf(t *testing.T, r *view.Revisions) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, render.WriteRevisions(&b, r))
	for _, line := range strings.Split(b.String(), "\n") {
		assert.LessOrEqual(t, len([]rune(line)), 100, line)
	}
	return b.String()
}

// Within a campaign the difference is that of the two effects, block by block.
func TestCompareArms(t *testing.T) {
	t.Parallel()
	c := trial.Loaded(t, revisionsTrial(t, 0.015).Write(t.TempDir()))
	before, err := json.Marshal(c.Plan)
	require.NoError(t, err)
	r, err := CompareArms(c, "r1", "r2", "v0.1.0")
	require.NoError(t, err)
	after, err := json.Marshal(c.Plan)
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after), "the plan is only read")
	assert.Equal(t, "paired", r.Method)
	assert.Equal(t, "off", r.A.Baseline)
	require.NotEmpty(t, r.Metrics)
	for _, m := range r.Metrics {
		scale := func(pct float64) float64 {
			if m.Name == "output_throughput" {
				return -math.Log1p(-pct / 100)
			}
			return math.Log1p(pct / 100)
		}
		assert.InDelta(t, scale(m.B.Pct)-scale(m.A.Pct), scale(m.Difference.Pct), 1e-9, m.Label)
	}
	tpot := r.Metrics[0]
	require.Equal(t, "tpot_p50", tpot.Name)
	assert.InDelta(t, -1.5, tpot.Difference.Pct, 0.7)
	assert.Negative(t, tpot.Difference.Upper)
	text := textOf(t, r)
	assert.Regexp(t, `TPOT p50 of single: r2 costs 1\.\d+ % less \(\d\.\d+ to \d\.\d+ %\) than r1`, text)
	assert.NotContains(t, strings.ToLower(text), "verdict")
}

func TestCompareArmsTheOtherWayRound(t *testing.T) {
	t.Parallel()
	c := trial.Loaded(t, revisionsTrial(t, 0.015).Write(t.TempDir()))
	r, err := CompareArms(c, "r2", "r1", "v0.1.0")
	require.NoError(t, err)
	assert.Regexp(t, `TPOT p50 of single: r1 costs 1\.\d+ % more \(`, textOf(t, r))
}

func TestCompareArmsWithoutACommonOne(t *testing.T) {
	t.Parallel()
	tr := revisionsTrial(t, 0.015)
	tr.Scenario.Compare = tr.Scenario.Compare[:1]
	r, err := CompareArms(trial.Loaded(t, tr.Write(t.TempDir())), "r1", "r2", "v0.1.0")
	require.NoError(t, err)
	assert.Nil(t, r.Metrics[0].A)
	assert.Contains(t, strings.Join(strings.Fields(textOf(t, r)), " "), "no common arm")
}

func TestCompareArmsRefuses(t *testing.T) {
	t.Parallel()
	c := trial.Loaded(t, revisionsTrial(t, 0).Write(t.TempDir()))
	_, err := CompareArms(c, "r1", "r3", "v0.1.0")
	require.ErrorIs(t, err, ErrUnlike)
	assert.ErrorContains(t, err, "there is no arm r3; it has off, r1, r2")
	_, err = CompareArms(c, "r1", "r1", "v0.1.0")
	assert.ErrorIs(t, err, ErrUnlike)

	tr := revisionsTrial(t, 0)
	tr.Edit = trial.OnRun("0002/r2", func(r *trial.Recorded) { r.Requests[5].Error = "connection reset by peer" })
	_, err = CompareArms(trial.Loaded(t, tr.Write(t.TempDir())), "r1", "r2", "v0.1.0")
	require.ErrorIs(t, err, sizing.ErrUnusable)
	assert.ErrorContains(t, err, "request failed")

	tr = revisionsTrial(t, 0)
	tr.Stop = 3
	_, err = CompareArms(trial.Loaded(t, tr.Write(t.TempDir())), "r1", "r2", "v0.1.0")
	assert.ErrorIs(t, err, sizing.ErrUnfinished)
}

// pairOfTrials writes two campaigns, the second changed, and compares them.
func pairOfTrials(t *testing.T, change func(*trial.Trial), except ...string) (*view.Revisions, error) {
	t.Helper()
	a, b := trial.New(t, 6), trial.New(t, 8)
	b.Start = b.Start.Add(24 * time.Hour)
	a.Effect, b.Effect = map[string]float64{"ttft": 0.03, "tpot": 0.03}, map[string]float64{"ttft": 0.01, "tpot": 0.01}
	change(b)
	return CompareCampaigns(trial.Loaded(t, a.Write(t.TempDir())), trial.Loaded(t, b.Write(t.TempDir())), "", "", except, "v0.1.0")
}

func TestCompareCampaigns(t *testing.T) {
	t.Parallel()
	r, err := pairOfTrials(t, func(*trial.Trial) {})
	require.NoError(t, err)
	assert.Equal(t, "welch", r.Method)
	assert.Equal(t, []int{6, 8}, []int{r.A.Blocks, r.B.Blocks})
	assert.Contains(t, r.PlanDiffers, "design.blocks: 6 in A, 8 in B")
	require.Len(t, r.Metrics, 10)
	for _, m := range r.Metrics {
		assert.True(t, m.Difference.Lower < m.Difference.Pct && m.Difference.Pct < m.Difference.Upper)
		assert.Negative(t, m.Difference.Upper, "%s: 2 %% apart at this noise", m.Label)
	}
	text := textOf(t, r)
	assert.Contains(t, text, "B costs ")
	assert.Contains(t, strings.Join(strings.Fields(text), " "), "two campaigns at two times: Welch's interval")
	assert.Contains(t, strings.Join(strings.Fields(text), " "), "information, not a gate")
	document, err := json.Marshal(r)
	require.NoError(t, err)
	for _, form := range []string{text, string(document)} {
		for _, word := range []string{"verdict", "fail", "inconclusive", "no regression"} {
			assert.NotContains(t, strings.ToLower(form), word, "two campaigns decide nothing")
		}
	}
}

// The interval is Welch's, on the effects of the blocks.
func TestCompareCampaignsIsWelch(t *testing.T) {
	t.Parallel()
	a, b := trial.Published(t, "vllm-cpu-aa"), trial.Published(t, "vllm-cpu-second-aa")
	r, err := CompareCampaigns(a, b, "", "", nil, "v0.1.0")
	require.NoError(t, err)
	va, err := judge.Build(a, "v0.1.0")
	require.NoError(t, err)
	vb, err := judge.Build(b, "v0.1.0")
	require.NoError(t, err)
	m := r.Metrics[3]
	require.Equal(t, "tpot_p95", m.Name)
	logs := func(v *view.View) (d []float64) {
		for _, p := range v.Comparisons[0].Find("single", "tpot_p95").Pairs {
			d = append(d, math.Log(p.Candidate/p.Baseline))
		}
		return d
	}
	d, i, err := stat.Welch(logs(va), logs(vb), 0.95)
	require.NoError(t, err)
	assert.InDelta(t, 100*math.Expm1(d), m.Difference.Pct, 1e-9)
	assert.InDelta(t, 100*math.Expm1(i.Lo), m.Difference.Lower, 1e-9)
	assert.InDelta(t, 100*math.Expm1(i.Hi), m.Difference.Upper, 1e-9)
	assert.Contains(t, textOf(t, r), "on 10 of 10 metrics the two are not told apart")
}

// everyRun changes what the runs of a loaded campaign say.
func everyRun(change func(*results.Attempt)) func(*results.Campaign) {
	return func(c *results.Campaign) {
		for i := range c.Attempts {
			change(&c.Attempts[i])
		}
	}
}

// What was measured must be the same: the difference is named.
func TestCompareCampaignsRefusesUnlikeOnes(t *testing.T) {
	t.Parallel()
	dir := trial.New(t, 6).Write(t.TempDir())
	old := trial.Loaded(t, dir)
	for _, c := range []struct {
		name, want string
		change     func(*results.Campaign)
	}{
		{"workload", "workload: the requests differ", func(c *results.Campaign) { c.Plan.WorkloadSHA256 = "00ff" }},
		{"engine arguments", "engine: engine.args.tensor-parallel-size is 1 in A, 2 in B", func(c *results.Campaign) {
			c.Plan.Scenario.Engine.Args["tensor-parallel-size"] = "2"
		}},
		{"a flag more", "engine: engine.args.enforce-eager is absent in A, set in B", func(c *results.Campaign) {
			c.Plan.Scenario.Engine.Args["enforce-eager"] = ""
		}},
		{"engine environment", "engine: engine.env.OMP_NUM_THREADS is absent in A, 2 in B", func(c *results.Campaign) {
			c.Plan.Scenario.Engine.Env = map[string]string{"OMP_NUM_THREADS": "2"}
		}},
		{"model", "engine: engine.model is Qwen3-30B-A3B in A, other in B", func(c *results.Campaign) {
			c.Plan.Scenario.Engine.Model = "/elsewhere/other"
		}},
		{"baseline", "engine: env of the baseline", func(c *results.Campaign) {
			c.Plan.Scenario.Arms[0].Env = map[string]string{"X": "1"}
		}},
		{"weights", "engine: SHA-256 of the model is", everyRun(func(a *results.Attempt) { a.Run.Server.ModelSHA256 = "00ff" })},
		{"vLLM", "vllm: version of vllm is 0.24.0 in A, 0.24.1 in B (--except vllm", everyRun(func(a *results.Attempt) {
			a.Run.Server.Versions["vllm"] = "0.24.1"
		})},
		{"kernel", "host: kernel is 6.8.0 in A, 6.9.0 in B (--except host", everyRun(func(a *results.Attempt) { a.Environment.Kernel = "6.9.0" })},
		{"another host of the same kind", "host: digest of the host's name is node7 in A, node8 in B", everyRun(func(a *results.Attempt) {
			a.Environment.Host = "node8"
		})},
		{"only the fingerprint", "host: fingerprint is", everyRun(func(a *results.Attempt) { a.Environment.Fingerprint = "other" })},
	} {
		young := trial.Loaded(t, dir)
		c.change(young)
		_, err := CompareCampaigns(old, young, "", "", nil, "v0.1.0")
		require.ErrorIs(t, err, ErrUnlike, c.name)
		assert.ErrorContains(t, err, c.want)
	}
}

// Two of the differences can be stated; then they are shown. The others cannot.
func TestCompareCampaignsExcept(t *testing.T) {
	t.Parallel()
	both := func(tr *trial.Trial) {
		tr.Edit = func(r *trial.Recorded) {
			r.Run.Server.Versions = map[string]string{"vllm": "0.24.1", "torch": "2.9.1"}
			r.Env.Kernel = "6.9.0"
		}
	}
	_, err := pairOfTrials(t, both, "vllm")
	require.ErrorIs(t, err, ErrUnlike)
	assert.ErrorContains(t, err, "kernel")
	assert.NotContains(t, err.Error(), "version of vllm", "it is excused")
	r, err := pairOfTrials(t, both, "vllm", "host")
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"version of vllm is 0.24.0 in A, 0.24.1 in B", "kernel is 6.8.0 in A, 6.9.0 in B"}, r.Stated)
	assert.Contains(t, textOf(t, r), "0.24.1 in B (stated)")
	_, err = pairOfTrials(t, func(tr *trial.Trial) { tr.Scenario.Engine.Args = nil }, "vllm", "host")
	require.ErrorIs(t, err, ErrUnlike)
	assert.NotContains(t, err.Error(), "--except", "engine arguments have no excuse")
}

func TestCompareCampaignsChoosesTheComparison(t *testing.T) {
	t.Parallel()
	two := trial.Loaded(t, revisionsTrial(t, 0.01).Write(t.TempDir()))
	_, err := CompareCampaigns(two, two, "", "", nil, "v0.1.0")
	require.ErrorIs(t, err, ErrUnlike)
	assert.ErrorContains(t, err, "2 comparisons; name one of its candidates: r1, r2")
	r, err := CompareCampaigns(two, two, "r1", "r2", nil, "v0.1.0")
	require.NoError(t, err)
	assert.Equal(t, []string{"r1", "r2"}, []string{r.A.Arm, r.B.Arm})
	_, err = CompareCampaigns(two, two, "r1", "r9", nil, "v0.1.0")
	assert.ErrorContains(t, err, "0 comparisons with the candidate r9")

	with := trial.New(t, 6)
	trial.Embed(with)
	c := trial.Loaded(t, with.Write(t.TempDir()))
	r, err = CompareCampaigns(c, c, "", "", nil, "v0.1.0")
	require.NoError(t, err)
	assert.Equal(t, "on", r.A.Arm, "the A/A beside it is not what is compared")
}

func TestCompareCampaignsRefusesUnusableOnes(t *testing.T) {
	t.Parallel()
	_, err := pairOfTrials(t, func(tr *trial.Trial) {
		tr.Edit = trial.OnRun("0002/on", func(r *trial.Recorded) { r.Requests[5].Error = "connection reset by peer" })
	})
	require.ErrorIs(t, err, sizing.ErrUnusable)
	_, err = pairOfTrials(t, func(tr *trial.Trial) { tr.Stop = 4 })
	require.ErrorIs(t, err, sizing.ErrUnfinished)
	_, err = pairOfTrials(t, func(tr *trial.Trial) { *tr = *trial.Correctness(tr.T) })
	assert.ErrorIs(t, err, ErrUnlike)
}

// Outputs that differ are no reason to hide the times, and are said.
func TestCompareNotesOtherOutputs(t *testing.T) {
	t.Parallel()
	r, err := pairOfTrials(t, func(tr *trial.Trial) {
		tr.Edit = func(r *trial.Recorded) {
			if r.Run.Key.Arm == "on" {
				r.Outputs.Tokens[2][5] = 7
			}
		}
	})
	require.NoError(t, err)
	assert.Contains(t, strings.Join(r.Notes, "\n"), "on against off: identity")
}

// The document has a kind, a schema and the tool that made it.
func TestRevisionsAreValidJSON(t *testing.T) {
	t.Parallel()
	r, err := CompareCampaigns(trial.Published(t, "vllm-cpu-aa"), trial.Published(t, "vllm-cpu-second-aa"), "", "", nil, "v0.1.0")
	require.NoError(t, err)
	var b strings.Builder
	require.NoError(t, view.WriteJSON(&b, r))
	var back map[string]any
	require.NoError(t, json.Unmarshal([]byte(b.String()), &back))
	assert.Equal(t, "compare", back["kind"])
	assert.InDelta(t, 1, back["schema"], 0)
	assert.Equal(t, "v0.1.0", back["tool"])
}

// Names of a run cannot reach the terminal as they are.
func TestRevisionsAreEscaped(t *testing.T) {
	t.Parallel()
	tr := trial.Hostile(t)
	trial.MakeAA(tr)
	tr.Edit = func(r *trial.Recorded) { r.Env.CPUModel = trial.HostileText }
	c := trial.Loaded(t, tr.Write(t.TempDir()))
	r, err := CompareCampaigns(c, c, "", "", nil, "v0.1.0")
	require.NoError(t, err)
	var text strings.Builder
	require.NoError(t, render.WriteRevisions(&text, r))
	for _, bad := range []string{"\x1b", "\u202e", "\r"} {
		assert.NotContains(t, text.String(), bad)
	}
}

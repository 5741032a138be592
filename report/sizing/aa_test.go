package sizing

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/internal/forms"
	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/report/judge"
	"github.com/aituner/opprof/report/page"
	"github.com/aituner/opprof/report/render"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
)

var aaCases = []struct {
	name, result string
	exit         int
	change       func(*trial.Trial)
}{
	{"equal", "EQUAL", view.ExitPass, func(*trial.Trial) {}},
	{"noisy", "UNDERPOWERED", view.ExitUnderpowered, func(tr *trial.Trial) { tr.Noise = 0.04 }},
	{"biased", "BIAS", view.ExitInvalid, func(tr *trial.Trial) { tr.Effect = map[string]float64{"ttft": 0.012, "tpot": 0.012} }},
	{"beyond the margin", "BIAS", view.ExitInvalid, func(tr *trial.Trial) { tr.Effect = map[string]float64{"ttft": 0.05, "tpot": 0.05} }},
	{"faster", "BIAS", view.ExitInvalid, func(tr *trial.Trial) { tr.Effect = map[string]float64{"ttft": -0.05, "tpot": -0.05} }},
	{"invalid", "INVALID(request failed)", view.ExitInvalid, func(tr *trial.Trial) {
		tr.Edit = trial.OnRun("0002/on", func(r *trial.Recorded) { r.Requests[5].Error = "connection reset by peer" })
	}},
	{"other outputs", "INVALID(identity)", view.ExitInvalid, func(tr *trial.Trial) {
		tr.Edit = func(r *trial.Recorded) {
			if r.Run.Key.Arm == "on" {
				r.Outputs.Tokens[2][5] = 7
			}
		}
	}},
	{"constant", "INVALID(zero variance)", view.ExitInvalid, trial.Still},
	{"one stalls", "INCONCLUSIVE(stalls)", view.ExitInconclusive, trial.StallOn},
	{"other outputs in a batch", "INCONCLUSIVE(outputs in batch)", view.ExitInconclusive, func(tr *trial.Trial) {
		*tr = *trial.Equal(tr.T, 8)
		tr.Edit = otherArrivals
	}},
	{"noisy, and one stalls", "UNDERPOWERED", view.ExitUnderpowered, func(tr *trial.Trial) {
		trial.StallOn(tr)
		tr.Noise = 0.04
	}},
	{"biased, and one stalls", "BIAS", view.ExitInvalid, func(tr *trial.Trial) {
		trial.StallOn(tr)
		tr.Effect = map[string]float64{"ttft": 0.012, "tpot": 0.012}
	}},
	{"unfinished", "UNFINISHED", view.ExitUnfinished, func(tr *trial.Trial) { tr.Stop = 4 }},
	{"embedded", "EQUAL", view.ExitPass, func(tr *trial.Trial) {
		*tr = *trial.New(tr.T, 6)
		trial.Embed(tr)
		tr.Effect, tr.Noise = map[string]float64{"ttft": 0, "tpot": 0}, 0.002
	}},
}

func TestJudgeAA(t *testing.T) {
	for _, c := range aaCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tr := trial.Equal(t, 6)
			c.change(tr)
			e, err := JudgeAA(trial.Loaded(t, tr.Write(t.TempDir())), "v0.1.0")
			require.NoError(t, err)
			assert.Equal(t, c.result, e.Text, e.Sentence)
			assert.Equal(t, c.exit, e.ExitCode)
			var text strings.Builder
			require.NoError(t, render.WriteAA(&text, e))
			assert.True(t, strings.HasPrefix(text.String(), c.result), text.String())
			for _, line := range strings.Split(text.String(), "\n") {
				assert.LessOrEqual(t, len([]rune(line)), 100, line)
			}
			if c.exit == view.ExitUnfinished {
				assert.NotContains(t, text.String(), "interval", "no effect before the end")
				return
			}
			require.Len(t, e.Comparisons, 1)
			require.Len(t, e.Comparisons[0].Metrics, 5)
		})
	}
}

// The words of every metric follow from its own interval.
func TestEveryMetricHasItsStatement(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"vllm-cpu-aa": "UNDERPOWERED", "vllm-cpu-second-aa": "UNDERPOWERED"} {
		e, err := JudgeAA(trial.Published(t, name), "v0.1.0")
		require.NoError(t, err)
		assert.Equal(t, want, e.Text)
		assert.Equal(t, view.ExitUnderpowered, e.ExitCode)
		require.Len(t, e.Comparisons[0].Metrics, 8)
		for _, m := range e.Comparisons[0].Metrics {
			inside := *m.Upper < m.MarginPct && *m.Lower > -m.MarginPct
			assert.Equal(t, inside, m.Verdict == view.Equal, m)
			assert.Positive(t, m.SD)
			assert.GreaterOrEqual(t, m.AA.Observed, m.Gate.Observed, "two bounds need no fewer blocks than one")
			assert.GreaterOrEqual(t, m.Gate.Upper, m.Gate.Observed)
		}
	}
}

// alone is a published campaign with nothing beside it.
func alone(t *testing.T, name string) *results.Campaign {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "results", "campaigns", name))))
	return trial.Loaded(t, dir)
}

// Six blocks of a quiet hour promise what the host does not keep: all six comparisons
// that it measured later had SDs of 6 to 30 %. An earlier campaign beside it says so.
func TestReachBesideAnEarlierCampaign(t *testing.T) {
	t.Parallel()
	e, err := JudgeAA(trial.Published(t, "vllm-cpu-second-aa"), "v0.1.0")
	require.NoError(t, err)
	assert.Empty(t, e.Reach.Within)
	assert.Len(t, e.Reach.Beyond, 8)
	assert.Zero(t, e.Reach.Blocks)
}

// Numbers that the report of the campaign also has.
func TestReachOfTheQuietHost(t *testing.T) {
	t.Parallel()
	e, err := JudgeAA(alone(t, "vllm-cpu-second-aa"), "v0.1.0")
	require.NoError(t, err)
	r := e.Reach
	require.NotNil(t, r)
	assert.Empty(t, r.Shown)
	var within, beyond []string
	for _, c := range r.Within {
		within = append(within, c.String())
	}
	for _, c := range r.Beyond {
		beyond = append(beyond, c.Label+" "+c.Phase)
	}
	assert.ElementsMatch(t, []string{"TTFT p50 of single (96)", "TPOT p50 of single (28)", "TPOT p95 of single (34)", "output throughput of single (24)"}, within)
	assert.ElementsMatch(t, []string{"TTFT p95 single", "TPOT p50 wide", "TPOT p95 wide", "output throughput wide"}, beyond)
	assert.Equal(t, 96, r.Blocks)
	var text strings.Builder
	require.NoError(t, render.WriteAA(&text, e))
	lines := trial.OneLine(text.String())
	assert.Contains(t, lines, "no metric is shown to carry a margin of 3 %")
	assert.Contains(t, lines, "plan design.blocks: 96")
}

func TestAAWithoutEqualArmsIsRefused(t *testing.T) {
	t.Parallel()
	_, err := JudgeAA(trial.Published(t, "vllm-cpu-r1"), "v0.1.0")
	require.ErrorIs(t, err, ErrNoEqualArms)
	assert.ErrorContains(t, err, "vllm-cpu-r1")
	assert.ErrorContains(t, err, "same_as")
	_, err = JudgeAA(trial.Loaded(t, trial.Correctness(t).Write(t.TempDir())), "v0.1.0")
	require.ErrorIs(t, err, ErrNoEqualArms)
}

// A metric whose own interval is within the margin can still be biased.
func TestBiasOutranksEquality(t *testing.T) {
	d := &view.Detail{N: 10, Mean: 0.012, SD: 0.002, L: 0.010, U: 0.014, Margin: 0.0295}
	assert.Equal(t, view.Bias, equalVerdict(d, 0.001))
	assert.Equal(t, view.Equal, equalVerdict(d, 0.02), "not significant")
	d.Mean = 0.0029
	assert.Equal(t, view.Equal, equalVerdict(d, 0.001), "less than a tenth of the margin")
}

func TestPlansHaveAllowedSizes(t *testing.T) {
	for _, c := range []struct{ n, arms, want int }{{1, 2, 6}, {7, 2, 8}, {8, 2, 8}, {7, 3, 12}, {12, 3, 12}, {6, 4, 8}, {9, 4, 12}} {
		assert.Equal(t, c.want, judge.PlanSize(c.n, c.arms), c)
	}
}

// Equal arms have no FAIL, however far apart they are.
func TestEqualArmsNeverFail(t *testing.T) {
	t.Parallel()
	tr := trial.Equal(t, 6)
	tr.Noise, tr.Effect = 0.012, map[string]float64{"ttft": 0.056, "tpot": 0.056}
	v := forms.Build(t, tr.Write(t.TempDir()))
	for _, p := range v.Comparisons[0].Primaries() {
		assert.NotEqual(t, stat.Fail, p.Verdict, p)
	}
	assert.Contains(t, []stat.Verdict{stat.Inconclusive, stat.Invalid}, v.Verdict)
}

// requiring writes an A/A and, a day later, a campaign that requires one, and
// judges that.
func requiring(t *testing.T, change func(aa, now *trial.Trial), meddle func(aaDir string)) *view.View {
	t.Helper()
	parent := t.TempDir()
	aa := trial.Equal(t, 6)
	aa.Scenario.Name, aa.Start = "equal", aa.Start.Add(-24*time.Hour)
	now := trial.New(t, 6)
	now.Scenario.Gate.RequireAA = true
	change(aa, now)
	dir := aa.Write(parent)
	require.NoError(t, page.Save(dir, forms.Build(t, dir)))
	if meddle != nil {
		meddle(dir)
	}
	return forms.Build(t, now.Write(parent))
}

func TestRequiredAA(t *testing.T) {
	for _, c := range []struct {
		name, result, says string
		change             func(aa, now *trial.Trial)
	}{
		{"passed", "PASS", "PASS, 24 hours older (", func(aa, now *trial.Trial) {}},
		{"old", "PASS", "PASS, 5 days older (", func(aa, now *trial.Trial) { aa.Start = aa.Start.Add(-4 * 24 * time.Hour) }},
		{"underpowered", "INCONCLUSIVE(A/A)", "INCONCLUSIVE, 24 hours older", func(aa, now *trial.Trial) { aa.Noise = 0.04 }},
		{"biased", "INVALID(A/A failed)", "INVALID(bias), 24 hours older", func(aa, now *trial.Trial) {
			aa.Effect = map[string]float64{"ttft": 0.012, "tpot": 0.012}
		}},
		{"unfinished", "INVALID(A/A missing)", "UNFINISHED", func(aa, now *trial.Trial) { aa.Stop = 3 }},
		{"wider margin", "INVALID(A/A missing)", "but within 5 % only", func(aa, now *trial.Trial) { aa.Scenario.Gate.Margin = 0.05 }},
		{"fewer metrics", "INVALID(A/A missing)", "but without ttft_p95 of phase arrivals", func(aa, now *trial.Trial) {
			aa.Scenario.Phases[1].Primary = []string{"ttft_p50"}
		}},
		{"another server", "INVALID(A/A missing)", "none", func(aa, now *trial.Trial) {
			aa.Scenario.Engine.Args = map[string]string{"tensor-parallel-size": "2"}
		}},
		{"younger", "INVALID(A/A missing)", "none", func(aa, now *trial.Trial) { aa.Start = now.Start.Add(time.Hour) }},
		{"a FAIL stands all the same", "FAIL", "INCONCLUSIVE, 24 hours older", func(aa, now *trial.Trial) {
			aa.Noise, now.Effect["tpot"] = 0.04, 0.055
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v := requiring(t, c.change, nil)
			assert.Equal(t, c.result, v.Headline(), v.Sentence)
			assert.Contains(t, v.AA, c.says)
			assert.Contains(t, strings.Join(strings.Fields(forms.Render(t, v, render.WriteText)), " "), "A/A: "+v.AA)
		})
	}
}

func TestUnderpoweredAASaysWhatToDo(t *testing.T) {
	t.Parallel()
	v := requiring(t, func(aa, now *trial.Trial) { aa.Noise = 0.04 }, nil)
	assert.Equal(t, view.ExitInconclusive, v.ExitCode)
	assert.Contains(t, v.Sentence, "The required A/A did not show that equal arms are equal")
	assert.Contains(t, strings.Join(v.Next, "\n"), "opbench aa ")
}

// The saved verdict of a required A/A is not believed: its files are judged.
func TestRequiredAAIsJudgedAgain(t *testing.T) {
	t.Parallel()
	same := func(aa, now *trial.Trial) {}
	v := requiring(t, same, func(dir string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, results.VerdictFile), []byte(`{"kind":"verdict","schema":1,"result":"FAIL"}`), 0o644))
	})
	assert.Equal(t, "PASS", v.Headline())
	v = requiring(t, same, func(dir string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "blocks", "0003", "on", "requests.jsonl.zst"), []byte("edited"), 0o644))
	})
	assert.Equal(t, "INVALID(A/A failed)", v.Headline(), "its verdict.json still says PASS")
}

func TestRequiredAAOnAnotherHost(t *testing.T) {
	t.Parallel()
	v := requiring(t, func(aa, now *trial.Trial) {}, func(dir string) {
		ledger, err := os.ReadFile(results.LedgerPath(dir))
		require.NoError(t, err)
		moved := strings.Replace(string(ledger), `"fingerprint":"`, `"fingerprint":"elsewhere `, 1)
		require.NotEqual(t, string(ledger), moved)
		require.NoError(t, os.WriteFile(results.LedgerPath(dir), []byte(moved), 0o644))
	})
	assert.Equal(t, "INVALID(A/A missing)", v.Headline())
	assert.Contains(t, v.AA, "but on another host or other software")
}

// An A/A inside the campaign decides as one beside it does, and the sentence
// does not call it a cost.
func TestRequiredAAInside(t *testing.T) {
	for _, c := range []struct {
		name, result string
		slow         float64
		noisy        bool
	}{{"passed", "PASS", 0, false}, {"biased", "INVALID(bias)", 0.012, false}, {"underpowered", "INCONCLUSIVE", 0, true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tr := trial.New(t, 6)
			trial.Embed(tr)
			tr.Scenario.Gate.RequireAA = true
			tr.Effect, tr.Noise = map[string]float64{}, 0.002
			tr.Slower = func(key results.Key) float64 {
				switch {
				case key.Arm != "off2":
					return 0
				case c.noisy:
					return 0.05 * float64(int(key.Block[3])%2*2-1)
				}
				return c.slow
			}
			v := forms.Build(t, tr.Write(t.TempDir()))
			assert.Equal(t, c.result, v.Headline(), v.Sentence)
			assert.Contains(t, v.AA, "off2 against off in this campaign, required")
			if c.noisy {
				assert.Contains(t, v.Sentence, "Equality within 3 % is not shown on")
				assert.NotContains(t, v.Sentence, "a cost of")
			}
		})
	}
}

// Equal arms that are equal without the run that was aborted are not shown to be equal.
func TestEqualityHoldsWithAbortedRuns(t *testing.T) {
	t.Parallel()
	for slower, want := range map[float64]string{0: "EQUAL", 0.18: "INCONCLUSIVE(selection)", -0.18: "INCONCLUSIVE(selection)"} {
		tr := trial.Equal(t, 6)
		tr.Lost = []trial.Lost{{Run: "0003/" + tr.Scenario.Arms[1].Name, Slower: slower, Whole: 2}}
		e, err := JudgeAA(trial.Loaded(t, tr.Write(t.TempDir())), "test")
		require.NoError(t, err)
		assert.Equal(t, want, e.Text, e.Sentence)
		if slower != 0 {
			assert.Equal(t, view.ExitInconclusive, e.ExitCode)
			assert.Contains(t, e.Sentence, "rests on which attempts count")
		}
	}
}

// otherArrivals gives the candidate other outputs of all timed requests of arrivals.
func otherArrivals(r *trial.Recorded) {
	for i := range r.Requests {
		if q := &r.Requests[i]; r.Run.Key.Arm == "on" && q.Phase == "arrivals" {
			q.OutputSHA256 += "x"
		}
	}
}

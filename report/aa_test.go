package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

func loaded(t *testing.T, dir string) *results.Campaign {
	t.Helper()
	c, err := results.Load(dir)
	require.NoError(t, err)
	return c
}

func published(t *testing.T, name string) *results.Campaign {
	t.Helper()
	return loaded(t, filepath.Join("..", "results", "campaigns", name))
}

// equalTrial is an A/A campaign whose noise the margin can bear.
func equalTrial(t *testing.T, blocks int) *trial {
	tr := newTrial(t, blocks)
	aaTrial(tr)
	return tr
}

// embed adds an arm that repeats off and is compared with it.
func embed(tr *trial) {
	tr.scenario.Arms = append(tr.scenario.Arms, scenarios.Arm{Name: "off2", Patch: tr.scenario.Arms[0].Patch, SameAs: "off"})
	tr.scenario.Compare = append(tr.scenario.Compare, scenarios.Comparison{Baseline: "off", Candidate: "off2"})
}

var aaCases = []struct {
	name, result string
	exit         int
	change       func(*trial)
}{
	{"equal", "EQUAL", ExitPass, func(*trial) {}},
	{"noisy", "UNDERPOWERED", ExitUnderpowered, func(tr *trial) { tr.noise = 0.04 }},
	{"biased", "BIAS", ExitInvalid, func(tr *trial) { tr.effect = map[string]float64{"ttft": 0.012, "tpot": 0.012} }},
	{"beyond the margin", "BIAS", ExitInvalid, func(tr *trial) { tr.effect = map[string]float64{"ttft": 0.05, "tpot": 0.05} }},
	{"faster", "BIAS", ExitInvalid, func(tr *trial) { tr.effect = map[string]float64{"ttft": -0.05, "tpot": -0.05} }},
	{"invalid", "INVALID(request failed)", ExitInvalid, func(tr *trial) {
		tr.edit = onRun("0002/on", func(r *recorded) { r.requests[5].Error = "connection reset by peer" })
	}},
	{"other outputs", "INVALID(identity)", ExitInvalid, func(tr *trial) {
		tr.edit = func(r *recorded) {
			if r.run.Key.Arm == "on" {
				r.outputs.Tokens[2][5] = 7
			}
		}
	}},
	{"constant", "INVALID(zero variance)", ExitInvalid, func(tr *trial) { tr.noise = 0 }},
	{"one stalls", "INCONCLUSIVE(stalls)", ExitInconclusive, stallOn},
	{"noisy, and one stalls", "UNDERPOWERED", ExitUnderpowered, func(tr *trial) {
		stallOn(tr)
		tr.noise = 0.04
	}},
	{"biased, and one stalls", "BIAS", ExitInvalid, func(tr *trial) {
		stallOn(tr)
		tr.effect = map[string]float64{"ttft": 0.012, "tpot": 0.012}
	}},
	{"unfinished", "UNFINISHED", ExitUnfinished, func(tr *trial) { tr.stop = 4 }},
	{"embedded", "EQUAL", ExitPass, func(tr *trial) {
		*tr = *newTrial(tr.t, 6)
		embed(tr)
		tr.effect, tr.noise = map[string]float64{"ttft": 0, "tpot": 0}, 0.002
	}},
}

func TestJudgeAA(t *testing.T) {
	for _, c := range aaCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tr := equalTrial(t, 6)
			c.change(tr)
			e, err := JudgeAA(loaded(t, tr.write(t.TempDir())), "v0.1.0")
			require.NoError(t, err)
			assert.Equal(t, c.result, e.Result, e.Sentence)
			assert.Equal(t, c.exit, e.ExitCode)
			var text strings.Builder
			require.NoError(t, WriteAA(&text, e))
			assert.True(t, strings.HasPrefix(text.String(), c.result), text.String())
			for _, line := range strings.Split(text.String(), "\n") {
				assert.LessOrEqual(t, len([]rune(line)), textWidth, line)
			}
			if c.exit == ExitUnfinished {
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
		e, err := JudgeAA(published(t, name), "v0.1.0")
		require.NoError(t, err)
		assert.Equal(t, want, e.Result)
		assert.Equal(t, ExitUnderpowered, e.ExitCode)
		require.Len(t, e.Comparisons[0].Metrics, 8)
		for _, m := range e.Comparisons[0].Metrics {
			inside := *m.Upper < m.MarginPct && *m.Lower > -m.MarginPct
			assert.Equal(t, inside, m.Result == "EQUAL", m)
			assert.Positive(t, m.SD)
			assert.GreaterOrEqual(t, m.AA.Observed, m.Gate.Observed, "two bounds need no fewer blocks than one")
			assert.GreaterOrEqual(t, m.Gate.Upper, m.Gate.Observed)
		}
	}
}

// Numbers that the report of the campaign also has.
func TestReachOfTheQuietHost(t *testing.T) {
	t.Parallel()
	e, err := JudgeAA(published(t, "vllm-cpu-second-aa"), "v0.1.0")
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
	assert.ElementsMatch(t, []string{"TTFT p50 of single (96)", "TPOT p50 of single (26)", "TPOT p95 of single (32)", "output throughput of single (22)"}, within)
	assert.ElementsMatch(t, []string{"TTFT p95 single", "TPOT p50 wide", "TPOT p95 wide", "output throughput wide"}, beyond)
	assert.Equal(t, 96, r.Blocks)
	lines := strings.Join(r.lines(), "\n")
	assert.Contains(t, lines, "no metric is shown to carry a margin of 3 %")
	assert.Contains(t, lines, "plan design.blocks: 96")
}

func TestAAWithoutEqualArmsIsRefused(t *testing.T) {
	t.Parallel()
	_, err := JudgeAA(published(t, "vllm-cpu-r1"), "v0.1.0")
	require.ErrorIs(t, err, ErrNoEqualArms)
	assert.ErrorContains(t, err, "vllm-cpu-r1")
	assert.ErrorContains(t, err, "same_as")
	_, err = JudgeAA(loaded(t, correctnessTrial(t).write(t.TempDir())), "v0.1.0")
	require.ErrorIs(t, err, ErrNoEqualArms)
}

// A metric whose own interval is within the margin can still be biased.
func TestBiasOutranksEquality(t *testing.T) {
	e := stat.Estimate{N: 10, Mean: 0.012, SD: 0.002, L: 0.010, U: 0.014}
	m := primary{Metric: &Metric{estimate: e, margin: 0.0295, Detail: &Detail{}}, phase: "single"}
	assert.Equal(t, "BIAS", equalResult(m, 0.001))
	assert.Equal(t, "EQUAL", equalResult(m, 0.02), "not significant")
	m.estimate.Mean = 0.0029
	assert.Equal(t, "EQUAL", equalResult(m, 0.001), "less than a tenth of the margin")
}

func TestPlansHaveAllowedSizes(t *testing.T) {
	for _, c := range []struct{ n, arms, want int }{{1, 2, 6}, {7, 2, 8}, {8, 2, 8}, {7, 3, 12}, {12, 3, 12}, {6, 4, 8}, {9, 4, 12}} {
		assert.Equal(t, c.want, planSize(c.n, c.arms), c)
	}
}

// Equal arms have no FAIL, however far apart they are.
func TestEqualArmsNeverFail(t *testing.T) {
	t.Parallel()
	tr := equalTrial(t, 6)
	tr.noise, tr.effect = 0.012, map[string]float64{"ttft": 0.056, "tpot": 0.056}
	v := build(t, tr.write(t.TempDir()))
	for _, p := range v.Comparisons[0].primaries() {
		assert.NotEqual(t, stat.Fail, p.Verdict, p)
	}
	assert.Contains(t, []stat.Verdict{stat.Inconclusive, stat.Invalid}, v.Verdict)
}

// requiring writes an A/A and, a day later, a campaign that requires one, and
// judges that.
func requiring(t *testing.T, change func(aa, now *trial), meddle func(aaDir string)) *View {
	t.Helper()
	parent := t.TempDir()
	aa := equalTrial(t, 6)
	aa.scenario.Name, aa.start = "equal", aa.start.Add(-24*time.Hour)
	now := newTrial(t, 6)
	now.scenario.Gate.RequireAA = true
	change(aa, now)
	dir := aa.write(parent)
	require.NoError(t, Save(dir, build(t, dir)))
	if meddle != nil {
		meddle(dir)
	}
	return build(t, now.write(parent))
}

func TestRequiredAA(t *testing.T) {
	for _, c := range []struct {
		name, result, says string
		change             func(aa, now *trial)
	}{
		{"passed", "PASS", "PASS, 24 hours older (", func(aa, now *trial) {}},
		{"old", "PASS", "PASS, 5 days older (", func(aa, now *trial) { aa.start = aa.start.Add(-4 * 24 * time.Hour) }},
		{"underpowered", "INCONCLUSIVE(A/A)", "INCONCLUSIVE, 24 hours older", func(aa, now *trial) { aa.noise = 0.04 }},
		{"biased", "INVALID(A/A failed)", "INVALID(bias), 24 hours older", func(aa, now *trial) {
			aa.effect = map[string]float64{"ttft": 0.012, "tpot": 0.012}
		}},
		{"unfinished", "INVALID(A/A missing)", "UNFINISHED", func(aa, now *trial) { aa.stop = 3 }},
		{"wider margin", "INVALID(A/A missing)", "but within 5 % only", func(aa, now *trial) { aa.scenario.Gate.Margin = 0.05 }},
		{"fewer metrics", "INVALID(A/A missing)", "but without ttft_p95 of phase arrivals", func(aa, now *trial) {
			aa.scenario.Phases[1].Primary = []string{"ttft_p50"}
		}},
		{"another server", "INVALID(A/A missing)", "none", func(aa, now *trial) {
			aa.scenario.Engine.Args = map[string]string{"tensor-parallel-size": "2"}
		}},
		{"younger", "INVALID(A/A missing)", "none", func(aa, now *trial) { aa.start = now.start.Add(time.Hour) }},
		{"a FAIL stands all the same", "FAIL", "INCONCLUSIVE, 24 hours older", func(aa, now *trial) {
			aa.noise, now.effect["tpot"] = 0.04, 0.055
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v := requiring(t, c.change, nil)
			assert.Equal(t, c.result, v.Result, v.Sentence)
			assert.Contains(t, v.AA, c.says)
			assert.Contains(t, strings.Join(strings.Fields(render(t, v, WriteText)), " "), "A/A: "+v.AA)
		})
	}
}

func TestUnderpoweredAASaysWhatToDo(t *testing.T) {
	t.Parallel()
	v := requiring(t, func(aa, now *trial) { aa.noise = 0.04 }, nil)
	assert.Equal(t, ExitInconclusive, v.ExitCode)
	assert.Contains(t, v.Sentence, "The required A/A did not show that equal arms are equal")
	assert.Contains(t, strings.Join(v.Next, "\n"), "opbench aa ")
}

// The saved verdict of a required A/A is not believed: its files are judged.
func TestRequiredAAIsJudgedAgain(t *testing.T) {
	t.Parallel()
	same := func(aa, now *trial) {}
	v := requiring(t, same, func(dir string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, results.VerdictFile), []byte(`{"kind":"verdict","schema":1,"result":"FAIL"}`), 0o644))
	})
	assert.Equal(t, "PASS", v.Result)
	v = requiring(t, same, func(dir string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "blocks", "0003", "on", "requests.jsonl.zst"), []byte("edited"), 0o644))
	})
	assert.Equal(t, "INVALID(A/A failed)", v.Result, "its verdict.json still says PASS")
}

func TestRequiredAAOnAnotherHost(t *testing.T) {
	t.Parallel()
	v := requiring(t, func(aa, now *trial) {}, func(dir string) {
		ledger, err := os.ReadFile(results.LedgerPath(dir))
		require.NoError(t, err)
		moved := strings.Replace(string(ledger), `"event":"session"`, `"event":"session","fingerprint":"elsewhere"`, 1)
		require.NotEqual(t, string(ledger), moved)
		require.NoError(t, os.WriteFile(results.LedgerPath(dir), []byte(moved), 0o644))
	})
	assert.Equal(t, "INVALID(A/A missing)", v.Result)
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
			tr := newTrial(t, 6)
			embed(tr)
			tr.scenario.Gate.RequireAA = true
			tr.effect, tr.noise = map[string]float64{}, 0.002
			tr.slower = func(key results.Key) float64 {
				switch {
				case key.Arm != "off2":
					return 0
				case c.noisy:
					return 0.05 * float64(int(key.Block[3])%2*2-1)
				}
				return c.slow
			}
			v := build(t, tr.write(t.TempDir()))
			assert.Equal(t, c.result, v.Result, v.Sentence)
			assert.Contains(t, v.AA, "off2 against off in this campaign, required")
			if c.noisy {
				assert.Contains(t, v.Sentence, "Equality within 3 % is not shown on")
				assert.NotContains(t, v.Sentence, "a cost of")
			}
		})
	}
}

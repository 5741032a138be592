package judge_test

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
	"github.com/aituner/opprof/results/steps"
)

// routes are all ways to INVALID that are decided here or pass through here.
var routes = []struct {
	name   string // the reason, as shown
	damage func(*trial.Trial)
}{
	{"request failed", func(tr *trial.Trial) {
		tr.Edit = trial.OnRun("0001/off", func(r *trial.Recorded) { r.Requests[3].Error = "reset" })
	}},
	{"recomputation differs", func(tr *trial.Trial) {
		tr.Edit = trial.OnRun("0001/off", func(r *trial.Recorded) { r.Run.Phases[0].Metrics["tpot_p50"] *= 1.001 })
	}},
	{"recomputation differs", func(tr *trial.Trial) {
		tr.Edit = trial.OnRun("0001/off", func(r *trial.Recorded) { r.Run.Phases[0].Metrics["goodput"] = 100 }) // of no limit
	}},
	{"recomputation differs", func(tr *trial.Trial) {
		tr.Scenario.Phases[0].Goodput.TTFT = time.Hour // all requests meet it
		tr.Edit = func(r *trial.Recorded) {
			r.Run.Phases[0].Metrics["goodput"] = 100
			if r.Run.Key.Block == "0001" && r.Run.Key.Arm == "off" {
				r.Run.Phases[0].Metrics["goodput"] = 99
			}
		}
	}},
	{"recomputation differs", func(tr *trial.Trial) {
		tr.Edit = trial.OnRun("0001/on", func(r *trial.Recorded) { r.Run.Steps.Bytes-- })
	}},
	{"damaged run", func(tr *trial.Trial) {
		tr.After = func(dir string) {
			require.NoError(tr.T, os.WriteFile(filepath.Join(dir, "blocks", "0002", "on", "extra"), nil, 0o644))
		}
	}},
	{"valid blocks missing", func(tr *trial.Trial) {
		tr.Stop = 5
		tr.After = func(dir string) { trial.LedgerEntry(tr.T, dir, results.Entry{Event: results.EventComplete}) }
	}},
	{"valid blocks missing", func(tr *trial.Trial) { // a look that decided nothing ends no campaign
		tr.Scenario.Design.Blocks, tr.Scenario.Design.Looks = 10, []int{6, 10}
		tr.Stop, tr.Noise, tr.Effect["ttft"] = 6, 0.012, 0.022
		tr.After = func(dir string) { trial.LedgerEntry(tr.T, dir, results.Entry{Event: results.EventComplete}) }
	}},
	{"extension", func(tr *trial.Trial) {
		tr.After = func(dir string) {
			trial.LedgerEntry(tr.T, dir, results.Entry{Event: results.EventRunStart, Block: "0006", Attempt: 2, Arm: "on"})
		}
	}},
	{"extension", func(tr *trial.Trial) {
		tr.Stop = 6
		tr.After = func(dir string) {
			trial.LedgerEntry(tr.T, dir, results.Entry{Event: results.EventRunStart, Block: "0007", Attempt: 1, Arm: "on"})
			trial.LedgerEntry(tr.T, dir, results.Entry{Event: results.EventComplete})
		}
	}},
	{"extension", func(tr *trial.Trial) { // resumed after a look that decided
		tr.Scenario.Design.Blocks, tr.Scenario.Design.Looks, tr.Stop = 10, []int{6, 10}, 6
		tr.After = func(dir string) {
			trial.LedgerEntry(tr.T, dir, results.Entry{Event: results.EventRunStart, Block: "0007", Attempt: 1, Arm: "on"})
			trial.LedgerEntry(tr.T, dir, results.Entry{Event: results.EventComplete})
		}
	}},
	{"extension", func(tr *trial.Trial) { // the plan of more blocks after the fact
		tr.After = func(dir string) { trial.EditPlan(tr.T, dir, func(p *results.Plan) { p.Scenario.Design.Blocks = 8 }) }
	}},
	{"extension", func(tr *trial.Trial) {
		tr.After = func(dir string) {
			trial.EditPlan(tr.T, dir, func(p *results.Plan) {
				p.Scenario.Design.Blocks, p.Scenario.Design.Looks, p.Blocks = 8, []int{8}, append(p.Blocks, p.Blocks[5:]...)
			})
			trial.LedgerEntry(tr.T, dir, results.Entry{Event: results.EventSession, PlanSHA256: "that of the first plan"})
		}
	}},
	{"look missing", func(tr *trial.Trial) {
		tr.Scenario.Design.Blocks, tr.Scenario.Design.Looks, tr.Silent = 10, []int{6, 10}, true
		tr.Noise, tr.Effect["ttft"] = 0.012, 0.022
	}},
	{"look ignored", func(tr *trial.Trial) { // it would have passed at six, and went on
		tr.Scenario.Design.Blocks, tr.Scenario.Design.Looks = 10, []int{6, 10}
	}},
	{"look ignored", func(tr *trial.Trial) { // it failed at six, and went on until it did not
		tr.Scenario.Design.Blocks, tr.Scenario.Design.Looks, tr.Noise = 10, []int{6, 10}, 0.001
		tr.Scale = map[string]float64{"on": 10}
		tr.Edit = func(r *trial.Recorded) {
			if r.Run.Key.Block == "0006" {
				tr.Scale["on"] = 0
			}
		}
	}},
	{"look unplanned", func(tr *trial.Trial) {
		tr.After = func(dir string) {
			trial.LedgerEntry(tr.T, dir, results.Entry{Event: results.EventLook, Look: 1, Blocks: 5})
		}
		tr.Scenario.Design.Blocks, tr.Scenario.Design.Looks, tr.Stop = 10, []int{6, 10}, 6
		edit := tr.After
		tr.After = func(dir string) {
			edit(dir)
			trial.LedgerEntry(tr.T, dir, results.Entry{Event: results.EventComplete})
		}
	}},
	{"software differs", func(tr *trial.Trial) {
		tr.Edit = trial.OnRun("0003/on", func(r *trial.Recorded) { r.Env.Driver = "580.1" })
	}},
	{"order differs from plan", func(tr *trial.Trial) {
		tr.Edit = trial.OnRun("0001/off", func(r *trial.Recorded) { r.Run.Position = 1 })
	}},
	{"unbalanced order", func(tr *trial.Trial) { tr.SameOrder = true }},
	{"two accepted attempts", func(tr *trial.Trial) {
		tr.Void = map[string]string{"0002": "noise"}
		tr.After = func(dir string) {
			trial.LedgerEntry(tr.T, dir, results.Entry{Event: results.EventBlockValid, Block: "0002", Attempt: 1})
		}
	}},
	{"incomplete block", func(tr *trial.Trial) { tr.Skip = "0002/on" }},
	{"probe lag", func(tr *trial.Trial) {
		tr.Edit = func(r *trial.Recorded) {
			if r.Run.Key.Arm == "on" {
				r.Run.Phases[0].Client.ProbeLagMean += 0.0009
			}
		}
	}},
	{"zero variance", trial.Still},
	{"arms differ", func(tr *trial.Trial) {
		tr.Edit = trial.OnRun("0003/on", func(r *trial.Recorded) { r.Run.Server.Versions = map[string]string{"vllm": "0.24.1", "torch": "2.9.1"} })
	}},
	{"compile cache", func(tr *trial.Trial) {
		tr.Edit = trial.OnRun("0003/on", func(r *trial.Recorded) { r.Run.Server.Backends["compile_cache"] = "other" })
	}},
	{"identity", func(tr *trial.Trial) {
		tr.Edit = trial.OnRun("0003/off", func(r *trial.Recorded) { r.Outputs.Tokens[1][1] = 7 })
	}},
	{"identity missing", func(tr *trial.Trial) {
		tr.Edit = trial.OnRun("0003/on", func(r *trial.Recorded) { r.Outputs = nil })
	}},
	{"block spans hosts", func(tr *trial.Trial) {
		tr.Edit = trial.OnRun("0003/on", func(r *trial.Recorded) { r.Env.Host = "node8" })
	}},
	{"host group too small", func(tr *trial.Trial) {
		tr.Edit = func(r *trial.Recorded) {
			if r.Run.Key.Block == "0003" {
				r.Env.Host = "node8"
			}
		}
	}},
	{"A/A missing", func(tr *trial.Trial) { tr.Scenario.Gate.RequireAA = true }},
	{"bias", func(tr *trial.Trial) {
		trial.MakeAA(tr)
		tr.Effect = map[string]float64{"ttft": 0.012, "tpot": 0.012}
	}},
}

func TestEveryRouteToInvalidIsNamed(t *testing.T) {
	for _, r := range routes {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			tr := trial.New(t, 6)
			r.damage(tr)
			v := forms.Build(t, tr.Write(t.TempDir()))
			require.Equal(t, stat.Invalid, v.Verdict, v.Sentence)
			assert.Equal(t, view.ExitInvalid, v.ExitCode)
			for _, p := range v.Comparisons[0].Primaries() {
				assert.Equal(t, stat.Invalid, p.Verdict, p.String())
			}
			for _, form := range forms.Forms {
				assert.Contains(t, forms.Render(t, v, form.Write), r.name, form.Extension)
			}
		})
	}
}

func TestCompleteWithoutAnyRunIsInvalid(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 6)
	dir, err := results.Create(t.TempDir(), tr.Plan(), tr.Start)
	require.NoError(t, err)
	trial.LedgerEntry(t, dir, results.Entry{Event: results.EventComplete})
	v := forms.Build(t, dir)
	assert.Equal(t, "INVALID(valid blocks missing)", v.Headline())
	for _, form := range forms.Forms {
		assert.NotContains(t, forms.Render(t, v, form.Write), "PASS", form.Extension)
	}
}

func TestNoComparisonNoPass(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 6)
	tr.Scenario.Compare = nil
	v := forms.Build(t, tr.Write(t.TempDir()))
	assert.Equal(t, stat.Invalid, v.Verdict)
	assert.Equal(t, view.ExitInvalid, v.ExitCode)
}

// The damaged attempt is void, and the other run of it shows why: no number rests on it.
func TestDamageIsNamedAndVoidsNothingElse(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 6)
	tr.Void = map[string]string{"0002": "0002/off: a kernel was compiled"}
	tr.After = func(dir string) {
		require.NoError(t, os.Remove(filepath.Join(dir, "blocks", "0002", "on", "requests.jsonl.zst")))
	}
	v := forms.Build(t, tr.Write(t.TempDir()))
	assert.Equal(t, "PASS", v.Headline())
	text := forms.Render(t, v, render.WriteText)
	assert.Contains(t, text, "0002/on attempt 1: damaged")
	assert.Contains(t, text, "the file is missing")
}

func TestPlansThatCannotBeJudged(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*results.Plan){
		"rules":      func(p *results.Plan) { p.Rules = "0" },
		"looks":      func(p *results.Plan) { p.Scenario.Design.Looks = []int{8, 10} },
		"confidence": func(p *results.Plan) { p.Scenario.Design.Looks = []int{6, 10}; p.Scenario.Gate.Confidence = 0.9 },
	} {
		plan := trial.New(t, 10).Plan()
		edit(plan)
		_, err := judge.Build(&results.Campaign{Dir: t.TempDir(), Plan: plan, Complete: true}, "test")
		assert.Error(t, err, name)
	}
}

func TestIdentityOutranksInvalid(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 6)
	tr.Edit = func(r *trial.Recorded) {
		if r.Run.Key.String() == "0003/on" {
			r.Outputs.Tokens[1][1] = 7
			r.Run.Server.Backends["compile_cache"] = "other"
		}
	}
	v := forms.Build(t, tr.Write(t.TempDir()))
	assert.Equal(t, "FAIL(identity)", v.Headline())
	assert.Equal(t, view.ExitFail, v.ExitCode)
	assert.Contains(t, forms.Render(t, v, render.WriteText), "compile cache", "the other reason is shown too")
}

func TestReliability(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 6)
	tr.Void = map[string]string{"0002": "engine exit", "0004": "engine exit"}
	tr.Edit = func(r *trial.Recorded) {
		k := r.Run.Key
		if k.Arm == "on" && k.Attempt == 1 && tr.Void[k.Block] != "" {
			r.Run.Failure, r.Run.FailureClass = "the server exited with 1", "engine"
		}
	}
	v := forms.Build(t, tr.Write(t.TempDir()))
	assert.Equal(t, "FAIL(reliability)", v.Headline())
	assert.Equal(t, view.ExitFail, v.ExitCode)
}

func TestCorrectness(t *testing.T) {
	t.Parallel()
	tr := trial.Correctness(t)
	tr.Edit = trial.OnRun("0001/on", func(r *trial.Recorded) { r.Outputs.Tokens[1][1] = 7 })
	v := forms.Build(t, tr.Write(t.TempDir()))
	assert.Equal(t, "FAIL(identity)", v.Headline())
	tr = trial.Correctness(t)
	tr.Edit = trial.OnRun("0001/on", func(r *trial.Recorded) { r.Run.Steps.Checks = nil; r.Requests[2].Error = "reset" })
	v = forms.Build(t, tr.Write(t.TempDir()))
	assert.Equal(t, "INVALID(request failed)", v.Headline())
	for _, form := range forms.Forms {
		assert.NotContains(t, forms.Render(t, v, form.Write), "PASS", form.Extension)
	}
}

func TestStallsKeepFromPassing(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 6)
	trial.StallOn(tr)
	v := forms.Build(t, tr.Write(t.TempDir()))
	assert.Equal(t, "INCONCLUSIVE(stalls)", v.Headline())
	assert.Equal(t, view.ExitInconclusive, v.ExitCode)
	assert.Equal(t, 12, v.Comparisons[0].Stalls.Candidate)
	assert.Contains(t, strings.Join(v.Next, " "), "stalls")
}

func TestAA(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 6)
	trial.MakeAA(tr)
	v := forms.Build(t, tr.Write(t.TempDir()))
	assert.Equal(t, "PASS", v.Headline())
	assert.Equal(t, "equal within 3 %", v.Comparisons[0].Phases[0].Metrics[0].Equivalence)

	noisy := trial.New(t, 6)
	trial.MakeAA(noisy)
	noisy.Noise = 0.05
	v = forms.Build(t, noisy.Write(t.TempDir()))
	assert.Equal(t, stat.Inconclusive, v.Verdict)
	assert.Contains(t, forms.Render(t, v, render.WriteText), "UNDERPOWERED")

	faster := trial.New(t, 6)
	trial.MakeAA(faster)
	faster.Effect = map[string]float64{"ttft": -0.05, "tpot": -0.05}
	v = forms.Build(t, faster.Write(t.TempDir()))
	assert.NotEqual(t, stat.Pass, v.Verdict, "an arm that is faster is not equal")
}

func TestFragilePassIsMarked(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 6)
	tr.Effect["tpot"] = 0.0235 // the bound is just below the margin
	v := forms.Build(t, tr.Write(t.TempDir()))
	assert.Equal(t, "PASS", v.Headline())
	assert.Contains(t, strings.Join(v.Comparisons[0].Comments(), "\n"), "FRAGILE: no PASS without block")
}

func TestPublishedWithoutStepFiles(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 6)
	tr.After = func(dir string) {
		trial.LeaveOut(t, dir, "0002/on/steps/"+steps.FileName(0, 1, 1))
	}
	v := forms.Build(t, tr.Write(t.TempDir()))
	assert.Equal(t, "PASS", v.Headline())
	assert.Contains(t, strings.Join(v.Notes, "\n"), "recorded, not recomputed")
}

func TestOrderIsAdjustedWhereThePlanSaysSo(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 8)
	tr.Scenario.Design.AdjustOrder = true
	tr.Second = 0.04
	adjusted := forms.Build(t, tr.Write(t.TempDir()))
	assert.Equal(t, "PASS", adjusted.Headline(), adjusted.Sentence)
	assert.Contains(t, strings.Join(adjusted.Comparisons[0].Comments(), "\n"), "order effect")

	tr.Scenario.Design.AdjustOrder = false
	plain := forms.Build(t, tr.Write(t.TempDir()))
	assert.Equal(t, stat.Inconclusive, plain.Verdict, "the order is noise to the unadjusted estimator")
}

func TestNotGatedIsSaidFirst(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 6)
	tr.Scenario.Phases[1].Primary = []string{"ttft_p50"}
	v := forms.Build(t, tr.Write(t.TempDir()))
	assert.Equal(t, "PASS", v.Headline())
	text := forms.Render(t, v, render.WriteText)
	first := strings.Join(strings.Split(text, "\n")[:4], "\n")
	assert.Contains(t, first, "not gated: TTFT p95")
	assert.Contains(t, forms.Render(t, v, render.WriteMarkdown), "not gated: TTFT p95")
	assert.Contains(t, forms.Render(t, v, page.Write), "not gated: TTFT p95")
}

func TestDifferencesOfTheEnvironmentAreListed(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 6)
	tr.Edit = func(r *trial.Recorded) {
		if r.Run.Key.Arm == "on" {
			r.Run.Server.Blobs = map[string]string{"vllm/v1/core/sched/scheduler.py": "other"}
		}
		if r.Run.Key.String() == "0002/off" {
			r.Env.Kernel = "6.9.1"
		}
	}
	text := trial.OneLine(forms.Render(t, forms.Build(t, tr.Write(t.TempDir())), render.WriteText))
	assert.Contains(t, text, "DIFFERS: 8c1f0e (every run of off) · other (every run of on)")
	assert.Contains(t, text, "6.9.1 (0002/off)")
}

func TestLostRunsAreShown(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 6)
	tr.After = func(dir string) {
		trial.LedgerEntry(t, dir, results.Entry{Event: results.EventRunAbort, Block: "0003", Attempt: 1, Arm: "on", Detail: "killed in mid-run"})
	}
	v := forms.Build(t, tr.Write(t.TempDir()))
	for _, form := range forms.Forms {
		assert.Contains(t, forms.Render(t, v, form.Write), "killed in mid-run", form.Extension)
	}
}

func TestHugeEffectsStayFiniteNumbers(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 6)
	tr.Edit = trial.OnRun("0002/on", func(r *trial.Recorded) {
		for i := range r.Requests { // an absurd clock: 30 years for one token
			r.Requests[i].FirstNS += 1e18
			r.Requests[i].LastNS += 1e18
			r.Requests[i].EndNS += 1e18
		}
	})
	v := forms.Build(t, tr.Write(t.TempDir()))
	assert.Equal(t, stat.Invalid, v.Verdict)
	for _, form := range forms.Forms {
		assert.NotRegexp(t, `\bNaN\b|\bInf\b`, forms.Render(t, v, form.Write), form.Extension)
	}
}

func TestHarnessFindingThatIsGoneIsShown(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 6)
	tr.Void = map[string]string{"0002": "0002/on: client health"}
	tr.Found = map[string][]results.Cause{"0002/on": {{Rule: "probe-lag", Message: "late"}}}
	text := trial.OneLine(forms.Render(t, forms.Build(t, tr.Write(t.TempDir())), render.WriteText))
	assert.Contains(t, text, "found by the harness, not found again: probe-lag")
}

// A declared goodput is computed again with the plan's limits, and shown.
func TestGoodput(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 6)
	tr.Scenario.Phases[0].Goodput.TTFT = time.Hour
	tr.Edit = func(r *trial.Recorded) { r.Run.Phases[0].Metrics["goodput"] = 100 }
	v := forms.Build(t, tr.Write(t.TempDir()))
	require.NotEqual(t, stat.Invalid, v.Verdict, v.Sentence)
	for _, form := range forms.Forms {
		assert.Contains(t, forms.Render(t, v, form.Write), "goodput", form.Extension)
	}
}

// A goodput that falls to nothing has no ratio. Its row stays, with both values:
// whoever reads the report would else take it for unchanged.
func TestGoodputOfZeroKeepsItsRow(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 6)
	tr.Scenario.Phases[0].Goodput.TTFT = 90 * time.Millisecond // the baseline takes 83, the candidate 100
	tr.Effect["ttft"] = 0.2
	tr.Edit = func(r *trial.Recorded) {
		r.Run.Phases[0].Metrics["goodput"] = map[string]float64{"off": 100, "on": 0}[r.Run.Key.Arm]
	}
	v := forms.Build(t, tr.Write(t.TempDir()))
	require.NotEqual(t, stat.Invalid, v.Verdict, v.Sentence)
	text := trial.OneLine(forms.Render(t, v, render.WriteText))
	assert.Contains(t, text, "goodput 100.0 % → 0 % (effect undefined)")
	for _, form := range forms.Forms[1:] {
		assert.Contains(t, forms.Render(t, v, form.Write), "undefined", form.Extension)
	}
}

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
	"github.com/aituner/opprof/results/steps"
	"github.com/aituner/opprof/scenarios"
)

// ledgerEntry appends to the ledger of a written campaign.
func ledgerEntry(t *testing.T, dir string, e results.Entry) {
	t.Helper()
	l, err := results.OpenLedger(results.LedgerPath(dir))
	require.NoError(t, err)
	require.NoError(t, l.Append(e))
	require.NoError(t, l.Close())
}

// editPlan changes plan.json of a written campaign.
func editPlan(t *testing.T, dir string, edit func(*results.Plan)) {
	t.Helper()
	p, err := results.ReadPlan(dir)
	require.NoError(t, err)
	edit(p)
	path := filepath.Join(dir, "plan.json")
	require.NoError(t, os.Remove(path))
	require.NoError(t, results.WriteJSON(path, p))
}

// routes are all ways to INVALID that are decided here or pass through here.
var routes = []struct {
	name   string // the reason, as shown
	damage func(*trial)
}{
	{"request failed", func(tr *trial) {
		tr.edit = onRun("0001/off", func(r *recorded) { r.requests[3].Error = "reset" })
	}},
	{"recomputation differs", func(tr *trial) {
		tr.edit = onRun("0001/off", func(r *recorded) { r.run.Phases[0].Metrics["tpot_p50"] *= 1.001 })
	}},
	{"recomputation differs", func(tr *trial) {
		tr.edit = onRun("0001/off", func(r *recorded) { r.run.Phases[0].Metrics["goodput"] = 100 }) // of no limit
	}},
	{"recomputation differs", func(tr *trial) {
		tr.scenario.Phases[0].Goodput.TTFT = time.Hour // all requests meet it
		tr.edit = func(r *recorded) {
			r.run.Phases[0].Metrics["goodput"] = 100
			if r.run.Key.Block == "0001" && r.run.Key.Arm == "off" {
				r.run.Phases[0].Metrics["goodput"] = 99
			}
		}
	}},
	{"recomputation differs", func(tr *trial) {
		tr.edit = onRun("0001/on", func(r *recorded) { r.run.Steps.Bytes-- })
	}},
	{"damaged run", func(tr *trial) {
		tr.after = func(dir string) {
			require.NoError(tr.t, os.WriteFile(filepath.Join(dir, "blocks", "0002", "on", "extra"), nil, 0o644))
		}
	}},
	{"valid blocks missing", func(tr *trial) {
		tr.stop = 5
		tr.after = func(dir string) { ledgerEntry(tr.t, dir, results.Entry{Event: results.EventComplete}) }
	}},
	{"valid blocks missing", func(tr *trial) { // a look that decided nothing ends no campaign
		tr.scenario.Design.Blocks, tr.scenario.Design.Looks = 10, []int{6, 10}
		tr.stop, tr.noise, tr.effect["ttft"] = 6, 0.012, 0.022
		tr.after = func(dir string) { ledgerEntry(tr.t, dir, results.Entry{Event: results.EventComplete}) }
	}},
	{"extension", func(tr *trial) {
		tr.after = func(dir string) {
			ledgerEntry(tr.t, dir, results.Entry{Event: results.EventRunStart, Block: "0006", Attempt: 2, Arm: "on"})
		}
	}},
	{"extension", func(tr *trial) {
		tr.stop = 6
		tr.after = func(dir string) {
			ledgerEntry(tr.t, dir, results.Entry{Event: results.EventRunStart, Block: "0007", Attempt: 1, Arm: "on"})
			ledgerEntry(tr.t, dir, results.Entry{Event: results.EventComplete})
		}
	}},
	{"extension", func(tr *trial) { // resumed after a look that decided
		tr.scenario.Design.Blocks, tr.scenario.Design.Looks, tr.stop = 10, []int{6, 10}, 6
		tr.after = func(dir string) {
			ledgerEntry(tr.t, dir, results.Entry{Event: results.EventRunStart, Block: "0007", Attempt: 1, Arm: "on"})
			ledgerEntry(tr.t, dir, results.Entry{Event: results.EventComplete})
		}
	}},
	{"extension", func(tr *trial) { // the plan of more blocks after the fact
		tr.after = func(dir string) { editPlan(tr.t, dir, func(p *results.Plan) { p.Scenario.Design.Blocks = 8 }) }
	}},
	{"extension", func(tr *trial) {
		tr.after = func(dir string) {
			editPlan(tr.t, dir, func(p *results.Plan) {
				p.Scenario.Design.Blocks, p.Scenario.Design.Looks, p.Blocks = 8, []int{8}, append(p.Blocks, p.Blocks[5:]...)
			})
			ledgerEntry(tr.t, dir, results.Entry{Event: results.EventSession, PlanSHA256: "that of the first plan"})
		}
	}},
	{"look missing", func(tr *trial) {
		tr.scenario.Design.Blocks, tr.scenario.Design.Looks, tr.silent = 10, []int{6, 10}, true
		tr.noise, tr.effect["ttft"] = 0.012, 0.022
	}},
	{"look ignored", func(tr *trial) { // it would have passed at six, and went on
		tr.scenario.Design.Blocks, tr.scenario.Design.Looks = 10, []int{6, 10}
	}},
	{"look ignored", func(tr *trial) { // it failed at six, and went on until it did not
		tr.scenario.Design.Blocks, tr.scenario.Design.Looks, tr.noise = 10, []int{6, 10}, 0.001
		tr.scale = map[string]float64{"on": 10}
		tr.edit = func(r *recorded) {
			if r.run.Key.Block == "0006" {
				tr.scale["on"] = 0
			}
		}
	}},
	{"look unplanned", func(tr *trial) {
		tr.after = func(dir string) {
			ledgerEntry(tr.t, dir, results.Entry{Event: results.EventLook, Look: 1, Blocks: 5})
		}
		tr.scenario.Design.Blocks, tr.scenario.Design.Looks, tr.stop = 10, []int{6, 10}, 6
		edit := tr.after
		tr.after = func(dir string) {
			edit(dir)
			ledgerEntry(tr.t, dir, results.Entry{Event: results.EventComplete})
		}
	}},
	{"software differs", func(tr *trial) {
		tr.edit = onRun("0003/on", func(r *recorded) { r.env.Driver = "580.1" })
	}},
	{"order differs from plan", func(tr *trial) {
		tr.edit = onRun("0001/off", func(r *recorded) { r.run.Position = 1 })
	}},
	{"unbalanced order", func(tr *trial) { tr.sameOrder = true }},
	{"two accepted attempts", func(tr *trial) {
		tr.void = map[string]string{"0002": "noise"}
		tr.after = func(dir string) {
			ledgerEntry(tr.t, dir, results.Entry{Event: results.EventBlockValid, Block: "0002", Attempt: 1})
		}
	}},
	{"incomplete block", func(tr *trial) { tr.skip = "0002/on" }},
	{"probe lag", func(tr *trial) {
		tr.edit = func(r *recorded) {
			if r.run.Key.Arm == "on" {
				r.run.Phases[0].Client.ProbeLagMean += 0.0009
			}
		}
	}},
	{"zero variance", func(tr *trial) { tr.noise = 0 }},
	{"arms differ", func(tr *trial) {
		tr.edit = onRun("0003/on", func(r *recorded) { r.run.Server.Versions = map[string]string{"vllm": "0.24.1", "torch": "2.9.1"} })
	}},
	{"compile cache", func(tr *trial) {
		tr.edit = onRun("0003/on", func(r *recorded) { r.run.Server.Backends["compile_cache"] = "other" })
	}},
	{"identity", func(tr *trial) {
		tr.edit = onRun("0003/off", func(r *recorded) { r.outputs.Tokens[1][1] = 7 })
	}},
	{"identity missing", func(tr *trial) {
		tr.edit = onRun("0003/on", func(r *recorded) { r.outputs = nil })
	}},
	{"block spans hosts", func(tr *trial) {
		tr.edit = onRun("0003/on", func(r *recorded) { r.env.Host = "node8" })
	}},
	{"host group too small", func(tr *trial) {
		tr.edit = func(r *recorded) {
			if r.run.Key.Block == "0003" {
				r.env.Host = "node8"
			}
		}
	}},
	{"A/A missing", func(tr *trial) { tr.scenario.Gate.RequireAA = true }},
	{"bias", func(tr *trial) {
		aaTrial(tr)
		tr.effect = map[string]float64{"ttft": 0.012, "tpot": 0.012}
	}},
}

func aaTrial(tr *trial) {
	tr.scenario.Purpose = scenarios.AA
	tr.scenario.Arms[1].Env = nil
	tr.effect = map[string]float64{}
}

func TestEveryRouteToInvalidIsNamed(t *testing.T) {
	for _, r := range routes {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			tr := newTrial(t, 6)
			r.damage(tr)
			v := build(t, tr.write(t.TempDir()))
			require.Equal(t, stat.Invalid, v.Verdict, v.Sentence)
			assert.Equal(t, ExitInvalid, v.ExitCode)
			for _, p := range v.Comparisons[0].primaries() {
				assert.Equal(t, stat.Invalid, p.Verdict, p.String())
			}
			for _, form := range renderings {
				assert.Contains(t, render(t, v, form.write), r.name, form.extension)
			}
		})
	}
}

// A metric that the version which measured did not know is shown as computed; one
// that run.json has must be what the requests give.
func TestAMetricThatRunFilesLack(t *testing.T) {
	t.Parallel()
	known := build(t, newTrial(t, 6).write(t.TempDir()))
	tr := newTrial(t, 6)
	tr.edit = func(r *recorded) {
		for i := range r.run.Phases {
			delete(r.run.Phases[i].Metrics, "e2e_p95")
		}
	}
	v := build(t, tr.write(t.TempDir()))
	assert.Equal(t, render(t, known, WriteText), render(t, v, WriteText))
	assert.Contains(t, render(t, v, WriteText), "end to end p95")

	tr.edit = onRun("0001/off", func(r *recorded) { r.run.Phases[0].Metrics["e2e_p95"] *= 1.001 })
	assert.Equal(t, "INVALID(recomputation differs)", build(t, tr.write(t.TempDir())).Result)
}

func TestCompleteWithoutAnyRunIsInvalid(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 6)
	dir, err := results.Create(t.TempDir(), tr.plan(), tr.start)
	require.NoError(t, err)
	ledgerEntry(t, dir, results.Entry{Event: results.EventComplete})
	v := build(t, dir)
	assert.Equal(t, "INVALID(valid blocks missing)", v.Result)
	for _, form := range renderings {
		assert.NotContains(t, render(t, v, form.write), "PASS", form.extension)
	}
}

func TestNoComparisonNoPass(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 6)
	tr.scenario.Compare = nil
	v := build(t, tr.write(t.TempDir()))
	assert.Equal(t, stat.Invalid, v.Verdict)
	assert.Equal(t, ExitInvalid, v.ExitCode)
}

func TestDamageIsNamedAndVoidsNothingElse(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 6)
	tr.void = map[string]string{"0002": "0002/on: request failed"}
	tr.after = func(dir string) {
		require.NoError(t, os.Remove(filepath.Join(dir, "blocks", "0002", "on", "requests.jsonl.zst")))
	}
	v := build(t, tr.write(t.TempDir()))
	assert.Equal(t, "PASS", v.Result, "the damaged attempt was void: no number rests on it")
	text := render(t, v, WriteText)
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
		plan := newTrial(t, 10).plan()
		edit(plan)
		_, err := Build(&results.Campaign{Dir: t.TempDir(), Plan: plan, Complete: true}, "test")
		assert.Error(t, err, name)
	}
}

func TestIdentityOutranksInvalid(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 6)
	tr.edit = func(r *recorded) {
		if r.run.Key.String() == "0003/on" {
			r.outputs.Tokens[1][1] = 7
			r.run.Server.Backends["compile_cache"] = "other"
		}
	}
	v := build(t, tr.write(t.TempDir()))
	assert.Equal(t, "FAIL(identity)", v.Result)
	assert.Equal(t, ExitFail, v.ExitCode)
	assert.Contains(t, render(t, v, WriteText), "compile cache", "the other reason is shown too")
}

func TestReliability(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 6)
	tr.void = map[string]string{"0002": "engine exit", "0004": "engine exit"}
	tr.edit = func(r *recorded) {
		k := r.run.Key
		if k.Arm == "on" && k.Attempt == 1 && tr.void[k.Block] != "" {
			r.run.Failure, r.run.FailureClass = "the server exited with 1", "engine"
		}
	}
	v := build(t, tr.write(t.TempDir()))
	assert.Equal(t, "FAIL(reliability)", v.Result)
	assert.Equal(t, ExitFail, v.ExitCode)
}

func TestCorrectness(t *testing.T) {
	t.Parallel()
	tr := correctnessTrial(t)
	tr.edit = onRun("0001/on", func(r *recorded) { r.outputs.Tokens[1][1] = 7 })
	v := build(t, tr.write(t.TempDir()))
	assert.Equal(t, "FAIL(identity)", v.Result)
	tr = correctnessTrial(t)
	tr.edit = onRun("0001/on", func(r *recorded) { r.run.Steps.Checks = nil; r.requests[2].Error = "reset" })
	v = build(t, tr.write(t.TempDir()))
	assert.Equal(t, "INVALID(request failed)", v.Result)
	for _, form := range renderings {
		assert.NotContains(t, render(t, v, form.write), "PASS", form.extension)
	}
}

// stallOn gives every run of the arm on two stalls.
func stallOn(tr *trial) {
	tr.edit = func(r *recorded) {
		if r.run.Key.Arm != "on" {
			return
		}
		for i := 4; i < 8; i++ { // two streams in the same stall are one event
			at := int64(i/2) * 1e10
			r.requests[i].LongGaps = [][2]int64{{at, at + 4e8}}
		}
	}
}

func TestStallsKeepFromPassing(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 6)
	stallOn(tr)
	v := build(t, tr.write(t.TempDir()))
	assert.Equal(t, "INCONCLUSIVE(stalls)", v.Result)
	assert.Equal(t, ExitInconclusive, v.ExitCode)
	assert.Equal(t, 12, v.Comparisons[0].Stalls.Candidate)
	assert.Contains(t, strings.Join(v.Next, " "), "stalls")
}

func TestStallEventsAreMerged(t *testing.T) {
	t.Parallel()
	for want, gaps := range map[int][][2]int64{
		0: nil,
		1: {{10, 20}, {0, 12}, {20, 30}},
		3: {{50, 60}, {0, 10}, {11, 30}, {12, 13}},
	} {
		assert.Equal(t, want, countSeparate(gaps))
	}
}

func TestAA(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 6)
	aaTrial(tr)
	v := build(t, tr.write(t.TempDir()))
	assert.Equal(t, "PASS", v.Result)
	assert.Equal(t, "equal within 3 %", v.Comparisons[0].Phases[0].Metrics[0].Equivalence)

	noisy := newTrial(t, 6)
	aaTrial(noisy)
	noisy.noise = 0.05
	v = build(t, noisy.write(t.TempDir()))
	assert.Equal(t, stat.Inconclusive, v.Verdict)
	assert.Contains(t, render(t, v, WriteText), "UNDERPOWERED")

	faster := newTrial(t, 6)
	aaTrial(faster)
	faster.effect = map[string]float64{"ttft": -0.05, "tpot": -0.05}
	v = build(t, faster.write(t.TempDir()))
	assert.NotEqual(t, stat.Pass, v.Verdict, "an arm that is faster is not equal")
}

func TestFragilePassIsMarked(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 6)
	tr.effect["tpot"] = 0.0235 // the bound is just below the margin
	v := build(t, tr.write(t.TempDir()))
	assert.Equal(t, "PASS", v.Result)
	assert.Contains(t, strings.Join(v.Comparisons[0].remarks(), "\n"), "FRAGILE: no PASS without block")
}

func TestPublishedWithoutStepFiles(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 6)
	tr.after = func(dir string) {
		name := "steps/" + steps.FileName(0, 1, 1)
		require.NoError(t, os.Remove(filepath.Join(dir, "blocks", "0002", "on", name)))
		require.NoError(t, results.WriteJSON(filepath.Join(dir, "thinned.json"), []string{"0002/on/" + name}))
	}
	v := build(t, tr.write(t.TempDir()))
	assert.Equal(t, "PASS", v.Result)
	assert.Contains(t, strings.Join(v.Notes, "\n"), "recorded, not recomputed")
}

func TestOrderIsAdjustedWhereThePlanSaysSo(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 8)
	tr.scenario.Design.AdjustOrder = true
	tr.second = 0.04
	adjusted := build(t, tr.write(t.TempDir()))
	assert.Equal(t, "PASS", adjusted.Result, adjusted.Sentence)
	assert.Contains(t, strings.Join(adjusted.Comparisons[0].remarks(), "\n"), "order effect")

	tr.scenario.Design.AdjustOrder = false
	plain := build(t, tr.write(t.TempDir()))
	assert.Equal(t, stat.Inconclusive, plain.Verdict, "the order is noise to the unadjusted estimator")
}

func TestNotGatedIsSaidFirst(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 6)
	tr.scenario.Phases[1].Primary = []string{"ttft_p50"}
	v := build(t, tr.write(t.TempDir()))
	assert.Equal(t, "PASS", v.Result)
	text := render(t, v, WriteText)
	first := strings.Join(strings.Split(text, "\n")[:4], "\n")
	assert.Contains(t, first, "not gated: TTFT p95")
	assert.Contains(t, render(t, v, WriteMarkdown), "not gated: TTFT p95")
	assert.Contains(t, render(t, v, WriteHTML), "not gated: TTFT p95")
}

func TestDifferencesOfTheEnvironmentAreListed(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 6)
	tr.edit = func(r *recorded) {
		if r.run.Key.Arm == "on" {
			r.run.Server.Blobs = map[string]string{"vllm/v1/core/sched/scheduler.py": "other"}
		}
		if r.run.Key.String() == "0002/off" {
			r.env.Kernel = "6.9.1"
		}
	}
	text := oneLine(render(t, build(t, tr.write(t.TempDir())), WriteText))
	assert.Contains(t, text, "DIFFERS: 8c1f0e (every run of off) · other (every run of on)")
	assert.Contains(t, text, "6.9.1 (0002/off)")
}

func TestLostRunsAreShown(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 6)
	tr.after = func(dir string) {
		ledgerEntry(t, dir, results.Entry{Event: results.EventRunAbort, Block: "0003", Attempt: 1, Arm: "on", Detail: "killed in mid-run"})
	}
	v := build(t, tr.write(t.TempDir()))
	for _, form := range renderings {
		assert.Contains(t, render(t, v, form.write), "killed in mid-run", form.extension)
	}
}

func TestHugeEffectsStayFiniteNumbers(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 6)
	tr.edit = onRun("0002/on", func(r *recorded) {
		for i := range r.requests { // an absurd clock: 30 years for one token
			r.requests[i].FirstNS += 1e18
			r.requests[i].LastNS += 1e18
			r.requests[i].EndNS += 1e18
		}
	})
	v := build(t, tr.write(t.TempDir()))
	assert.Equal(t, stat.Invalid, v.Verdict)
	for _, form := range renderings {
		assert.NotRegexp(t, `\bNaN\b|\bInf\b`, render(t, v, form.write), form.extension)
	}
}

func TestHarnessFindingThatIsGoneIsShown(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 6)
	tr.void = map[string]string{"0002": "0002/on: client health"}
	tr.found = map[string][]string{"0002/on": {"probe-lag"}}
	text := oneLine(render(t, build(t, tr.write(t.TempDir())), WriteText))
	assert.Contains(t, text, "found by the harness, not found again: probe-lag")
}

// oneLine undoes the wrapping of the text report.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// A declared goodput is computed again with the plan's limits, and shown.
func TestGoodput(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 6)
	tr.scenario.Phases[0].Goodput.TTFT = time.Hour
	tr.edit = func(r *recorded) { r.run.Phases[0].Metrics["goodput"] = 100 }
	v := build(t, tr.write(t.TempDir()))
	require.NotEqual(t, stat.Invalid, v.Verdict, v.Sentence)
	for _, form := range renderings {
		assert.Contains(t, render(t, v, form.write), "goodput", form.extension)
	}
}

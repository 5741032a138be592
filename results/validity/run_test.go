package validity

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/shapes"
	"github.com/aituner/opprof/scenarios"
)

func judge(plan *results.Plan, a *results.Attempt) []Finding {
	return Run(plan, a.Run, a.Requests, a.Identity)
}

func rules(found []Finding) []Rule {
	var names []Rule
	for _, f := range found {
		names = append(names, f.Rule)
	}
	return names
}

func TestHealthyRunsHaveNoFindings(t *testing.T) {
	for _, arm := range []string{"off", "on"} {
		a := healthy("0001", arm)
		assert.Empty(t, judge(healthyPlan(), &a))
	}
}

var runMutations = []struct {
	name   string
	mutate func(plan *results.Plan, a *results.Attempt)
	rule   Rule
	cause  Cause
	phase  string
	say    string
}{
	{"unknown arm", func(p *results.Plan, a *results.Attempt) { a.Run.Key.Arm, a.Run.Steps = "off2", nil }, "unplanned-arm", CauseHarness, "", `no arm "off2"`},
	{"engine failed", func(p *results.Plan, a *results.Attempt) { a.Run.Failure, a.Run.FailureClass = "exit 137", "engine" }, "run-failed", CauseArm, "", "exit 137"},
	{"host failed", func(p *results.Plan, a *results.Attempt) { a.Run.Failure, a.Run.FailureClass = "no disk", "host" }, "run-failed", CauseHost, "", "no disk"},
	{"harness failed", func(p *results.Plan, a *results.Attempt) {
		a.Run.Failure = "bug"
		a.Run.Phases, a.Identity, a.Run.Steps = nil, nil, nil
	}, "run-failed", CauseHarness, "", "bug"},
	{"failed request", func(p *results.Plan, a *results.Attempt) { a.Requests[2].Error = "EOF" }, "request-failed", CauseArm, "wide", "1 of 5 requests of phase wide failed, the first is request 2: EOF"},
	{"failed warm-up", func(p *results.Plan, a *results.Attempt) { a.Requests[5].Error = "500" }, "request-failed", CauseArm, "arrivals", "request 0: 500"},
	{"failed identity", func(p *results.Plan, a *results.Attempt) { a.Requests[9].Error = "500" }, "request-failed", CauseArm, "identity", "1 of 4"},
	{"short request", func(p *results.Plan, a *results.Attempt) { a.Requests[2].OutputTokens = 15 }, "request-short", CauseArm, "wide", "15 of 16 tokens"},
	{"no finish reason", func(p *results.Plan, a *results.Attempt) { a.Requests[2].FinishReason = "" }, "request-short", CauseArm, "wide", `finish_reason ""`},
	{"phase missing", func(p *results.Plan, a *results.Attempt) { a.Run.Phases = a.Run.Phases[:1] }, "phase-missing", CauseHarness, "arrivals", "0 times"},
	{"unsent", func(p *results.Plan, a *results.Attempt) { a.Run.Phases[0].Unsent = 2 }, "requests-unsent", CauseClient, "wide", "2 requests"},
	{"fewer planned", func(p *results.Plan, a *results.Attempt) { a.Run.Phases[0].Planned = 3 }, "requests-unsent", CauseHarness, "wide", "the run says 3"},
	{"records lost", func(p *results.Plan, a *results.Attempt) { a.Requests = a.Requests[1:][1:] }, "requests-unsent", CauseHarness, "wide", "records of 3"},
	{"primary absent", func(p *results.Plan, a *results.Attempt) { delete(a.Run.Phases[0].Metrics, "tpot_p50") }, "primary-missing", CauseClient, "wide", "tpot_p50 of phase wide has no value"},
	{"primary zero", func(p *results.Plan, a *results.Attempt) { a.Run.Phases[1].Metrics["ttft_p95"] = 0 }, "primary-missing", CauseClient, "arrivals", "is 0"},
	{"primary negative", func(p *results.Plan, a *results.Attempt) { a.Run.Phases[1].Metrics["ttft_p95"] = -1 }, "primary-missing", CauseClient, "arrivals", "is -1"},
	{"primary NaN", func(p *results.Plan, a *results.Attempt) { a.Run.Phases[1].Metrics["ttft_p95"] = math.NaN() }, "primary-missing", CauseClient, "arrivals", "NaN"},
	{"primary infinite", func(p *results.Plan, a *results.Attempt) { a.Run.Phases[1].Metrics["ttft_p95"] = math.Inf(1) }, "primary-missing", CauseClient, "arrivals", "Inf"},
	{"primary undefined", func(p *results.Plan, a *results.Attempt) { a.Run.Phases[0].Undefined = map[string]int{"tpot_p50": 1} }, "primary-undefined", CauseClient, "wide", "1 of 4"},
	{"probe lag", func(p *results.Plan, a *results.Attempt) { a.Run.Phases[0].Client.ProbeLagP99 = 0.0021 }, "probe-lag", CauseClient, "wide", "2.1ms late (p99) in phase wide, the limit is 2ms"},
	{"no probes", func(p *results.Plan, a *results.Attempt) { a.Run.Phases[0].Client.Probes = 0 }, "probe-lag", CauseClient, "wide", "not probed"},
	{"late sends", func(p *results.Plan, a *results.Attempt) { a.Run.Phases[1].Client.SendLateP99 = 0.003 }, "send-late", CauseClient, "arrivals", "3ms late"},
	{"concurrency", func(p *results.Plan, a *results.Attempt) { a.Run.Phases[0].MeanLive = 1.89 }, "concurrency", CauseClient, "wide", "kept 1.89 of 2 streams busy"},
	{"server died", func(p *results.Plan, a *results.Attempt) {
		a.Run.Server.Stop = results.Stop{ExitCode: -1, Signal: "killed"}
	}, "server-exit", CauseArm, "", "ended by itself (exit code -1, signal: killed)"},
	{"server killed", func(p *results.Plan, a *results.Attempt) { a.Run.Server.Stop.Graceful = false }, "server-exit", CauseArm, "", "did not stop within 3 s"},
	{"two listeners", func(p *results.Plan, a *results.Attempt) { a.Run.Server.Proofs[2].Listeners = 2 }, "foreign-server", CauseHost, "", "2 sockets listen, 1 of them ours, on port 8000 (wide:after); there must be exactly one"},
	{"not ours", func(p *results.Plan, a *results.Attempt) { a.Run.Server.Proofs[0].Ours = 0 }, "foreign-server", CauseHost, "", "a socket that is not ours listens on port 8000 (ready)"},
	{"no proof", func(p *results.Plan, a *results.Attempt) { a.Run.Server.Proofs = a.Run.Server.Proofs[:4] }, "unproven-server", CauseHarness, "arrivals", `"arrivals:after"`},
	{"clock set ahead", func(p *results.Plan, a *results.Attempt) { a.Run.ClockStep = 0.51 }, "wall-clock-step", CauseHost, "", "set by +0.510 s"},
	{"clock set back", func(p *results.Plan, a *results.Attempt) { a.Run.ClockStep = -3600 }, "wall-clock-step", CauseHost, "", "set by -3600.000 s"},
	{"profiler", func(p *results.Plan, a *results.Attempt) { a.Run.Server.LogFindings[0].Kind = "profiler" }, "profiler-active", CauseHarness, "", "in the warm-up"},
	{"foreign GPU process", func(p *results.Plan, a *results.Attempt) {
		a.Run.Phases[1].ForeignGPU = []results.GPUProcess{{When: "before", PID: 41, Name: "python3"}, {When: "after", PID: 41, Name: "python3"}}
	}, "foreign-gpu-process", CauseHost, "arrivals", "1 process that is not the server's computed on a GPU beside phase arrivals (41 python3)"},
	{"request twice", func(p *results.Plan, a *results.Attempt) { a.Requests[3].Index = 2 }, "work-differs", CauseHarness, "wide", "request 2 is there twice"},
	{"warm-up lost", func(p *results.Plan, a *results.Attempt) { a.Requests = a.Requests[1:] }, "work-differs", CauseHarness, "wide", "request 0 is missing"},
	{"warm-up and timed swapped", func(p *results.Plan, a *results.Attempt) { a.Requests[0].Warmup, a.Requests[1].Warmup = false, true }, "work-differs", CauseHarness, "wide",
		"request 0 is timed, and is planned to be warm-up"},
	{"other lengths", func(p *results.Plan, a *results.Attempt) {
		p.ShapeSHA256 = map[string]string{"wide": shapes.SHA256(shapes.Of(a.Requests, "wide"))}
		a.Requests[2].WantTokens, a.Requests[2].OutputTokens = 15, 15
	}, "work-differs", CauseHarness, "wide", "the lengths of prompts or of wanted outputs are others"},
	{"wrong model", func(p *results.Plan, a *results.Attempt) { a.Requests[3].Model = "old" }, "wrong-model", CauseHost, "wide", `1 of 5 answers from model "old", not from "opbench-1"`},
	{"fingerprint", func(p *results.Plan, a *results.Attempt) { a.Requests[3].Fingerprint = "other" }, "fingerprint-changed", CauseHost, "", "2 system fingerprints (fp, other)"},
	{"late JIT", func(p *results.Plan, a *results.Attempt) { a.Run.Server.LogFindings[0].WallNS = 1100 }, "jit-in-timed-phase", CauseHarness, "wide", "1 kernel was compiled"},
	{"late JIT at the end", func(p *results.Plan, a *results.Attempt) { a.Run.Server.LogFindings[0].WallNS = 2900 }, "jit-in-timed-phase", CauseHarness, "arrivals", "1 kernel was compiled"},
	{"traceback", func(p *results.Plan, a *results.Attempt) {
		a.Run.Server.LogFindings[1].Text = `File "opprof.py", line 3`
	}, "recorder-traceback", CauseArm, "", "opprof.py"},
	{"engine error", func(p *results.Plan, a *results.Attempt) { a.Run.Server.LogFindings[1].Kind = "engine" }, "engine-error", CauseArm, "", "log says"},
	{"cached tokens unknown", func(p *results.Plan, a *results.Attempt) { a.Requests[0].CachedTokens = -1 }, "cached-tokens-unknown", CauseHarness, "wide", "1 of 5"},
	{"no steps", func(p *results.Plan, a *results.Attempt) { a.Run.Steps = nil }, "recorder-missing", CauseRecorder, "", "no step file"},
	{"no step files", func(p *results.Plan, a *results.Attempt) { a.Run.Steps.Files = nil }, "recorder-missing", CauseRecorder, "", "no step file"},
	{"no records", func(p *results.Plan, a *results.Attempt) { a.Run.Steps.Records = 0 }, "recorder-missing", CauseRecorder, "", "no record"},
	{"another revision", func(p *results.Plan, a *results.Attempt) { a.Run.Steps.Revision = "r1-seed" }, "recorder-revision", CauseHarness, "", `by "r1-seed"`},
	{"another file", func(p *results.Plan, a *results.Attempt) { a.Run.Steps.Blobs["vllm/envs.py"] = "bb" }, "recorder-revision", CauseHarness, "", "as blob bb"},
	{"recorder in off", func(p *results.Plan, a *results.Attempt) { a.Run.Key.Arm = "off" }, "recorder-unexpected", CauseHarness, "", "left 1 step file;"},
	{"torn tail", func(p *results.Plan, a *results.Attempt) { a.Run.Steps.Checks[0].Failed = 1 }, "torn-tail", CauseRecorder, "", "torn-tail failed 1 of 1"},
	{"no footer", func(p *results.Plan, a *results.Attempt) { a.Run.Steps.Checks[1].Failed = 1 }, "no-footer", CauseRecorder, "", "footer failed"},
	{"check failed", func(p *results.Plan, a *results.Attempt) {
		c := &a.Run.Steps.Checks[2]
		c.Failed, c.First = 2, "a.jsonl:3: x"
	}, "step-check", CauseRecorder, "", "check token-split failed 2 of 10 times, the first is a.jsonl:3: x"},
	{"not checked", func(p *results.Plan, a *results.Attempt) { a.Run.Steps.Checks = nil }, "step-check", CauseHarness, "", "not checked"},
	{"dropped", func(p *results.Plan, a *results.Attempt) { p.Scenario.Design.MaxDropped, a.Run.Steps.Dropped = 3, 4 }, "dropped-records", CauseRecorder, "", "4 step records were dropped, design.max_dropped allows 3"},
	{"no identity", func(p *results.Plan, a *results.Attempt) { a.Identity = nil }, "identity-missing", CauseHarness, "", "3 prompts were planned"},
	{"identity cut", func(p *results.Plan, a *results.Attempt) { a.Identity.Tokens = a.Identity.Tokens[:2] }, "identity-missing", CauseHarness, "", "2 of 3 prompts"},
}

func TestEachRunRuleFires(t *testing.T) {
	for _, m := range runMutations {
		t.Run(m.name, func(t *testing.T) {
			plan, a := healthyPlan(), healthy("0001", "on")
			m.mutate(plan, &a)
			found := judge(plan, &a)
			require.Equal(t, []Rule{m.rule}, rules(found))
			f := found[0]
			assert.Contains(t, f.Message, m.say)
			assertReads(t, f.Message)
			assert.Equal(t, m.cause, f.Cause)
			assert.Equal(t, m.phase, f.Phase)
			assert.Equal(t, ScopeRun, f.Scope)
			assert.Equal(t, a.Run.Key, f.Key)
		})
	}
}

func TestMetricIsNamed(t *testing.T) {
	plan, a := healthyPlan(), healthy("0001", "on")
	a.Run.Phases[0].Metrics = nil
	found := judge(plan, &a)
	require.Equal(t, []Rule{"primary-missing", "primary-missing"}, rules(found))
	assert.Equal(t, "output_throughput", found[1].Metric)
}

func TestLimitsAreInclusive(t *testing.T) {
	plan, a := healthyPlan(), healthy("0001", "on")
	plan.Scenario.Design.MaxDropped, a.Run.Steps.Dropped = 3, 3
	a.Run.Phases[0].Client.ProbeLagP99 = 0.002
	a.Run.Phases[0].MeanLive = 1.9
	a.Run.Phases[0].Client.SendLateP99 = 9 // means nothing in a closed loop
	a.Run.ClockStep = -0.5
	assert.Empty(t, judge(plan, &a))
}

// unfinished are the beginnings of sentences that stop before their verb, and
// numbers of one with the noun of many.
var unfinished = regexp.MustCompile(`\b(may|must)( be)?[:;,.]|\b1 (\w+ )?(files|kernels|preemptions|processes|prompts|requests|runs|slices|sockets|streams|times|tokens)\b|\bwant\b`)

// assertReads refuses messages that people stumbled over, and those of their kind.
func assertReads(t *testing.T, message string) {
	t.Helper()
	assert.NotRegexp(t, unfinished, message)
}

// What assertReads is for.
func TestUnfinishedMessagesAreNoticed(t *testing.T) {
	for _, bad := range []string{
		"1 of 9 requests failed; none may: look at the log", "1 of 9 requests, at most 1 % may be: give", "at least 95 % of that must be; more",
		"1 kernels were compiled", "1 processes that", "left 1 step files", "want one and ours",
	} {
		assert.Regexp(t, unfinished, bad)
	}
	for _, good := range []string{"1 of 9 timed requests failed", "none may be compiled there: the warm-up", "it must be ours: stop", "11 requests", "failed 1 of 1 time"} {
		assert.NotRegexp(t, unfinished, good)
	}
}

// Only a server of ours leaves a log in its run.
func TestFailedRunNamesTheLogThatThereIs(t *testing.T) {
	plan, a := healthyPlan(), healthy("0001", "off")
	a.Run.Failure = "the server ended"
	assert.Contains(t, judge(plan, &a)[0].Message, "see server.log.zst of the run")
	plan.Scenario.Engine.Kind = scenarios.EngineAttach
	assert.Equal(t, "the run ended early: the server ended", judge(plan, &a)[0].Message)
}

// One request in a hundred may lack a value.
func TestOnePercentUndefined(t *testing.T) {
	plan, a := healthyPlan(), healthy("0001", "on")
	plan.Scenario.Phases[0].Source.Requests, a.Run.Phases[0].Planned = 100, 100
	a.Requests = append(a.Requests[5:], requests("wide", 100)...)
	a.Run.Phases[0].Undefined = map[string]int{"tpot_p50": 1, "gap_p50": 50}
	assert.Empty(t, judge(plan, &a))
	a.Run.Phases[0].Undefined["tpot_p50"] = 2
	assert.Equal(t, []Rule{"primary-undefined"}, rules(judge(plan, &a)))
}

func TestBurnInMayCompile(t *testing.T) {
	plan, a := healthyPlan(), healthy("burnin-1", "on")
	a.Run.Server.LogFindings[0].WallNS = 1500
	assert.Equal(t, []Rule{"jit-in-timed-phase"}, rules(judge(plan, &a)))
	a.Run.BurnIn = true
	assert.Empty(t, judge(plan, &a))
	a.Requests[2].Error = "EOF"
	assert.Equal(t, []Rule{"request-failed"}, rules(judge(plan, &a)), "all other rules hold")
}

func TestFooterWarning(t *testing.T) {
	plan, a := healthyPlan(), healthy("0001", "on")
	a.Run.Steps.Footer = false
	a.Run.Steps.Checks[1].Failed, a.Run.Steps.Checks[1].Warning = 1, true
	assert.Empty(t, judge(plan, &a))
}

// Nobody controls an attached server's process.
func TestAttachedServer(t *testing.T) {
	plan, a := healthyPlan(), healthy("0001", "off")
	plan.Scenario.Engine.Kind = scenarios.EngineAttach
	a.Run.Server.Proofs, a.Run.Server.Stop = nil, results.Stop{}
	for i := range a.Requests {
		a.Requests[i].CachedTokens = -1
	}
	assert.Empty(t, judge(plan, &a))
}

func TestCachedTokensNeedNotBeKnownWithoutCaching(t *testing.T) {
	plan, a := healthyPlan(), healthy("0001", "off")
	a.Requests[0].CachedTokens = -1
	plan.Scenario.Engine.Args["no-enable-prefix-caching"] = ""
	assert.Empty(t, judge(plan, &a))
}

func TestNoIdentityPassPlanned(t *testing.T) {
	plan, a := healthyPlan(), healthy("0001", "off")
	plan.Scenario.Identity.Prompts, a.Identity, a.Run.Identity = 0, nil, nil
	assert.Empty(t, judge(plan, &a))
}

// A crash leaves failed requests and a traceback; all are told.
func TestFailedRunTellsItsCauses(t *testing.T) {
	plan, a := healthyPlan(), healthy("0001", "on")
	a.Run.Failure, a.Run.FailureClass = "the server ended", "engine"
	a.Run.Phases, a.Identity, a.Run.Steps = nil, nil, nil
	a.Requests[1].Error = "connection reset"
	a.Run.Server.LogFindings = []results.LogLine{{Kind: "recorder", Text: `File "opprof.py", line 7`}}
	assert.Equal(t, []Rule{"run-failed", "request-failed", "recorder-traceback"}, rules(judge(plan, &a)))
}

func TestReadmeNamesEveryRule(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, m := range runMutations {
		assert.Regexp(t, fmt.Sprintf(`\| ([a-z-]+, )?%s(, [a-z-]+)? \| run \| [a-z, ]*%s`, m.rule, m.cause), string(readme))
	}
	for _, m := range compareMutations {
		assert.Contains(t, string(readme), fmt.Sprintf("| %s | %s |", m.rule, m.scope))
	}
}

// Nothing is timed in a correctness campaign.
func TestCorrectnessMayBeProfiled(t *testing.T) {
	plan, a := healthyPlan(), healthy("0001", "on")
	plan.Scenario.Purpose = scenarios.Correctness
	a.Run.Server.LogFindings[0].Kind = "profiler"
	a.Run.Phases[0].ForeignGPU = []results.GPUProcess{{PID: 41}}
	assert.Empty(t, judge(plan, &a))
}

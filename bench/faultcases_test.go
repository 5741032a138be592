package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/steps"
	"github.com/aituner/opprof/scenarios"
)

// spent is the verdict where more blocks are void than may be repeated.
const spent = "INVALID(selection)"

// widePhase is the second phase of the gate's scenario.
const widePhase = `  - name: wide
    source:  {kind: synthetic, requests: 32, prompt_tokens: {dist: uniform, min: 32, max: 96}, output_tokens: 16, seed: 2, vocab_size: 500}
    arrival: {kind: closed, streams: 8, ramp: 100ms}
    warmup:  {requests: 8}
    primary: [output_throughput]
`

// Changes of the scenario.
var (
	impatient = []string{"identity:", "client: {request_timeout: 5s}\nidentity:"}
	// slowArrivals leaves connections idle for about five seconds between requests.
	slowArrivals = []string{"arrival: {kind: closed, streams: 8, ramp: 100ms}", "arrival: {kind: poisson, rate: 0.2/s}",
		"requests: 32,", "requests: 8,", "primary: [output_throughput]", "primary: [ttft_p50]", "warmup:  {requests: 8}", "warmup:  {requests: 2}"}
	// longPhase has room for stalls that move no metric beyond the margin.
	longPhase = []string{"requests: 12,", "requests: 80,", widePhase, ""}
	// inTurns runs the servers of a block at the same time.
	inTurns   = []string{"cooldown: 1s", "cooldown: 1s, interleave: {slice: 500ms, settle: 200ms}"}
	lateStart = []string{"ramp: 100ms", "ramp: 3s"}
	// outputsOnly asks for outputs only.
	outputsOnly = []string{"about:", "purpose: correctness\nabout:", "blocks: 6", "blocks: 1",
		"    primary: [ttft_p50, ttft_p95, tpot_p50, tpot_p95, output_throughput]\n", "", "    primary: [output_throughput]\n", ""}
)

var faultCases = []faultCase{
	// Unusual and harmless: the standard allows it.
	{name: "events split anywhere", arm: "both", faults: "split-events", imitates: "A01", result: "PASS", say: "costs less than 3 % on all"},
	{name: "every split of the bytes", proof: "harness/load TestAnySplitGivesTheSameRecord", how: "a stream cut at each byte", imitates: "A01", result: "the same record", say: "-"},
	{name: "no space after the colon", arm: "both", faults: "no-space", imitates: "A02", result: "PASS", say: "costs less than 3 % on all"},
	{name: "CR LF line ends", arm: "both", faults: "crlf", imitates: "A02", result: "PASS", say: "costs less than 3 % on all"},
	{name: "comments and other fields", arm: "both", faults: "comments", imitates: "A04 A05", result: "PASS", say: "costs less than 3 % on all"},
	{name: "data over several lines", arm: "both", faults: "multi-line", imitates: "A02", result: "PASS", say: "costs less than 3 % on all"},
	{name: "long line", arm: "both", faults: "long-line=200000", imitates: "A06", result: "PASS", say: "costs less than 3 % on all"},
	{name: "chunks with empty choices", arm: "both", faults: "empty-choices", imitates: "A10", result: "PASS", say: "costs less than 3 % on all"},
	{name: "several tokens per chunk", arm: "both", faults: "bundle=4", imitates: "A13 B06", result: "PASS", say: "costs less than 3 % on all", also: tpotIsPerToken},
	{name: "empty text with a token id", how: "the simulated engine's text is always empty", imitates: "A20", result: "PASS", say: "costs less than 3 % on all"},
	{name: "idle connections are closed", arm: "both", faults: "idle-close=2s", how: "about 5 s between requests", imitates: "A15", change: slowArrivals, result: "PASS", say: "costs less than 3 % on all", also: redials},
	{name: "connection closed behind the client's back", proof: "harness/load TestConnectionsAreReplacedBetweenRequests", how: "on a closed connection", imitates: "A15", result: "redialled before the send", say: "-"},

	// Streams that are no success.
	{name: "line above 1 MiB", arm: "on", faults: "long-line=1100000", imitates: "A06", result: "FAIL(reliability)", say: "longer than 1 MiB"},
	{name: "connection cut in mid-stream", arm: "on", faults: "cut-body", imitates: "A07", result: "FAIL(reliability)", say: "cut stream"},
	{name: "every cut of the bytes", proof: "harness/load TestEveryCutIsAFailure", how: "a stream ended at each byte", imitates: "A07", result: "a failed request", say: "-"},
	{name: "no finish_reason", arm: "on", faults: "no-finish-reason", imitates: "A07", result: "FAIL(reliability)", say: "no finish_reason"},
	{name: "no usage", arm: "on", faults: "no-usage", imitates: "A07 B04", result: "FAIL(reliability)", say: "no usage"},
	{name: "no [DONE]", arm: "on", faults: "no-done", imitates: "A07", result: "FAIL(reliability)", say: "stream ended without [DONE]"},
	{name: "error object, then [DONE]", arm: "on", faults: "error-after-tokens=5", imitates: "A08", result: "FAIL(reliability)", say: "error object in the stream"},
	{name: "error object with status 200 first", arm: "on", faults: "error-first", imitates: "A09", result: "FAIL(reliability)", say: "error object in the stream"},
	{name: "error objects in the baseline", arm: "off", faults: "error-after-tokens=5", imitates: "A08", result: spent, say: "error object in the stream"},
	{name: "status 500", arm: "on", faults: "http-500", imitates: "B12", result: "FAIL(reliability)", say: "status 500"},
	{name: "status 500 in both arms", arm: "both", faults: "http-500", imitates: "B12", result: spent, say: "status 500"},
	{name: "status 503 for a share of requests", arm: "on", faults: "http-503", imitates: "A18 C09", result: "FAIL(reliability)", say: "status 503"},
	{name: "event that is no JSON", arm: "on", faults: "bad-json", imitates: "A01", result: "FAIL(reliability)", say: "event is not a completion chunk"},
	{name: "no token ids", arm: "on", faults: "no-token-ids", imitates: "A20", result: "FAIL(reliability)", say: "not the 0 token ids received"},
	{name: "one-token outputs", arm: "on", faults: "one-token", imitates: "B01", result: "FAIL(reliability)", say: "1 output token, 20 were asked for"},
	{name: "one-token outputs in the plan", proof: "scenarios TestBad", how: "primary TPOT with outputs below 16 tokens", imitates: "B01 B02", result: "the scenario is refused", say: "-"},
	{name: "output ends early", arm: "off", faults: "short-output", imitates: "B03", result: spent, say: "19 output tokens, 20 were asked for (first of 3 attempts of off)"},
	{name: "wrong prompt token count", arm: "on", faults: "wrong-prompt-count", imitates: "B17", result: "FAIL(reliability)", say: "usage says 301 prompt tokens, 300 were sent"},
	{name: "stalled stream", arm: "on", faults: "stalled-stream", imitates: "C06", change: impatient, result: "FAIL(reliability)", say: "timeout: no end of the response within 5s"},
	{name: "half-open connection", arm: "on", faults: "half-open", imitates: "C06", change: impatient, result: "FAIL(reliability)", say: "timeout: no end of the response within 5s"},
	{name: "another model answers", arm: "off", faults: "wrong-model", imitates: "C01", result: spent, say: "another-model"},
	{name: "fingerprint changes", arm: "off", faults: "new-fingerprint", imitates: "C01", result: spent, say: "system fingerprints"},
	{name: "prefix cache hits differ", arm: "off", faults: "cached-tokens=7", imitates: "B14", result: "INVALID(prefix hits)", say: "prompt tokens cached in"},

	// Servers.
	{name: "server killed", arm: "on", faults: "kill-after=200", imitates: "C03", result: "FAIL(reliability)", say: "the server ended by itself"},
	{name: "server process killed at any moment", proof: "bench TestKilledServers", how: "SIGKILL in the warm-up, the timed part, between phases, in the identity pass of on", imitates: "C03", result: "FAIL(reliability), exit 10", say: "the run ended early: phase one: the server ended by itself (signal: killed)"},
	{name: "server process stands still", proof: "bench TestStoppedServers", how: "SIGSTOP in on for longer than a request may take; then SIGCONT or SIGKILL", imitates: "C06", result: "FAIL(reliability), exit 10", say: "timeout: no end of the response within 1s"},
	{name: "silent streams of a real process", proof: "bench TestSilentStreamsOfAProcess", how: "`--fault half-open` and `stalled-stream` in on, in real time", imitates: "C06", result: "FAIL(reliability), exit 10", say: "timeout: no end of the response within 1s"},
	{name: "server killed, its children live on", proof: "harness/engine TestChildrenOfAKilledServerAreEnded", how: "SIGKILL of the leader", imitates: "C03", result: "the whole group is ended", say: "-"},
	{name: "server killed in its turn", arm: "on", faults: "kill-after=200", change: inTurns, how: "arms take turns", imitates: "C03", result: "FAIL(reliability)", say: "the server ended by itself"},
	{name: "server ignores SIGINT", proof: "harness/engine TestStopKillsWhatIgnoresSIGINT", how: "SIGINT has no effect", imitates: "C04", result: "killed within the bound", say: "-"},
	{name: "server had to be killed at its end", edit: every("on", func(a *results.Attempt) { a.Run.Server.Stop.Graceful = false }), how: "recorded data: no graceful stop", imitates: "C04 C05", result: "FAIL(reliability)", say: "did not stop within"},
	{name: "left-over server on the port", proof: "harness/engine TestLeftOverServerIsRefused", how: "an old server keeps the port", imitates: "C01 C02, trap 2", result: "the start is refused", say: "-"},
	{name: "another server shares the port", proof: "harness/engine TestServerThatSharesThePortIsRefused", how: "SO_REUSEPORT", imitates: "C01", result: "the start is refused", say: "-"},
	{name: "second listener during a phase", edit: once("0002/on", func(a *results.Attempt) { a.Run.Server.Proofs[2].Listeners = 2 }), how: "recorded data: two listening sockets", imitates: "C01", result: "INVALID(foreign server)", say: "2 sockets listen, 1 of them ours, on port"},
	{name: "/metrics is silent", arm: "on", faults: "silent-metrics", imitates: "C13", result: spent, say: "read /metrics"},
	{name: "KV cache is smaller", arm: "on", faults: "fewer-kv-blocks=30%", imitates: "C10", result: "INVALID(kv blocks)", say: "0001/off has 8192 KV blocks, 0001/on has 5734"},
	{name: "preemptions differ", arm: "on", faults: "preempt=25", imitates: "C10", result: "INVALID(preemptions)", say: "0 preemptions in 6 runs of off"},
	{name: "compile cache differs", arm: "on", faults: "compile-cache", imitates: "C11", result: "INVALID(compile cache)", say: "of-its-own"},
	{name: "late compilation", arm: "on", faults: "late-jit=50", imitates: "trap 1", result: spent, say: "fused_moe_kernel"},
	{name: "profiler was started", arm: "on", faults: "profiler", imitates: "trap 6", result: spent, say: "profiler was started"},
	{name: "engine core fails", arm: "on", faults: "engine-error", imitates: "C03", result: "FAIL(reliability)", say: "EngineCore encountered a fatal error"},
	{name: "slower by 8 %", arm: "on", faults: "slow=8%", imitates: "D13", result: "FAIL", say: "costs more than 3 %"},
	{name: "one long stall per run", arm: "on", faults: "stall=400ms@100", imitates: "-", result: "FAIL", say: "costs more than 3 %"},
	{name: "rare short stalls", arm: "on", faults: "stall-every=120ms@700", imitates: "-", change: longPhase, result: "INCONCLUSIVE(stalls)", say: "on stalls more often than off: 12 events against 0"},

	// Outputs.
	{name: "flipped token", arm: "on", faults: "flip-token=3", imitates: "E06", result: "FAIL(identity)", say: "position 3"},
	{name: "constant outputs", arm: "both", faults: "constant-output", imitates: "trap 5", result: "INVALID(identity)", say: "vacuous"},
	{name: "outputs not reproducible", arm: "both", faults: "nondeterministic-output", imitates: "E01 E02, trap 4", result: "INVALID(identity)", say: "the baseline does not agree with itself"},
	{name: "outputs not reproducible, one block", arm: "both", faults: "nondeterministic-output", how: "purpose correctness", imitates: "E03", change: outputsOnly, result: "INVALID(identity)", say: "the baseline does not agree with itself: burnin-1/off against 0001/off"},
	{name: "flipped token, one block", arm: "on", faults: "flip-token=3", how: "purpose correctness", imitates: "E06", change: outputsOnly, result: "FAIL(identity)", say: "0001/on against 0001/off: prompt 0 differs first at position 3"},
	{name: "outputs are lost", edit: once("0003/on", func(a *results.Attempt) { a.Identity = nil }), how: "recorded data: no outputs", imitates: "-", result: "INVALID(identity missing)", say: "the identity pass is missing"},

	// Step records.
	{name: "no records", arm: "on", faults: "no-records", imitates: "F06", result: spent, say: "does not record"},
	{name: "records in the arm that does not record", arm: "off", faults: "unasked-records", imitates: "-", result: spent, say: "does not record but left 1 step file;"},
	{name: "recorder traceback", arm: "on", faults: "traceback", imitates: "-", result: "FAIL(reliability)", say: "opprof recorder failed"},
	{name: "dropped records", arm: "on", faults: "drop-records=2", imitates: "-", result: spent, say: "2 step records were dropped"},
	{name: "disk full", arm: "on", faults: "disk-full=20", imitates: "G06", result: spent, say: "no footer"},
	{name: "disk becomes full under a recording process", proof: "bench TestFullDiskUnderTheRecorder", how: "the server's files may grow no further from the middle of phase one on", imitates: "G06", result: "INVALID(selection), exit 12", say: "torn-tail"},
	{name: "disk becomes full under the campaign", proof: "bench TestFullDiskUnderTheHarness", how: "the files of opbench may grow no further from the middle of the second run on", imitates: "G06", result: "exit 13, resumed, nothing lost", say: "once that is repaired: opbench resume"},
	{name: "unexplained step gap", arm: "on", faults: "index-gap", imitates: "-", result: spent, say: "contiguous-steps"},
	{name: "wrong histogram", arm: "on", faults: "wrong-histogram", imitates: "-", result: spent, say: "context-histogram"},
	{name: "token sum off by one", arm: "on", faults: "token-sum-off-by-one", imitates: "-", result: spent, say: "token-split"},
	{name: "damaged record", arm: "on", faults: "damaged-record", imitates: "G04", result: spent, say: "check format failed"},
	{name: "glued records", arm: "on", faults: "glued-records", imitates: "G03", result: spent, say: "glued records"},
	{name: "second step file", arm: "on", faults: "second-file", imitates: "G05", result: spent, say: "one server start writes one"},
	{name: "torn last line", arm: "on", faults: "torn-tail", imitates: "G01", result: spent, say: "torn-tail"},
	{name: "no footer", arm: "on", faults: "no-footer", imitates: "C05", result: spent, say: "no footer"},

	// The client and its host.
	{name: "client is starved", edit: once("0002/off", func(a *results.Attempt) { a.Run.Phases[0].Client.ProbeLagP99 = 0.003 }), how: "recorded data: probe timer late", imitates: "B10", result: "INVALID(probe lag)", say: "probe timer was 3ms late (p99)"},
	{name: "client later in one arm", edit: every("on", func(a *results.Attempt) { a.Run.Phases[0].Client.ProbeLagMean += 0.0015 }), how: "recorded data: mean lateness differs", imitates: "B10", result: "INVALID(probe lag)", say: "the client's lateness biases"},
	{name: "times taken in two ways", edit: every("on", func(a *results.Attempt) { a.Run.Phases[0].Client.KernelStamps = 1 }), how: "recorded data: receive stamps of the kernel in one arm", imitates: "B10", result: "INVALID(stamps differ)", say: "0.0 % of the reads in one arm and 100.0 % in the other"},
	{name: "times of two kinds in one run", edit: once("0002/off", func(a *results.Attempt) { a.Run.Phases[0].Client.KernelStamps = 0.84 }), how: "recorded data: receive stamps of the kernel for some reads", imitates: "B10", result: "INVALID(stamps mixed)", say: "the kernel stamped 84.0 % of the reads in phase single"},
	{name: "busy while the other arm has its turn", edit: once("0002/off", busyBeside), how: "recorded data: half a core", imitates: "D09", result: "INVALID(idle arm)", say: "the server used 0.50 cores"},
	{name: "slices that nobody planned", edit: once("0002/off", func(a *results.Attempt) { a.Run.Phases[0].Slices = []results.Slice{{Number: 1, Requests: 12}} }), how: "recorded data: a slice", imitates: "-", result: "INVALID(slices missing)", say: "was sent in 1 slice, the plan has none"},
	{name: "arms with other slices", proof: "results/validity TestSlicesOfAPair", how: "recorded data: other requests, one arm always second", imitates: "D06", result: "INVALID(slices differ)", say: "-"},
	{name: "unsent requests", edit: once("0002/on", func(a *results.Attempt) { a.Run.Phases[1].Unsent = 2 }), how: "recorded data: two requests unsent", imitates: "-", result: "INVALID(requests unsent)", say: "phase wide left 2 requests unsent"},
	{name: "concurrency below the stated", how: "ramp of 3 s", change: lateStart, imitates: "A17 B10", result: spent, say: "of 8 streams busy on average"},
	{name: "zero in a primary metric", edit: once("0002/on", func(a *results.Attempt) { a.Run.Phases[0].Metrics["tpot_p50"] = 0 }), how: "recorded data: TPOT is 0", imitates: "B02", result: "INVALID(primary missing)", say: "tpot_p50 of phase single is 0"},
	{name: "wall clock is set", edit: once("0004/on", func(a *results.Attempt) { a.Run.ClockStep = -2 }), how: "recorded data: 2 s back during a run", imitates: "B13", result: "INVALID(wall clock step)", say: "the wall clock was set by -2.000 s"},
	{name: "foreign GPU process", edit: once("0001/off", foreignGPU), how: "recorded data: a process of nobody's", imitates: "D09", result: "INVALID(foreign gpu process)", say: "computed on a GPU beside phase single (4711 train)"},

	// Campaigns and their files.
	{name: "undeclared environment difference", edit: every("on", undeclaredVariable), how: "recorded data: OMP_NUM_THREADS in one arm", imitates: "E07", result: "INVALID(arms differ)", say: "OMP_NUM_THREADS"},
	{name: "another version in one run", edit: once("0005/on", func(a *results.Attempt) { a.Run.Server.Versions = map[string]string{"engine": "other"} }), how: "recorded data: upgraded in between", imitates: "D14", result: "INVALID(arms differ)", say: "version engine"},
	{name: "block on two hosts", edit: once("0003/on", anotherHost), how: "recorded data: another host", imitates: "D15", result: "INVALID(block spans hosts)", say: "block 0003 ran on two hosts"},
	{name: "copied runs", edit: copyRuns, how: "recorded data: each arm's runs are copies of one", imitates: "H08", result: "INVALID(zero variance)", say: "zero variance"},
	{name: "order differs", edit: once("0001/off", func(a *results.Attempt) { a.Run.Position = 1 - a.Run.Position }), how: "recorded data: places swapped", imitates: "D06", result: "INVALID(order differs from plan)", say: "block 0001: arm off ran in place"},
	{name: "number changed", edit: once("0001/on", func(a *results.Attempt) { a.Run.Phases[0].Metrics["tpot_p50"] *= 0.98 }), how: "recorded data: TPOT 2 % better", imitates: "-", result: "INVALID(recomputation differs)", say: "the requests give"},
	{name: "tampered file", damage: tamper, how: "a byte of a request file", imitates: "-", result: "INVALID(damaged run)", say: "the file was changed after the run"},
	{name: "file is lost", damage: lose, how: "run.json removed", imitates: "-", result: "INVALID(damaged run)", say: "the file is missing"},
	{name: "file was added", damage: add, how: "a second step file put in", imitates: "G05", result: "INVALID(damaged run)", say: "the file was added after the run"},
	{name: "ledger ends early", damage: cutLedger, how: "last line of the ledger removed", imitates: "-", result: "UNFINISHED", say: "Not finished"},
	{name: "ledger torn at any byte", proof: "results TestLedgerTornAtEveryByte", how: "a crash in mid-write", imitates: "G01", result: "the torn line is dropped", say: "-"},
	{name: "kill -9 of opbench", proof: "bench TestKillNineAndResume", how: "SIGKILL in mid-campaign", imitates: "G01", result: "resumed, nothing lost", say: "-"},
}

// every changes all runs of an arm that count.
func every(arm string, change func(*results.Attempt)) func(*results.Campaign) {
	return func(c *results.Campaign) {
		for i := range c.Attempts {
			if a := &c.Attempts[i]; a.Key.Arm == arm && !a.BurnIn {
				change(a)
			}
		}
	}
}

// once changes one run, named BLOCK/ARM.
func once(name string, change func(*results.Attempt)) func(*results.Campaign) {
	return func(c *results.Campaign) {
		for i := range c.Attempts {
			if c.Attempts[i].Key.String() == name {
				change(&c.Attempts[i])
			}
		}
	}
}

func busyBeside(a *results.Attempt) {
	a.Run.Phases[0].IdleSeconds, a.Run.Phases[0].IdleCPUSeconds = 10, map[string]float64{"engine_core": 5}
}

func foreignGPU(a *results.Attempt) {
	a.Run.Phases[0].ForeignGPU = []results.GPUProcess{{When: "before", PID: 4711, Name: "train"}}
}

func undeclaredVariable(a *results.Attempt) {
	a.Run.Server.Env = map[string]string{"OMP_NUM_THREADS": "2", scenarios.RecorderVariable: a.Run.Server.Env[scenarios.RecorderVariable]}
}

func anotherHost(a *results.Attempt) { a.Environment.Host = "another" }

// copyRuns puts the requests of the first run of each arm into all its runs.
func copyRuns(c *results.Campaign) {
	first := map[string]*results.Attempt{}
	for i := range c.Attempts {
		a := &c.Attempts[i]
		if a.BurnIn {
			continue
		}
		if first[a.Key.Arm] == nil {
			first[a.Key.Arm] = a
		}
		from := first[a.Key.Arm]
		a.Requests = from.Requests
		for p := range a.Run.Phases {
			a.Run.Phases[p].Metrics, a.Run.Phases[p].MeanLive = from.Run.Phases[p].Metrics, from.Run.Phases[p].MeanLive
			a.Run.Phases[p].Gaps = from.Run.Phases[p].Gaps
		}
	}
}

func file(dir string, name ...string) string {
	return filepath.Join(append([]string{results.RunPath(dir, results.Key{Block: "0002", Attempt: 1, Arm: "on"})}, name...)...)
}

func tamper(t *testing.T, dir string) {
	name := file(dir, results.RequestsFile)
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	data[len(data)/2] ^= 1
	require.NoError(t, os.WriteFile(name, data, 0o644))
}

func lose(t *testing.T, dir string) { require.NoError(t, os.Remove(file(dir, results.RunFile))) }

func add(t *testing.T, dir string) {
	require.NoError(t, os.WriteFile(file(dir, steps.Folder, "opprof-s1-dp0-1-2.jsonl"), nil, 0o644))
}

func cutLedger(t *testing.T, dir string) {
	name := results.LedgerPath(dir)
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	lines := strings.SplitAfter(string(data), "\n")
	require.Contains(t, lines[len(lines)-2], results.EventComplete)
	require.NoError(t, os.WriteFile(name, []byte(strings.Join(lines[:len(lines)-2], "")), 0o644))
}

// tpotIsPerToken: with four tokens in a chunk a step is still about 10 ms.
func tpotIsPerToken(t *testing.T, c *results.Campaign) {
	for _, a := range c.Attempts {
		assert.InDelta(t, 0.0101, a.Run.Phases[0].Metrics["tpot_p50"], 0.0003, "%s", a.Key)
	}
}

// redials: connections were found closed before they were used again.
func redials(t *testing.T, c *results.Campaign) {
	for _, a := range c.Attempts {
		assert.GreaterOrEqual(t, a.Run.Phases[1].Redials, 4, "%s", a.Key)
		assert.Zero(t, a.Run.Phases[1].Failed, "%s", a.Key)
	}
}

// Package trial writes run directories for tests as the harness does, with chosen
// effects and faults.
package trial

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/metrics"
	"github.com/aituner/opprof/results/shapes"
	"github.com/aituner/opprof/results/steps"
	"github.com/aituner/opprof/scenarios"
)

// Trial writes a run directory as the harness does, with chosen effects.
type Trial struct {
	T        *testing.T
	Scenario scenarios.Scenario
	file     string             // scenario file
	Effect   map[string]float64 // d by metric family: ttft, tpot
	Noise    float64            // standard deviation of d between blocks
	Stop     int                // blocks after which the campaign stops; 0: none
	Closed   string             // why it was closed after it stopped; "": it was not
	// edit changes a run before it is sealed.
	Edit func(*Recorded)
	// after changes the run directory when all is written.
	After  func(dir string)
	Start  time.Time
	Void   map[string]string          // block to the reason why its first attempt is void
	Second float64                    // d that the run in second place is slower by
	Found  map[string][]results.Cause // findings of the harness, by run
	// sameOrder lets the first arm run first in every block.
	SameOrder bool
	Skip      string // run that is missing from its accepted block
	// scale multiplies the effects in an arm; 1 in all but the first.
	Scale map[string]float64
	// silent leaves the looks out of the ledger.
	Silent bool
	Pilot  *results.Pilot
	Rules  string // of the plan
	// slower slows a run by a d of its own.
	Slower func(results.Key) float64
	// Groundless leaves void attempts as they are measured; else a rule fires in one of
	// their runs, whatever Void says.
	Groundless bool
	// Again has attempts of blocks that are void before the one that counts, and Lost has
	// runs that are aborted before they count.
	Again map[string]int
	Lost  []Lost
}

// Recorded is everything of one run.
type Recorded struct {
	Run      *results.Run
	Requests []results.Request
	Outputs  *results.Identity
	Env      *results.Environment
}

func overheadScenario(blocks int) scenarios.Scenario {
	return scenarios.Scenario{
		Name: "paired", Purpose: scenarios.Overhead, About: "a campaign made for a test",
		Engine: scenarios.Engine{Kind: scenarios.EngineVLLM, Model: "/models/Qwen3-30B-A3B", Args: map[string]string{"tensor-parallel-size": "1"}},
		Arms: []scenarios.Arm{
			{Name: "off", Patch: "r2-onepass"},
			{Name: "on", Patch: "r2-onepass", Env: map[string]string{scenarios.RecorderVariable: "{run_dir}/steps"}},
		},
		Compare: []scenarios.Comparison{{Baseline: "off", Candidate: "on"}},
		Phases: []scenarios.Phase{
			{Name: "single", Source: scenarios.Source{Kind: "synthetic", Requests: 12, PromptTokens: fixed(64), OutputTokens: fixed(16), Seed: 7},
				Arrival: scenarios.Arrival{Kind: "closed", Streams: 1}, Warmup: scenarios.Warmup{Requests: 1},
				Primary: []string{"output_throughput", "tpot_p50", "tpot_p95"}},
			{Name: "arrivals", Source: scenarios.Source{Kind: "synthetic", Requests: 12, PromptTokens: fixed(64), OutputTokens: fixed(16), Seed: 8},
				Arrival: scenarios.Arrival{Kind: "poisson", Rate: 4}, Warmup: scenarios.Warmup{Requests: 1},
				Primary: []string{"ttft_p50", "ttft_p95"}},
		},
		Design:   scenarios.Design{Blocks: blocks, Seed: 11, BurnInBlocks: 1, Looks: []int{blocks}},
		Gate:     scenarios.Gate{Margin: 0.03, Confidence: 0.95, RequireAllFive: true},
		Client:   scenarios.Client{MaxProbeLagP99: 2 * time.Millisecond, RequestTimeout: time.Minute},
		Identity: scenarios.Identity{Prompts: 4, PromptTokens: 8, OutputTokens: 8, MinDistinct: 4, Seed: 3},
	}
}

func fixed(n int) scenarios.Dist { return scenarios.Dist{Kind: "fixed", Value: n} }

func New(t *testing.T, blocks int) *Trial {
	return &Trial{
		T: t, Scenario: overheadScenario(blocks), file: "paired.yaml", Rules: results.RulesVersion, Noise: 0.004,
		Start: time.Date(2026, 12, 4, 9, 0, 0, 0, time.UTC), Effect: map[string]float64{"ttft": 0.004, "tpot": 0.003},
	}
}

func hashText(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func (tr *Trial) Plan() *results.Plan {
	p := &results.Plan{
		Schema: results.Schema, Kind: "plan", Tool: "test", Rules: tr.Rules, ScenarioFile: tr.file,
		Scenario: tr.Scenario, Patches: map[string]string{}, WorkloadSHA256: hashText("workload"), Pilot: tr.Pilot,
	}
	for _, a := range tr.Scenario.Arms {
		p.Patches[a.Patch] = ""
		if a.Patch != scenarios.PatchNone {
			p.Patches[a.Patch] = hashText(a.Patch)
		}
	}
	var names []string
	for _, a := range tr.Scenario.Arms {
		names = append(names, a.Name)
	}
	for i := range tr.Scenario.Design.BurnInBlocks {
		p.Blocks = append(p.Blocks, results.Block{Number: i + 1, BurnIn: true, Order: names})
	}
	reversed := slices.Clone(names)
	slices.Reverse(reversed)
	for i := range tr.Scenario.Design.Blocks {
		order := names
		switch {
		case len(names) == 3:
			order = nil
			for _, arm := range ThreeArmOrders[i%6] {
				order = append(order, names[arm])
			}
		case !tr.SameOrder && (i%4 == 1 || i%4 == 2):
			order = reversed
		}
		p.Blocks = append(p.Blocks, results.Block{Number: i + 1, Order: order})
	}
	p.ShapeSHA256 = map[string]string{}
	for _, ph := range tr.Scenario.Phases {
		p.ShapeSHA256[ph.Name] = shapes.SHA256(shapes.Of(tr.load(ph, 0, 1, 1), ph.Name))
	}
	hash(tr.T, p)
	return p
}

// hash gives a plan the hash of what it says.
func hash(t *testing.T, p *results.Plan) {
	t.Helper()
	var err error
	p.Hash, err = p.ComputeHash()
	require.NoError(t, err)
}

// ThreeArmOrders are the orders of three arms.
var ThreeArmOrders = [][]int{{1, 2, 0}, {0, 1, 2}, {2, 1, 0}, {2, 0, 1}, {0, 2, 1}, {1, 0, 2}}

// look logs the look that is planned after so many blocks.
func (tr *Trial) look(l *journal, blocks int) {
	looks := tr.Scenario.Design.Looks
	i := slices.Index(looks, blocks)
	if i < 0 || len(looks) == 1 || tr.Silent {
		return
	}
	follows := results.FollowsOn
	switch blocks {
	case looks[len(looks)-1]:
		follows = results.FollowsEnd
	case tr.Stop:
		follows = results.FollowsStop
	}
	tr.log(l, results.Entry{Event: results.EventLook, Look: i + 1, Blocks: blocks, Follows: follows})
}

// Write makes the run directory below parent.
func (tr *Trial) Write(parent string) string {
	plan := tr.Plan()
	dir, err := results.Create(parent, plan, tr.Start)
	require.NoError(tr.T, err)
	ledger := &journal{}
	tr.log(ledger, results.Entry{Event: results.EventSession, Tool: "test", Fingerprint: environment().Fingerprint})
	done := 0
	for _, blk := range plan.Blocks {
		if tr.Stop > 0 && done == tr.Stop {
			tr.log(ledger, results.Entry{Event: results.EventStop, Detail: "time budget spent"})
			break
		}
		attempt := 1
		for range tr.voids(blk.Name()) {
			tr.block(dir, ledger, blk, attempt)
			tr.log(ledger, results.Entry{Event: results.EventBlockVoid, Block: blk.Name(), Attempt: attempt, Detail: tr.Void[blk.Name()]})
			attempt++
		}
		tr.block(dir, ledger, blk, attempt)
		tr.log(ledger, results.Entry{Event: results.EventBlockValid, Block: blk.Name(), Attempt: attempt})
		if !blk.BurnIn {
			done++
			tr.look(ledger, done)
		}
	}
	if tr.Stop == 0 {
		tr.log(ledger, results.Entry{Event: results.EventComplete})
	}
	if tr.Closed != "" {
		tr.log(ledger, results.Entry{Event: results.EventClose, Detail: tr.Closed})
	}
	require.NoError(tr.T, os.WriteFile(results.LedgerPath(dir), ledger.Bytes(), 0o644))
	if tr.After != nil {
		tr.After(dir)
	}
	return dir
}

// journal is a ledger in memory: a test needs no sync to disk.
type journal struct {
	bytes.Buffer
	lines int64
}

func (tr *Trial) log(l *journal, e results.Entry) {
	e.Time = tr.Start.Add(time.Duration(l.lines) * time.Minute)
	l.lines++
	e.Seq = l.lines
	require.NoError(tr.T, json.NewEncoder(l).Encode(e))
}

func (tr *Trial) block(dir string, l *journal, blk results.Block, attempt int) {
	for position, name := range blk.Order {
		key := results.Key{Block: blk.Name(), Attempt: attempt, Arm: name}
		if key.String() == tr.Skip {
			continue
		}
		tr.abort(dir, l, blk, key, position)
		tr.log(l, results.Entry{Event: results.EventRunStart, Block: key.Block, Attempt: attempt, Arm: name})
		r := tr.record(blk, key, position)
		runDir := results.RunPath(dir, key)
		require.NoError(tr.T, os.MkdirAll(runDir, 0o755))
		if arm, _ := tr.Scenario.Arm(name); arm.Records() {
			tr.writeSteps(runDir, r)
		}
		if tr.Edit != nil {
			tr.Edit(r)
		}
		tr.ground(blk, key, position, r)
		sums := tr.seal(runDir, r)
		tr.log(l, results.Entry{Event: results.EventRunEnd, Block: key.Block, Attempt: attempt, Arm: name, SumsSHA256: sums, Findings: tr.Found[key.String()]})
	}
}

func (tr *Trial) seal(dir string, r *Recorded) string {
	t := tr.T
	files, err := results.RunFiles(&results.Attempt{Run: r.Run, Requests: r.Requests, Identity: r.Outputs, Environment: r.Env})
	require.NoError(t, err)
	for name, data := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o644))
	}
	sums, err := results.Seal(dir)
	require.NoError(t, err)
	return sums
}

// record makes one run. Numbers depend on the block, the arm and the seed only.
func (tr *Trial) record(blk results.Block, key results.Key, position int) *Recorded {
	arm, ok := tr.Scenario.Arm(key.Arm)
	require.True(tr.T, ok)
	rng := rand.New(rand.NewPCG(uint64(blk.Number), hashNumber(key.String())))
	extra := float64(position) * tr.Second
	if tr.Slower != nil {
		extra += tr.Slower(key)
	}
	return tr.measure(blk, key, position, arm, rng, extra)
}

// measure makes the records; extra slows the run by its own d.
func (tr *Trial) measure(blk results.Block, key results.Key, position int, arm scenarios.Arm, rng *rand.Rand, extra float64) *Recorded {
	r := &Recorded{Outputs: tr.outputs(), Env: environment()}
	r.Run = &results.Run{
		Schema: results.Schema, Kind: "run", Key: key, BurnIn: blk.BurnIn, Position: position,
		Start: tr.Start.Add(time.Duration(10*blk.Number+5*position) * time.Minute), Server: server(tr.Scenario, arm),
	}
	r.Run.End = r.Run.Start.Add(95 * time.Second)
	candidate := 0.0
	if arm.Name != tr.Scenario.Arms[0].Name {
		candidate = 1
		if scale, set := tr.Scale[arm.Name]; set {
			candidate = scale
		}
	}
	wall := r.Run.Start.UnixNano()
	origin := int64(1e9)
	for _, p := range tr.Scenario.Phases {
		slower := func(family string) float64 {
			return math.Exp(extra + candidate*tr.Effect[family] + tr.Noise*rng.NormFloat64()/math.Sqrt2)
		}
		requests := tr.load(p, origin, slower("ttft"), slower("tpot"))
		last := requests[len(requests)-1].EndNS
		r.Requests = append(r.Requests, requests...)
		r.Run.Phases = append(r.Run.Phases, phaseResult(p, requests, wall, rng, candidate))
		origin = last + 1e9
	}
	r.Run.Identity = &results.Outputs{Prompts: len(r.Outputs.Tokens), SHA256: hashText("outputs"), Distinct: 8, Unequal: true}
	return r
}

// hashNumber is the seed of a run's noise.
func hashNumber(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}

func phaseResult(p scenarios.Phase, requests []results.Request, wall int64, rng *rand.Rand, candidate float64) results.Phase {
	values, undefined := metrics.Compute(metrics.Phase{Requests: requests})
	first, last := int64(0), int64(0)
	for _, q := range requests {
		if !q.Warmup && first == 0 {
			first = q.SentNS
		}
		last = max(last, q.LastNS)
	}
	return results.Phase{
		Name: p.Name, WarmupStartNS: wall + requests[0].SentNS, TimedStartNS: wall + first, TimedEndNS: wall + last,
		Planned: p.Source.Requests, Finished: p.Source.Requests, Metrics: values, Undefined: undefined, MeanLive: metrics.MeanLive(requests),
		Client: results.ClientHealth{ProbeLagMean: 60e-6 + 4e-6*rng.Float64(), ProbeLagP99: 3e-4, ProbeLagMax: 6e-4, Probes: 400},
		CPUSeconds: map[string]float64{
			"engine_core": 4 + 0.03*candidate + 0.01*rng.Float64(), "api_server": 1 + 0.01*rng.Float64(), "client": 0.4,
		},
		Counters: map[string]float64{"preemptions": 0, "prefix_hits": 0},
	}
}

// load makes the requests of a phase: one stream after the other.
func (tr *Trial) load(p scenarios.Phase, origin int64, ttft, tpot float64) []results.Request {
	var out []results.Request
	at := origin
	for i := range p.Warmup.Requests + p.Source.Requests {
		vary := 1 + 0.05*math.Sin(float64(7*i))
		first := int64(80.5e6 * vary * ttft)
		step := int64(15.62e6 * (1 + 0.01*math.Sin(float64(3*i))) * tpot)
		q := results.Request{
			Phase: p.Name, Index: i, Warmup: i < p.Warmup.Requests, IntendedNS: at, SentNS: at, FirstNS: at + first,
			FirstTokens: 1, Chunks: p.Source.OutputTokens.Value, WantTokens: p.Source.OutputTokens.Value,
			PromptTokens: p.Source.PromptTokens.Value, OutputTokens: p.Source.OutputTokens.Value,
			GapMedianNS: step, GapMaxNS: step + step/10, FinishReason: "length", OutputSHA256: hashText(fmt.Sprint(p.Name, i)),
		}
		q.LastNS = q.FirstNS + step*int64(q.OutputTokens-1)
		q.EndNS = q.LastNS + 1e5
		at = q.EndNS + 1e5
		out = append(out, q)
	}
	return out
}

func (tr *Trial) outputs() *results.Identity {
	id := &results.Identity{Schema: results.Schema, Kind: "identity"}
	for i := range tr.Scenario.Identity.Prompts {
		id.Prompts = append(id.Prompts, i)
		var tokens []int
		for k := range tr.Scenario.Identity.OutputTokens {
			tokens = append(tokens, 100+37*i+k)
		}
		id.Tokens = append(id.Tokens, tokens)
	}
	return id
}

func environment() *results.Environment {
	return &results.Environment{
		Schema: results.Schema, Kind: "environment", Host: "node7", Kernel: "6.8.0", CPUModel: "Xeon 8480", Cores: 32,
		MemoryBytes: 256 << 30, GPUs: []string{"NVIDIA H20"}, Driver: "570.86", Fingerprint: hashText("host"),
	}
}

func server(s scenarios.Scenario, arm scenarios.Arm) results.Server {
	sv := results.Server{
		Engine: s.Engine.Kind, Simulated: s.Engine.Kind == scenarios.EngineSim, Model: "nonce", Port: 8123, PID: 4242, ReadyIn: 41.5,
		Command: []string{"vllm", "serve", "Qwen3-30B-A3B", "--port", "{port}", "--served-model-name", "{nonce}"}, Env: arm.Env, Patch: arm.Patch,
		Blobs: map[string]string{"vllm/v1/core/sched/scheduler.py": "8c1f0e"}, Versions: map[string]string{"vllm": "0.24.0", "torch": "2.9.1"},
		Backends:    map[string]string{"attention": "FLASH_ATTN", "moe": "triton", "dtype": "bfloat16", "compile_cache": "c0ffee"},
		ModelConfig: map[string]any{"num_experts": 128, "num_hidden_layers": 48}, ModelSHA256: hashText("model"),
		Stop: results.Stop{Requested: true, Graceful: true, Seconds: 3},
	}
	proofs := []string{"ready"}
	for _, p := range s.Phases {
		proofs = append(proofs, p.Name+":before", p.Name+":after")
	}
	for _, when := range proofs {
		sv.Proofs = append(sv.Proofs, results.Proof{When: when, Listeners: 1, Ours: 1})
	}
	return sv
}

// writeSteps writes the step file of a run: for each request one prefill step,
// then one decode step for each further token.
func (tr *Trial) writeSteps(dir string, r *Recorded) {
	t := tr.T
	require.NoError(t, os.MkdirAll(filepath.Join(dir, steps.Folder), 0o755))
	var buf bytes.Buffer
	w, err := steps.NewWriter(&buf, steps.Header{Revision: r.Run.Server.Patch, EngineID: "dp0-pid1", PID: 1, Runner: "v1", MaxNumSeqs: 8, MaxNumBatchedTokens: 8192, BlockSize: 16})
	require.NoError(t, err)
	wall, index := r.Run.Start.UnixNano(), int64(0)
	for _, q := range r.Requests {
		for k := range int64(q.OutputTokens) {
			at := q.SentNS + (q.LastNS-q.SentNS)*k/int64(q.OutputTokens)
			require.NoError(t, w.Write(stepRecord(index, wall+at, at, k == 0, int64(q.PromptTokens), k)))
			index++
		}
	}
	require.NoError(t, w.Close())
	require.NoError(t, os.WriteFile(filepath.Join(dir, steps.Folder, steps.FileName(0, 1, 1)), buf.Bytes(), 0o644))
	r.Run.Steps, err = steps.Summarize(results.Folder(dir), steps.OptionsOf(&tr.Scenario, r.Run, r.Requests))
	require.NoError(t, err)
}

func stepRecord(index, wall, mono int64, prefill bool, prompt, produced int64) steps.Record {
	rec := steps.Record{
		StepIndex: index, SubmitWallNS: wall, SubmitMonoNS: mono, ReadyMonoNS: mono + 15e6, CompleteMonoNS: mono + 15100e3,
		ModelExecuted: true, ScheduledRequests: 1, Queues: steps.Queues{Running: 1}, Backlog: 1 + index%3,
		KV: steps.KV{TotalBlocks: 100, FreeBlocks: 90, UsedBlocks: 10, Usage: 0.1}, Prefix: steps.Prefix{Local: &steps.Lookups{}},
	}
	if prefill {
		rec.ScheduledTokens, rec.PrefillTokens, rec.PrefillRequests = prompt, prompt, 1
		rec.ChunkedPrefill.Unsplit, rec.ChunkedPrefill.Tokens = 1, prompt
		rec.ChunkedPrefill.SizeHist[steps.ChunkBin(prompt)] = 1
	} else {
		rec.ScheduledTokens, rec.DecodeTokens, rec.DecodeBatchSize = 1, 1, 1
	}
	rec.ContextLengthHist[steps.ContextBin(prompt+produced)] = 1
	rec.CUDAGraph = &steps.CUDAGraph{Hit: true, RuntimeMode: "FULL", UnpaddedTokens: rec.ScheduledTokens, BucketTokens: rec.ScheduledTokens}
	return rec
}

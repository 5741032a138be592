package validity

import (
	"fmt"
	"time"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

var offOn = scenarios.Comparison{Baseline: "off", Candidate: "on"}

// healthyPlan has a closed and an open phase; its candidate records.
func healthyPlan() *results.Plan {
	return &results.Plan{Scenario: scenarios.Scenario{
		Purpose: scenarios.Overhead,
		Engine:  scenarios.Engine{Kind: scenarios.EngineVLLM, Args: map[string]string{"max-num-seqs": "32"}},
		Arms: []scenarios.Arm{
			{Name: "off", Patch: "r2-onepass"},
			{Name: "on", Patch: "r2-onepass", Env: map[string]string{scenarios.RecorderVariable: "{run_dir}/steps"}},
		},
		Compare: []scenarios.Comparison{offOn},
		Phases: []scenarios.Phase{
			{Name: "wide", Source: scenarios.Source{Requests: 4}, Arrival: scenarios.Arrival{Kind: "closed", Streams: 2}, Warmup: scenarios.Warmup{Requests: 1}, Primary: []string{"tpot_p50", "output_throughput"}},
			{Name: "arrivals", Source: scenarios.Source{Requests: 3}, Arrival: scenarios.Arrival{Kind: "poisson", Rate: 5}, Warmup: scenarios.Warmup{Requests: 1}, Primary: []string{"ttft_p95"}},
		},
		Client:   scenarios.Client{MaxProbeLagP99: 2 * time.Millisecond},
		Identity: scenarios.Identity{Prompts: 3, OutputTokens: 3, MinDistinct: 3},
	}}
}

// healthy is a valid run of an arm.
func healthy(block, arm string) results.Attempt {
	key := results.Key{Block: block, Attempt: 1, Arm: arm}
	a := results.Attempt{Key: key, Valid: true, Run: &results.Run{
		Key:      key,
		Server:   healthyServer(),
		Phases:   []results.Phase{healthyPhase("wide", 4, 1000), healthyPhase("arrivals", 3, 2000)},
		Identity: &results.Outputs{Prompts: 3, Distinct: 7, Unequal: true},
	}}
	if arm == "on" {
		a.Run.Server.Env[scenarios.RecorderVariable] = "{run_dir}/steps"
		a.Run.Steps = healthySteps()
	}
	a.Requests = append(requests("wide", 4), requests("arrivals", 3)...)
	a.Requests = append(a.Requests, requests("identity", 3)...)
	a.Identity = &results.Identity{Prompts: []int{0, 1, 2}, Tokens: [][]int{{1, 2, 3}, {4, 5, 6}, {1, 2, 7}}}
	return a
}

func healthyServer() results.Server {
	s := results.Server{
		Engine: "vllm", Command: []string{"vllm", "serve", "{model}/tiny", "--port", "{port}", "--max-num-seqs", "32", "--enforce-eager"},
		Env:   map[string]string{"PYTHONPATH": "{import_path}", "HF_HUB_OFFLINE": "1"},
		Model: "opbench-1", Port: 8000, Patch: "r2-onepass",
		Blobs:       map[string]string{"vllm/envs.py": "aa"},
		Versions:    map[string]string{"vllm": "0.24.0"},
		Backends:    map[string]string{"attention": "FLASH_ATTN", "compile_cache": "~/.cache/1", "kv_cache_tokens": "1000"},
		ModelConfig: map[string]any{"hidden_size": 128.0}, ModelSHA256: "mm",
		Fingerprints: []string{"fp"}, KVBlocks: 1000,
		Stop: results.Stop{Requested: true, Graceful: true, Seconds: 3},
		LogFindings: []results.LogLine{ // none of these matters
			{Kind: "jit", WallNS: 1099, Text: "in the warm-up"},
			{Kind: "recorder", WallNS: 1500, Text: "WARNING [opprof.py] slow disk"},
		},
	}
	for _, when := range []string{"ready", "wide:before", "wide:after", "arrivals:before", "arrivals:after"} {
		s.Proofs = append(s.Proofs, results.Proof{When: when, Listeners: 1, Ours: 1})
	}
	return s
}

// healthyPhase is timed from start+100 to start+900.
func healthyPhase(name string, planned int, start int64) results.Phase {
	return results.Phase{
		Name: name, WarmupStartNS: start, TimedStartNS: start + 100, TimedEndNS: start + 900,
		Planned: planned, Finished: planned, MeanLive: 1.95,
		Metrics:  map[string]float64{"ttft_p95": 0.02, "tpot_p50": 0.003, "output_throughput": 2000},
		Client:   results.ClientHealth{Probes: 100, ProbeLagP99: 0.001, SendLateP99: 0.001},
		Counters: map[string]float64{vllmPreemptions: 0},
	}
}

func healthySteps() *results.Steps {
	return &results.Steps{
		Files: []results.StepFile{{Name: "steps/a.jsonl.zst"}}, Records: 10, Footer: true,
		Revision: "r2-onepass", Blobs: map[string]string{"vllm/envs.py": "aa"},
		Checks: []results.Check{{ID: "torn-tail", Checked: 1}, {ID: "footer", Checked: 1}, {ID: "token-split", Checked: 10},
			{ID: "graph-mode", Skipped: "no graphs"}},
	}
}

// requests are one warm-up request and n timed ones.
func requests(phase string, n int) []results.Request {
	var all []results.Request
	for i := range n + 1 {
		all = append(all, results.Request{Phase: phase, Index: i, Warmup: i == 0 && phase != "identity",
			WantTokens: 16, OutputTokens: 16, CachedTokens: 8, FinishReason: "length", Fingerprint: "fp"})
	}
	return all
}

// healthyCampaign has four blocks of two runs.
func healthyCampaign() []results.Attempt {
	var all []results.Attempt
	for b := 1; b <= 4; b++ {
		name := fmt.Sprintf("%04d", b)
		all = append(all, healthy(name, "off"), healthy(name, "on"))
	}
	return all
}

// with sets one key of a map that other runs may share.
func with(m map[string]string, key, value string) map[string]string {
	out := map[string]string{key: value}
	for k, v := range m {
		if k != key {
			out[k] = v
		}
	}
	return out
}

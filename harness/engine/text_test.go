package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

func TestCommandParts(t *testing.T) {
	assert.Equal(t, []string{"--enforce-eager", "--max-num-seqs", "32"}, LongOptions(map[string]string{"max-num-seqs": "32", "enforce-eager": ""}))
	assert.Equal(t, []string{"HOME=/h", "A=2", "B=3"}, overlay([]string{"A=1", "HOME=/h"}, map[string]string{"B": "3", "A": "2"}))
	spec := Spec{RunDir: "/r/0001/on", Nonce: "opbench-1", Seed: 99, Arm: scenarios.Arm{Env: map[string]string{"VLLM_OPPROF_DIR": "{run_dir}/steps"}}}
	env := map[string]string{nonceVariable: "opbench-1"}
	addEnv(env, spec)
	assert.Equal(t, "/r/0001/on/steps", env["VLLM_OPPROF_DIR"])
	assert.Equal(t, map[string]string{nonceVariable: "{nonce}", "VLLM_OPPROF_DIR": "{run_dir}/steps"}, envTokens(env, spec, ""))
	args := []string{"serve", "/m/tiny", "--port", "8001", "--served-model-name", "opbench-1", "--seed", "8001", "--seed", "99", "--log", "/r/0001/on/x"}
	assert.Equal(t, []string{"serve", "{model}/tiny", "--port", "{port}", "--served-model-name", "{nonce}", "--seed", "8001", "--seed", "{seed}", "--log", "{run_dir}/x"},
		tokens(args, spec, 8001, "/m/tiny"))
}

// What vLLM 0.24.0 prints, on the CPU build and on an H200.
func TestReadBackends(t *testing.T) {
	for _, c := range []struct {
		name, log string
		want      map[string]string
	}{
		{"cpu", "(APIServer pid=3) INFO [vllm.py:1006] Asynchronous scheduling is enabled.\n" +
			"(Worker pid=1) INFO 11-29 23:46:14 [selector.py:138] Using HND KV cache layout for CPU_ATTN backend.\n" +
			"(EngineCore pid=2) INFO [core.py:114] Initializing a V1 LLM engine (v0.24.0) with config: model='m', dtype=torch.bfloat16, tensor_parallel_size=1, enforce_eager=True\n" +
			"(EngineCore pid=2) INFO [vllm.py:1006] Asynchronous scheduling is disabled.\n" +
			"INFO [kv_cache_utils.py:2146] GPU KV cache size: 2,097,152 tokens\n",
			map[string]string{"attention": "CPU_ATTN", "dtype": "torch.bfloat16", "tensor_parallel": "1", "enforce_eager": "True",
				"async_scheduling": "disabled", "kv_cache_tokens": "2,097,152"}},
		{"gpu", "INFO [cuda.py:481] Using FLASH_ATTN attention backend out of potential backends: ['FLASH_ATTN'].\n" +
			"INFO [unquantized.py:190] Using TRITON Unquantized MoE backend out of potential backends\n" +
			"INFO [backends.py:1090] Using cache directory: /c/torch_compile_cache/ab/rank_0_0 for vLLM's torch.compile\n",
			map[string]string{"attention": "FLASH_ATTN", "moe": "TRITON Unquantized MoE backend", "compile_cache": "/c/torch_compile_cache/ab/rank_0_0"}},
		{"nothing", "hello\n", map[string]string{}},
	} {
		path := filepath.Join(t.TempDir(), results.ServerLogFile)
		require.NoError(t, os.WriteFile(path, []byte(c.log), 0o644))
		assert.Equal(t, c.want, ReadBackends(path), c.name)
	}
}

func TestLogFindings(t *testing.T) {
	path := filepath.Join(t.TempDir(), results.ServerLogFile)
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	before := time.Now().UnixNano()
	tail := tailLog(path)
	for _, part := range []string{
		"INFO started\nTraceback (most recent call last):\n  File \"renderers/base.py\", line 238\n", // vLLM's own, harmless
		"Triton kernel JIT compilation dur", "ing inference: fused_moe_kernel\n", // split over two reads
		"  File \"/t/vllm/v1/opprof.py\", line 3, in f\n",
		"(APIServer pid=3) INFO 11-29 23:46:14 [api_router.py:27] Starting profiler...\n",
		"(EngineCore) ERROR EngineCore encountered a fatal error.", // no newline at the end
	} {
		_, err := f.WriteString(part)
		require.NoError(t, err)
		time.Sleep(tailEvery / 4)
	}
	tail.stop()
	found := tail.Findings()
	var kinds []results.LogKind
	for _, l := range found {
		kinds = append(kinds, l.Kind)
		assert.GreaterOrEqual(t, l.WallNS, before)
	}
	assert.Equal(t, []results.LogKind{results.LogJIT, results.LogRecorder, results.LogProfiler, results.LogEngine}, kinds)
	assert.Contains(t, found[0].Text, "fused_moe_kernel")
}

func TestLogFindingsAreBounded(t *testing.T) {
	var log Log
	for range maxFindings + 10 {
		fmt.Fprintln(&log, "Triton kernel JIT compilation during inference: k")
	}
	fmt.Fprintln(&log, "EngineDeadError")
	assert.Len(t, log.Findings(), maxFindings+1, "many lines of one kind do not hide another")
}

func TestAwaitHeader(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "opprof-s1-dp0-1-2.jsonl"), []byte(`{"header":1,"schema":1}`), 0o644))
	ctx := t.Context()
	go func() {
		time.Sleep(50 * time.Millisecond) // the line becomes whole later
		_ = os.WriteFile(filepath.Join(dir, "opprof-s1-dp0-1-2.jsonl"), []byte("{\"header\":1}\n"), 0o644)
	}()
	assert.NoError(t, AwaitHeader(ctx, dir))
}

func TestReadModel(t *testing.T) {
	dir := t.TempDir()
	e := &vllmEngine{model: dir}
	assert.ErrorContains(t, e.readModel(), "no config.json")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte(`{"model_type":"qwen3_moe"}`), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "model.safetensors"), []byte("w"), 0o644))
	require.NoError(t, e.readModel())
	assert.Equal(t, "qwen3_moe", e.config["model_type"])
	before := e.digest
	require.NoError(t, os.WriteFile(filepath.Join(dir, "model.safetensors"), []byte("ww"), 0o644))
	require.NoError(t, e.readModel())
	assert.NotEqual(t, before, e.digest, "other weights")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte("{"), 0o644))
	assert.ErrorContains(t, e.readModel(), "config.json")
	assert.NoError(t, (&vllmEngine{model: "Qwen/Qwen3-30B-A3B"}).readModel(), "a name is left to vLLM")
}

func TestVLLMRoles(t *testing.T) {
	for cmd, want := range map[string]string{"VLLM::EngineCore": "engine_core", "VLLM::Worker_TP0": "worker", "python -m x": "other"} {
		assert.Equal(t, want, vllmRole(false, cmd))
	}
	assert.Equal(t, "api_server", vllmRole(true, "python -P -m vllm.entrypoints.cli.main serve"))
}

func TestParseMetrics(t *testing.T) {
	names := scenarios.EngineVLLM.Capabilities().Metrics
	_, err := parseMetrics([]byte("not a metric {"), names)
	assert.ErrorContains(t, err, "GET /metrics")
	got, err := parseMetrics([]byte("# TYPE vllm:x_total counter\nvllm:x_total 1\n# TYPE vllm:g gauge\nvllm:g 7\n# TYPE python_total counter\npython_total 3\n"+
		"# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{engine=\"0\"} 2\nvllm:num_requests_running{engine=\"1\"} 3\n"+
		"# TYPE vllm:cache_config_info gauge\nvllm:cache_config_info{engine=\"0\",num_gpu_blocks=\"100\"} 1\nvllm:cache_config_info{engine=\"1\",num_gpu_blocks=\"90\"} 1\nvllm:cache_config_info{engine=\"2\",num_gpu_blocks=\"None\"} 1\n"), names)
	require.NoError(t, err)
	assert.Equal(t, Scrape{Counters: map[string]float64{"vllm:x_total": 1}, Gauges: map[string]float64{names.Running: 5}, KVBlocks: 190}, got)
}

package scenarios

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	known = Known{Patches: []string{"control-spin", "r1-seed"}}
	// shipped are the revisions that the bundled scenarios name.
	shipped = Known{Patches: []string{"control-spin", "plugin", "r1-seed", "r2-onepass", "r3-packed"}}
)

// good is a scenario without a problem; the tables break it.
const good = `scenario: sample
purpose: overhead
engine:
  kind: sim
  args: {step-base: 10ms}
arms:
  off: {}
  on: {env: {VLLM_OPPROF_DIR: "{run_dir}/steps"}}
phases:
  - name: wide
    source: {seed: 7, requests: 20}
    arrival: {kind: closed, streams: 2}
    warmup: {requests: 4}
    primary: [tpot_p50]
design: {blocks: 6, seed: 1, cooldown: 1s}
gate: {margin: 3%}
`

// replace changes the first occurrence, which must be there.
func replace(t *testing.T, text, from, to string) string {
	t.Helper()
	require.Contains(t, text, from)
	return strings.Replace(text, from, to, 1)
}

func readme(t *testing.T) string {
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	return string(text)
}

func TestBundledLoad(t *testing.T) {
	want := []string{
		"batch-invariant", "ci-regress", "h200-r2", "noop", "phase2-h20-tp1", "phase2-h20-tp2", "phase2-h20-tp4", "positive-control", "quickstart", "revisions",
		"vllm-cpu", "vllm-cpu-aa", "vllm-cpu-azure", "vllm-cpu-cached", "vllm-cpu-check", "vllm-cpu-interleaved-aa",
		"vllm-cpu-plugin",
	}
	require.Equal(t, want, Bundled())
	for _, name := range Bundled() {
		s, text, err := Read(name+".yaml", shipped)
		if !assert.NoError(t, err) {
			continue
		}
		embedded, err := Open(name)
		assert.NoError(t, err)
		assert.Equal(t, string(embedded), string(text))
		assert.Equal(t, name, s.Name)
		assert.NotEmpty(t, s.About, name)
		assert.Contains(t, readme(t), "`"+name+"`")
	}
}

// A seed that two scenarios share gives both the same order of runs: what hangs on the
// order and the time of day together would come out alike.
func TestBundledSeedsDiffer(t *testing.T) {
	of := map[uint64]string{}
	for _, name := range Bundled() {
		s, _, err := Read(name+".yaml", shipped)
		require.NoError(t, err)
		assert.Empty(t, of[s.Design.Seed], "%s has the seed of another scenario", name)
		of[s.Design.Seed] = name
	}
	assert.Len(t, of, len(Bundled()))
}

// The JSON form holds everything: reading it back gives the same scenario, and
// loading twice gives the same bytes.
func TestCanonicalRoundTrip(t *testing.T) {
	for _, name := range Bundled() {
		text, err := Open(name)
		require.NoError(t, err)
		first, err := Load(name, text, shipped)
		require.NoError(t, err)
		second, err := Load("elsewhere/"+name, text, shipped)
		require.NoError(t, err)
		a, err := json.Marshal(first)
		require.NoError(t, err)
		b, err := json.Marshal(second)
		require.NoError(t, err)
		assert.Equal(t, string(a), string(b))

		var back Scenario
		require.NoError(t, json.Unmarshal(a, &back))
		c, err := json.Marshal(back)
		require.NoError(t, err)
		assert.Equal(t, string(a), string(c))
	}
}

// Writing a default out, other key orders and comments do not change the
// canonical form.
func TestCanonicalIgnoresSpelling(t *testing.T) {
	plain, err := Load("a", []byte(good), known)
	require.NoError(t, err)
	text := replace(t, good, "gate: {margin: 3%}", `
gate: {require_aa: false, margin: "3.0 %", confidence: 95%} # the usual
compare: [{candidate: on, baseline: off}]
identity: {prompts: 64, seed: 20260711}
windows: []`)
	text = replace(t, text, "cooldown: 1s", "cooldown: 1000ms, looks: [6]")
	spelled, err := Load("b", []byte(text), known)
	require.NoError(t, err)
	assert.Equal(t, plain, spelled)
}

func TestDefaults(t *testing.T) {
	s, err := Load("x", []byte(`
scenario: least
engine: {kind: vllm, model: m}
arms:
  off: {patch: r1-seed}
  on: {patch: r1-seed, env: {VLLM_OPPROF_DIR: "{run_dir}/steps"}}
phases:
  - {name: closed, source: {seed: 1}}
  - {name: open, source: {seed: 2, output_tokens: {dist: lognormal, median: 50, p95: 90}}, arrival: {kind: poisson, rate: 2.5/s}}
  - {name: wide, source: {seed: 3}, arrival: {streams: 32}}
design: {seed: 5}
`), known)
	require.NoError(t, err)
	fixed := Dist{Kind: "fixed", Value: 128}
	source := Source{
		Kind: "synthetic", Requests: 100, PromptTokens: fixed, OutputTokens: fixed,
		Seed: 1, VocabSize: 32000, VocabLow: 10,
	}
	open, wide := source, source
	open.Seed, wide.Seed = 2, 3
	open.OutputTokens = Dist{Kind: "lognormal", Min: 1, Max: 360, Median: 50, P95: 90}
	none := map[string]string{}
	throughput := []string{"output_throughput", "tpot_p50", "tpot_p95"}
	assert.Equal(t, &Scenario{
		Name: "least", Purpose: Overhead,
		Engine: Engine{Kind: EngineVLLM, Model: "m", Python: "python3", Args: none, Env: none},
		Arms: []Arm{
			{Name: "off", Patch: "r1-seed", Env: none, Args: none},
			{Name: "on", Patch: "r1-seed", Env: map[string]string{RecorderVariable: "{run_dir}/steps"}, Args: none},
		},
		Compare: []Comparison{{Baseline: "off", Candidate: "on"}},
		Phases: []Phase{
			{Name: "closed", Source: source, Arrival: Arrival{Kind: "closed", Streams: 1}, Warmup: Warmup{10}, Primary: throughput},
			{Name: "open", Source: open, Arrival: Arrival{Kind: "poisson", Rate: 2.5}, Warmup: Warmup{10}, Primary: []string{"ttft_p50", "ttft_p95"}},
			{Name: "wide", Source: wide, Arrival: Arrival{Kind: "closed", Streams: 32}, Warmup: Warmup{32}, Primary: throughput},
		},
		Design:   Design{Blocks: 10, Seed: 5, BurnInBlocks: 1, Looks: []int{10}, Cooldown: 5 * time.Second},
		Gate:     Gate{Margin: 0.03, Confidence: 0.95},
		Client:   Client{MaxProbeLagP99: 2 * time.Millisecond, RequestTimeout: 2 * time.Minute},
		Identity: Identity{Prompts: 64, PromptTokens: 32, OutputTokens: 64, MinDistinct: 4, Seed: 20260711},
	}, s)
}

func TestCorrectnessDefaults(t *testing.T) {
	text := replace(t, good, "purpose: overhead", "purpose: correctness")
	text = replace(t, text, "blocks: 6, ", "")
	text = replace(t, text, "    primary: [tpot_p50]\n", "")
	s, err := Load("x", []byte(text), known)
	require.NoError(t, err)
	assert.Equal(t, Design{Blocks: 1, Seed: 1, Looks: []int{1}, Cooldown: time.Second}, s.Design)
	assert.Empty(t, s.Phases[0].Primary)
	assert.Equal(t, theFive, metricNames(s.NotGated()))
}

func TestAllFiveByName(t *testing.T) {
	for name, want := range map[string]bool{"phase2-x": true, "revisions": true, "phase-2": false} {
		text := replace(t, good, "scenario: sample", "scenario: "+name)
		text = replace(t, text, "[tpot_p50]", "[ttft_p50, ttft_p95, tpot_p50, tpot_p95, output_throughput]")
		s, err := Load("x", []byte(text), known)
		require.NoError(t, err)
		assert.Equal(t, want, s.Gate.RequireAllFive, name)
		assert.Empty(t, s.NotGated())
	}
}

func TestFixedInWords(t *testing.T) {
	s, err := Load("x", []byte(replace(t, good, "requests: 20", "output_tokens: {dist: fixed, value: 77}")), known)
	require.NoError(t, err)
	assert.Equal(t, Dist{Kind: "fixed", Value: 77}, s.Phases[0].Source.OutputTokens)
}

// An A/A of attached endpoints is the only one without an identity pass.
func TestAttachedAA(t *testing.T) {
	text := replace(t, attached, "scenario: attached", "scenario: attached\npurpose: aa\nidentity: {prompts: 0}")
	s, err := Load("x", []byte(text), known)
	require.NoError(t, err)
	assert.Zero(t, s.Identity.Prompts)
	assert.Equal(t, "http://b:1", s.Arms[1].URL)
}

func TestControl(t *testing.T) {
	text := replace(t, spun, "model: m", "model: m, schedule: {worker: idle}")
	s, err := Load("x", []byte(text), known)
	require.NoError(t, err)
	assert.Equal(t, 10, s.Design.Blocks)
	assert.Equal(t, map[string]string{"worker": "idle"}, s.Engine.Schedule)
}

func TestArgsAndEnvOfAnArm(t *testing.T) {
	text := replace(t, good, "{step-base: 10ms}", `{a: true, no-b: true, n: 3, text: "x y"}
  env: {N: 1, S: "", T: "true"}`)
	text = replace(t, text, "off: {}", `off: {args: {no-a: true, b: true, n: 0x10}, env: {N: 2.50}}`)
	s, err := Load("x", []byte(text), known)
	require.NoError(t, err)
	off, found := s.Arm("off")
	require.True(t, found)
	assert.Equal(t, map[string]string{"no-a": "", "b": "", "n": "0x10", "text": "x y"}, s.ArmArgs(off))
	assert.Equal(t, map[string]string{"N": "2.50", "S": "", "T": "true"}, s.ArmEnv(off))
	on, _ := s.Arm("on")
	assert.Equal(t, s.Engine.Args, s.ArmArgs(on))
	assert.True(t, on.Records())
	assert.False(t, off.Records())
	_, found = s.Arm("other")
	assert.False(t, found)
}

func TestArmArgsWithoutMaps(t *testing.T) {
	var s Scenario
	arm := Arm{Args: map[string]string{"a": ""}, Env: map[string]string{"B": "1"}}
	assert.Equal(t, arm.Args, s.ArmArgs(arm))
	assert.Equal(t, arm.Env, s.ArmEnv(arm))
}

func TestOpenUnknown(t *testing.T) {
	_, err := Open("quickstrat")
	assert.EqualError(t, err, `no bundled scenario "quickstrat"; did you mean quickstart?`)
}

func TestRead(t *testing.T) {
	_, _, err := Read(filepath.Join(t.TempDir(), "absent.yaml"), known)
	assert.ErrorIs(t, err, os.ErrNotExist)
	_, _, err = Read(t.TempDir(), known)
	assert.Error(t, err)
	assert.False(t, errors.As(err, new(Errors)))

	huge := filepath.Join(t.TempDir(), "huge.yaml")
	require.NoError(t, os.WriteFile(huge, []byte(strings.Repeat("#\n", maxSize)), 0o600))
	_, text, err := Read(huge, known)
	assert.EqualError(t, err, huge+":1:1: larger than 1 MiB: this is no scenario")
	assert.Len(t, text, maxSize+1)
}

// A cut file never loads as another scenario: it fails, or what is missing
// lies after the last value that matters.
func TestCutAnywhere(t *testing.T) {
	whole, err := Load("x", []byte(good), known)
	require.NoError(t, err)
	loaded := 0
	for n := range len(good) {
		s, err := Load("x", []byte(good[:n]), known)
		if err != nil {
			var problems Errors
			require.ErrorAs(t, err, &problems)
			require.NotEmpty(t, problems)
			continue
		}
		loaded++
		assert.Equal(t, whole, s, good[:n])
	}
	// After the design line, the gate's default or its whole line.
	assert.LessOrEqual(t, loaded, 6)
}

func TestErrorListIsBounded(t *testing.T) {
	text := good + strings.Repeat("unknown: 1\n", 50_000)
	_, err := Load("x", []byte(text), known)
	var problems Errors
	require.ErrorAs(t, err, &problems)
	assert.Len(t, problems, maxErrors)
	assert.True(t, strings.HasSuffix(err.Error(), "\nthere may be more: correct these first"))
}

const served = `scenario: served
purpose: overhead
engine: {kind: vllm, model: m}
arms:
  off: {patch: r1-seed}
  on: {patch: r1-seed, env: {VLLM_OPPROF_DIR: "{run_dir}/steps"}}
phases:
  - {name: single, source: {seed: 7}}
design: {seed: 1}
`

const attached = `scenario: attached
engine: {kind: attach, model: m}
arms:
  off: {url: "http://a:1"}
  on: {url: "http://b:1"}
phases:
  - {name: single, source: {seed: 7}}
design: {seed: 1}
`

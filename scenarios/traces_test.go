package scenarios

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The traces that ship are the published rows: another checksum means that
// recorded campaigns cannot be run again.
func TestShippedTraces(t *testing.T) {
	notice, err := os.ReadFile("traces/README.md")
	require.NoError(t, err)
	sums := map[string]string{
		"azure-conv":    "ccfff590d4714fb1c091d39fd618b0303c1e43976a75e0f97ad2f4b8de8d78e0",
		"mooncake-conv": "7f0f42025c3a7065a7672d854fa88ce778d061ea0a7df327221f05aeda8439dd",
	}
	for _, name := range Traces() {
		in, err := OpenTrace(name)
		require.NoError(t, err)
		sum := sha256.New()
		_, err = io.Copy(sum, in)
		require.NoError(t, err)
		require.NoError(t, in.Close())
		assert.Equal(t, sums[name], hex.EncodeToString(sum.Sum(nil)), name)
		assert.Contains(t, string(notice), "`"+name+"`")
		assert.Contains(t, readme(t), "`"+name+"`")
	}
	assert.Len(t, Traces(), len(sums))
}

func TestOpenTraceFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	_, err := OpenTrace(path)
	assert.ErrorIs(t, err, os.ErrNotExist)
	assert.ErrorContains(t, err, "traces that ship with the tool: azure-conv, mooncake-conv")
	require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
	in, err := OpenTrace(path)
	require.NoError(t, err)
	assert.NoError(t, in.Close())
}

// replays is good with a trace in place of its source and arrivals.
func replays(t *testing.T, source, arrival string) string {
	text := replace(t, good, "{seed: 7, requests: 20}", "{seed: 7, kind: trace, "+source+"}")
	text = replace(t, text, "{kind: closed, streams: 2}", arrival)
	return replace(t, text, "[tpot_p50]", "[ttft_p95]")
}

func TestTraceSource(t *testing.T) {
	s, err := Load("x", []byte(replays(t, "format: azure, path: azure-conv", "{kind: trace}")), known)
	require.NoError(t, err)
	p := s.Phases[0]
	assert.Equal(t, Source{
		Kind: "trace", Requests: 100, Seed: 7, VocabSize: 32000, VocabLow: 10,
		Format: "azure", Path: "azure-conv", ScaleTokens: 1,
	}, p.Source, "the lengths are the trace's")
	assert.Equal(t, Arrival{Kind: "trace", Scale: 1}, p.Arrival)

	source := "format: vllm, path: t.jsonl, requests: 30, skip: 5, scale_tokens: 0.25, max_prompt: 900, max_output: 100, time_unit: 1ms"
	text := replace(t, replays(t, source, "{kind: trace, scale: 0.5}"), "[ttft_p95]", "[ttft_p95]\n    goodput: {ttft: 200ms, tpot: 20ms}")
	s, err = Load("x", []byte(text), known)
	require.NoError(t, err)
	p = s.Phases[0]
	assert.Equal(t, Source{
		Kind: "trace", Requests: 30, Seed: 7, VocabSize: 32000, VocabLow: 10, Format: "vllm", Path: "t.jsonl",
		Skip: 5, ScaleTokens: 0.25, MaxPrompt: 900, MaxOutput: 100, TimeUnit: time.Millisecond,
	}, p.Source)
	assert.Equal(t, 0.5, p.Arrival.Scale)
	assert.Equal(t, Goodput{TTFT: 200 * time.Millisecond, TPOT: 20 * time.Millisecond}, p.Goodput)
}

func TestOpenLoops(t *testing.T) {
	for text, want := range map[string]Arrival{
		"{kind: constant, rate: 5/s}":                {Kind: "constant", Rate: 5},
		"{kind: gamma, rate: 5/s, burstiness: 0.25}": {Kind: "gamma", Rate: 5, Burstiness: 0.25},
		"{kind: poisson, rate: 0.5/s}":               {Kind: "poisson", Rate: 0.5},
	} {
		s, err := Load("x", []byte(replace(t, good, "{kind: closed, streams: 2}", text)), known)
		require.NoError(t, err)
		assert.Equal(t, want, s.Phases[0].Arrival)
	}
}

// A custom trace needs a unit only where its times are used.
func TestUnitOfACustomTrace(t *testing.T) {
	const source = "format: custom, path: t.jsonl"
	_, err := Load("x", []byte(replays(t, source, "{kind: poisson, rate: 5/s}")), known)
	assert.NoError(t, err)
	_, err = Load("x", []byte(replays(t, source, "{kind: trace}")), known)
	assert.ErrorContains(t, err, "phases[0].source.time_unit: missing: timestamps of format custom can count anything")
}

func TestScaleOfTraceArrivals(t *testing.T) {
	for _, scale := range []string{"0.0001", "1001"} {
		_, err := Load("x", []byte(replays(t, "format: azure, path: azure-conv", "{kind: trace, scale: "+scale+"}")), known)
		assert.ErrorContains(t, err, "phases[0].arrival.scale: want a factor from 0.001 to 1000, got "+scale)
	}
}

// Lengths of a trace are not known when a scenario is loaded, so bounds must
// keep them below a stated limit of the server.
func TestTraceUnderAModelLength(t *testing.T) {
	for source, want := range map[string]string{
		"":                                   "phases[0].source: a trace needs max_prompt and max_output under engine.args.max-model-len (2048)",
		", max_prompt: 1000":                 "phases[0].source: a trace needs max_prompt and max_output",
		", max_prompt: 2000, max_output: 49": "phases[0].source: a request can need 2000 + 49 tokens, more than engine.args.max-model-len (2048)",
		", max_prompt: 2000, max_output: 48": "",
	} {
		text := replays(t, "format: azure, path: azure-conv"+source, "{kind: trace}")
		_, err := Load("x", []byte(replace(t, text, "step-base: 10ms", "max-model-len: 2048")), known)
		if want == "" {
			assert.NoError(t, err, source)
		} else {
			assert.ErrorContains(t, err, want, source)
		}
	}
}

// A file is found from the scenario, whatever the working directory is.
func TestTracePathIsRelativeToTheScenario(t *testing.T) {
	for _, c := range []struct{ scenario, path, want string }{
		{"s.yaml", "t.jsonl", "t.jsonl"},
		{"a/b/s.yaml", "t.jsonl", "a/b/t.jsonl"},
		{"a/b/s.yaml", "../t.jsonl", "a/t.jsonl"},
		{"a/s.yaml", "/t.jsonl", "/t.jsonl"},
		{"a/s.yaml", "azure-conv", "azure-conv"},
		{"a/s.yaml", "./azure-conv", "a/azure-conv"},
		{"s.yaml", "./azure-conv", "./azure-conv"},
		{"a/s.yaml", "../azure-conv", "./azure-conv"},
	} {
		s, err := Load(c.scenario, []byte(replays(t, "format: azure, path: "+c.path, "{kind: trace}")), known)
		require.NoError(t, err)
		assert.Equal(t, c.want, s.Phases[0].Source.Path)
	}
}

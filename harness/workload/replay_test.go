package workload

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/scenarios"
)

// replayed is a phase over a trace that ships with the tool.
func replayed(format, path string) scenarios.Phase {
	return scenarios.Phase{
		Name: "replay",
		Source: scenarios.Source{Kind: "trace", Format: format, Path: path, Requests: 100, Seed: 7,
			VocabLow: 10, VocabSize: 500, ScaleTokens: 1},
		Arrival: scenarios.Arrival{Kind: "trace", Scale: 1},
		Warmup:  scenarios.Warmup{Requests: 10},
	}
}

// written is a phase over a custom trace of these rows.
func written(t *testing.T, rows ...string) scenarios.Phase {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(rows, "\n")), 0o600))
	p := replayed("custom", path)
	p.Source.Requests, p.Warmup.Requests, p.Arrival = len(rows), 0, scenarios.Arrival{Kind: "closed", Streams: 1}
	return p
}

func TestReplayAzure(t *testing.T) {
	p := replayed("azure", "azure-conv")
	p.Source.Skip, p.Source.ScaleTokens, p.Arrival.Scale = 1, 0.1, 0.5
	w := expand(t, p)
	require.Len(t, w.Requests, 110)
	assert.True(t, w.Open)
	assert.Equal(t, 10, w.Warmup())
	// rows 2 and 3 of the trace: 18:15:50.9951690,396,109 and 18:15:51.2224670,879,55
	first, second := w.Requests[0], w.Requests[1]
	assert.Equal(t, []int{40, 11, 88, 6}, []int{len(first.Prompt), first.MaxTokens, len(second.Prompt), second.MaxTokens},
		"halves are rounded up")
	assert.Zero(t, first.Offset)
	assert.Equal(t, 227298*time.Microsecond/2, second.Offset)
	for i, r := range w.Requests[1:] {
		assert.GreaterOrEqual(t, r.Offset, w.Requests[i].Offset)
		assert.Equal(t, i+1, r.Index)
		assert.True(t, slices.Min(r.Prompt) >= 10 && slices.Max(r.Prompt) < 500)
	}
}

// Rows without prefix identity share no cache block.
func TestReplayedPromptsDiffer(t *testing.T) {
	p := replayed("azure", "azure-conv")
	p.Source.Requests, p.Source.ScaleTokens = 490, 0.01 // half of them are shorter than a cache block
	seen := map[string]bool{}
	for _, r := range expand(t, p).Requests {
		key := blockKey(r.Prompt)
		assert.False(t, seen[key] && len(r.Prompt) >= cacheBlock)
		seen[key] = true
	}
}

func TestTraceUnderOtherArrivals(t *testing.T) {
	p := replayed("azure", "azure-conv")
	p.Arrival = scenarios.Arrival{Kind: "closed", Streams: 2}
	w := expand(t, p)
	assert.False(t, w.Open)
	for _, r := range w.Requests {
		assert.Zero(t, r.Offset)
	}
	p.Arrival = scenarios.Arrival{Kind: "constant", Rate: 2}
	assert.Equal(t, 55*time.Second, expand(t, p).Requests[109].Offset, "another arrival process over the lengths of a trace")
}

// Equal hash ids give equal blocks, different ones different blocks; scaling
// keeps what is shared in proportion.
func TestReplayMooncake(t *testing.T) {
	for _, scale := range []float64{1, 0.1, 0.5} {
		p := replayed("mooncake", "mooncake-conv")
		p.Source.ScaleTokens = scale
		requests := expand(t, p).Requests
		// the file begins with 6758 tokens of ids 0 to 13 and 7322 of 0, 14 to 27
		block, a, b := scaled(512, scale), requests[0].Prompt, requests[1].Prompt
		assert.Len(t, a, 13*block+scaled(6758-13*512, scale))
		assert.Equal(t, a[:block], b[:block], "id 0")
		assert.NotEqual(t, a[block:2*block], b[block:2*block], "ids 1 and 14")
		assert.NotEqual(t, a[:block], a[block:2*block], "ids 0 and 1")
	}
	p := replayed("mooncake", "mooncake-conv")
	p.Source.MaxPrompt, p.Source.MaxOutput = 700, 20
	for _, r := range expand(t, p).Requests {
		assert.True(t, len(r.Prompt) <= 700 && r.MaxTokens <= 20)
	}
	whole := expand(t, replayed("mooncake", "mooncake-conv")).Requests[0].Prompt
	assert.Equal(t, whole[:700], expand(t, p).Requests[0].Prompt, "a cut prompt keeps its beginning")
}

func TestReplayCustom(t *testing.T) {
	p := written(t, `{"prompt": [3, 0, 499], "output_length": 4}`, `{"input_length": 40, "output_length": 16}`,
		`{"text": "caf\u00e9", "output_length": 5}`, `{"messages": [{"role": "user", "content": "x"}], "output_length": 6}`)
	requests := expand(t, p).Requests
	assert.Equal(t, []int{3, 0, 499}, requests[0].Prompt)
	assert.Len(t, requests[1].Prompt, 40)
	assert.Equal(t, Request{Index: 2, MaxTokens: 5, Text: `"caf\u00e9"`}, requests[2])
	assert.Equal(t, Request{Index: 3, MaxTokens: 6, Text: `[{"role": "user", "content": "x"}]`, Chat: true}, requests[3])
}

func TestScaledRounding(t *testing.T) {
	for tokens, want := range map[int]int{1: 1, 4: 1, 14: 1, 15: 2, 24: 2, 25: 3, 1048576: 104858} {
		assert.Equal(t, want, scaled(tokens, 0.1), tokens)
	}
}

func TestReplayRefuses(t *testing.T) {
	azure := func(change func(*scenarios.Phase)) scenarios.Phase {
		p := replayed("azure", "azure-conv")
		change(&p)
		return p
	}
	ids := written(t, `{"prompt": [3, 500], "output_length": 4}`)
	long := written(t, `{"prompt": [3, 4], "output_length": 4}`)
	long.Source.ScaleTokens = 0.5
	for want, p := range map[string]scenarios.Phase{
		"has 500 rows, 510 are needed":                                    azure(func(p *scenarios.Phase) { p.Source.Requests = 500 }),
		"phase replay: open trace: open absent":                           azure(func(p *scenarios.Phase) { p.Source.Path = "absent" }),
		"ship with the tool: azure-conv, mooncake":                        azure(func(p *scenarios.Phase) { p.Source.Path = "absent" }),
		"is a directory":                                                  azure(func(p *scenarios.Phase) { p.Source.Path = t.TempDir() }),
		"azure-conv:1: want a JSON object":                                azure(func(p *scenarios.Phase) { p.Source.Format = "mooncake" }),
		"source skip -1 is negative":                                      azure(func(p *scenarios.Phase) { p.Source.Skip = -1 }),
		"source scale_tokens 0":                                           azure(func(p *scenarios.Phase) { p.Source.ScaleTokens = 0 }),
		"arrival scale 0":                                                 azure(func(p *scenarios.Phase) { p.Arrival.Scale = 0 }),
		"vocabulary [10, 10)":                                             azure(func(p *scenarios.Phase) { p.Source.VocabSize = 10 }),
		"timed outputs are shorter than 16 tokens":                        azure(func(p *scenarios.Phase) { p.Source.ScaleTokens, p.Primary = 0.1, []string{"ttft_p50", "tpot_p95"} }),
		"t.jsonl:1: token id 500 is outside the vocabulary [0, 500)":      ids,
		"t.jsonl:1: the row gives token ids, which scale_tokens cannot s": long,
	} {
		_, err := Expand(p)
		assert.ErrorContains(t, err, want)
	}
}

// One output in a hundred may be too short for a time per token, not two.
func TestPrimaryTPOTNeedsLongOutputs(t *testing.T) {
	rows := slices.Repeat([]string{`{"input_length": 40, "output_length": 16}`}, 100)
	rows[50] = strings.Replace(rows[50], ": 16}", ": 15}", 1)
	p := written(t, rows...)
	p.Primary = []string{"tpot_p50"}
	expand(t, p)
	rows[51] = rows[50]
	p = written(t, rows...)
	p.Primary = []string{"tpot_p50"}
	_, err := Expand(p)
	assert.ErrorContains(t, err, "primary tpot_p50: 2 of 100 timed outputs are shorter than 16 tokens")
	p.Primary = []string{"ttft_p50"}
	expand(t, p)
}

// The hash says what was sent: the same trace gives the same one, a change of a
// row that matters another, a change behind the last row none.
func TestHashFollowsTheTrace(t *testing.T) {
	rows := []string{`{"text": "a", "output_length": 5}`, `{"input_length": 9, "output_length": 5}`, `{"input_length": 9, "output_length": 5}`}
	sum := func(rows ...string) string {
		p := written(t, rows...)
		p.Source.Requests = 2
		return Hash([]Workload{expand(t, p)}, nil)
	}
	base := sum(rows...)
	assert.Equal(t, base, sum(rows...))
	assert.Equal(t, base, sum(rows[0], rows[1], "broken"))
	assert.NotEqual(t, base, sum(strings.Replace(rows[0], `"a"`, `"b"`, 1), rows[1]))
	assert.NotEqual(t, base, sum(rows[0], strings.Replace(rows[1], "9", "10", 1)))
	list := Workload{Requests: []Request{{Text: `["x"]`}}}
	chat := Workload{Requests: []Request{{Text: `["x"]`, Chat: true}}}
	assert.NotEqual(t, Hash([]Workload{list}, nil), Hash([]Workload{chat}, nil))
}

// The scenario that replays a trace is what its comment says.
func TestBundledReplay(t *testing.T) {
	text, err := scenarios.Open("vllm-cpu-azure")
	require.NoError(t, err)
	s, err := scenarios.Load("vllm-cpu-azure.yaml", text, scenarios.Known{Patches: []string{"r1-seed"}})
	require.NoError(t, err)
	w := expand(t, s.Phases[0])
	timed := w.Requests[w.Warmup():]
	require.Len(t, timed, 400)
	span := timed[399].Offset - timed[0].Offset
	assert.InDelta(t, 17.26, span.Seconds(), 0.01)
	prompt, output, short := 0, 0, 0
	for _, r := range timed {
		prompt, output = prompt+len(r.Prompt), output+r.MaxTokens
		if r.MaxTokens < 16 {
			short++
		}
	}
	assert.InDelta(t, 97, float64(prompt)/400, 0.5)
	assert.InDelta(t, 29, float64(output)/400, 0.5)
	assert.InDelta(t, 28, float64(short)/4, 0.5)
	// Half of 2000 output tokens a second at most; the rest is for prefills.
	assert.InDelta(t, 670, float64(output)/span.Seconds(), 5)
}

func TestPrefixGroups(t *testing.T) {
	p := mixed()
	p.Source.PromptTokens, p.Source.PrefixGroups = fixed(64), scenarios.PrefixGroups{Count: 4, Tokens: 48}
	beginnings := map[string]int{}
	requests := expand(t, p).Requests
	key := func(r Request) string { return blockKey(r.Prompt[:16]) }
	for i, r := range requests {
		if i == 20 {
			assert.Len(t, beginnings, 4, "the warm-up has met each group")
		}
		beginnings[key(r)]++
		for _, other := range requests[:i] {
			require.Equal(t, key(r) == key(other), slices.Equal(r.Prompt[:48], other.Prompt[:48]))
			require.NotEqual(t, blockKey(r.Prompt[48:]), blockKey(other.Prompt[48:]))
		}
	}
	require.Len(t, beginnings, 4)
	for _, n := range beginnings {
		assert.InDelta(t, 105, n, 40, "four standard deviations are 35")
	}
	p.Warmup.Requests = 5
	assert.Equal(t, groupOf(requests[20:]), groupOf(expand(t, p).Requests[5:]), "timed groups do not depend on the warm-up")
	p.Source.VocabSize, p.Source.PrefixGroups = 11, scenarios.PrefixGroups{Count: 2, Tokens: 1}
	_, err := Expand(p)
	assert.ErrorContains(t, err, "prefix group 1: no unused beginning of 1 tokens found")
	p.Source.PrefixGroups.Tokens = 64
	_, err = Expand(p)
	assert.ErrorContains(t, err, "lengths start at 64, at least 65 is needed")
}

// groupOf numbers the groups of requests in order of appearance.
func groupOf(requests []Request) []int {
	number, all := map[string]int{}, []int{}
	for _, r := range requests {
		key := blockKey(r.Prompt[:16])
		if _, known := number[key]; !known {
			number[key] = len(number)
		}
		all = append(all, number[key])
	}
	return all
}

// One group is a shared prefix, to the bit.
func TestOneGroupIsASharedPrefix(t *testing.T) {
	p := mixed()
	p.Source.PromptTokens, p.Source.SharedPrefix = fixed(64), 48
	one := expand(t, p)
	p.Source.SharedPrefix, p.Source.PrefixGroups = 0, scenarios.PrefixGroups{Count: 1, Tokens: 48}
	assert.Equal(t, Hash([]Workload{one}, nil), Hash([]Workload{expand(t, p)}, nil))
}

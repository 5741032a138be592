package workload

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/scenarios"
)

func fixed(n int) scenarios.Dist { return scenarios.Dist{Kind: "fixed", Value: n} }

// mixed is a closed-loop phase with varying lengths.
func mixed() scenarios.Phase {
	return scenarios.Phase{
		Name: "wide",
		Source: scenarios.Source{Kind: "synthetic", Requests: 400, Seed: 8, VocabLow: 10, VocabSize: 500,
			PromptTokens: scenarios.Dist{Kind: "lognormal", Median: 64, P95: 256, Max: 512},
			OutputTokens: scenarios.Dist{Kind: "uniform", Min: 16, Max: 24}},
		Arrival: scenarios.Arrival{Kind: "closed", Streams: 8},
		Warmup:  scenarios.Warmup{Requests: 20},
	}
}

func open(rate float64) scenarios.Phase {
	p := mixed()
	p.Name, p.Arrival = "arrivals", scenarios.Arrival{Kind: "poisson", Rate: rate}
	return p
}

func expand(t *testing.T, p scenarios.Phase) Workload {
	t.Helper()
	w, err := Expand(p)
	require.NoError(t, err)
	return w
}

func TestExpand(t *testing.T) {
	w := expand(t, mixed())
	assert.Equal(t, "wide", w.Phase)
	assert.False(t, w.Open)
	require.Len(t, w.Requests, 420)
	assert.Equal(t, 20, w.Warmup())
	for i, r := range w.Requests {
		assert.Equal(t, i, r.Index)
		assert.Equal(t, i < 20, r.Warmup)
		assert.Zero(t, r.Offset)
		assert.True(t, len(r.Prompt) >= 1 && len(r.Prompt) <= 512)
		assert.True(t, r.MaxTokens >= 16 && r.MaxTokens <= 24)
		assert.True(t, slices.Min(r.Prompt) >= 10 && slices.Max(r.Prompt) < 500)
	}
}

// extremes are the smallest and largest prompt and output.
func extremes(requests []Request) (e [4]int) {
	e = [4]int{math.MaxInt, 0, math.MaxInt, 0}
	for _, r := range requests {
		e[0], e[1] = min(e[0], len(r.Prompt)), max(e[1], len(r.Prompt))
		e[2], e[3] = min(e[2], r.MaxTokens), max(e[3], r.MaxTokens)
	}
	return e
}

func TestWarmupCoversTheTimedLengths(t *testing.T) {
	for _, warm := range []int{2, 3, 20} {
		p := mixed()
		p.Warmup.Requests = warm
		w := expand(t, p)
		early, timed := extremes(w.Requests[:warm]), extremes(w.Requests[warm:])
		assert.LessOrEqual(t, early[0], timed[0])
		assert.GreaterOrEqual(t, early[1], timed[1])
		assert.LessOrEqual(t, early[2], timed[2])
		assert.GreaterOrEqual(t, early[3], timed[3])
	}
	p := mixed()
	p.Warmup.Requests = 1
	w := expand(t, p)
	assert.Equal(t, extremes(w.Requests[1:])[1], len(w.Requests[0].Prompt), "a single one has the largest")
}

func TestTimedLengthsDoNotDependOnTheWarmup(t *testing.T) {
	p := mixed()
	a := expand(t, p).Requests[20:]
	p.Warmup.Requests = 5
	b := expand(t, p).Requests[5:]
	for i := range a {
		require.Equal(t, len(a[i].Prompt), len(b[i].Prompt))
		require.Equal(t, a[i].MaxTokens, b[i].MaxTokens)
	}
}

func TestPromptsDiffer(t *testing.T) {
	p := mixed()
	p.Source.VocabLow, p.Source.VocabSize, p.Source.PromptTokens = 0, 30, fixed(2)
	seen := map[[2]int]bool{}
	for _, r := range expand(t, p).Requests {
		key := [2]int(r.Prompt)
		assert.False(t, seen[key], "%v is there twice", key)
		seen[key] = true
	}
	p.Source.VocabSize = 20 // 400 prompts of two tokens, 420 are needed
	_, err := Expand(p)
	assert.ErrorContains(t, err, "no unused prompt of 2 tokens")
}

func TestSharedPrefix(t *testing.T) {
	p := mixed()
	p.Source.PromptTokens, p.Source.SharedPrefix = fixed(64), 48
	requests := expand(t, p).Requests
	for _, r := range requests[1:] {
		assert.Equal(t, requests[0].Prompt[:48], r.Prompt[:48])
		assert.NotEqual(t, requests[0].Prompt[48:], r.Prompt[48:])
	}
}

func TestPhasesShareNoPrompt(t *testing.T) {
	a, p := expand(t, mixed()), mixed()
	p.Name = "other"
	b := expand(t, p)
	id, err := Identity(scenarios.Identity{Prompts: 5, PromptTokens: 32, OutputTokens: 8, Seed: 8}, 10, 500)
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, list := range [][]Request{a.Requests, b.Requests, id} {
		for _, r := range list {
			key := blockKey(r.Prompt)
			assert.False(t, seen[key] && len(r.Prompt) >= cacheBlock)
			seen[key] = true
		}
	}
}

// TestLogNormal checks the two numbers that describe the distribution: of 4000
// draws, 3 standard deviations are 2.4 % of the ranks at the median and 1.1 %
// at p95.
func TestLogNormal(t *testing.T) {
	p := mixed()
	p.Source.Requests, p.Source.PromptTokens = 4000, scenarios.Dist{Kind: "lognormal", Median: 1000, P95: 3000}
	below, belowP95, most := 0, 0, 0
	for _, r := range lengths(p)[20:] {
		if len(r.Prompt) <= 1000 {
			below++
		}
		if len(r.Prompt) <= 3000 {
			belowP95++
		}
		most = max(most, len(r.Prompt))
	}
	assert.InDelta(t, 2000, below, 96)
	assert.InDelta(t, 3800, belowP95, 44)
	assert.LessOrEqual(t, most, 12000, "default upper clip: 4 x p95")
	assert.Greater(t, most, 4000)
}

func TestUniformIsInclusive(t *testing.T) {
	e := extremes(expand(t, mixed()).Requests)
	assert.Equal(t, []int{16, 24}, e[2:])
}

// TestPoisson checks mean and variation of the gaps: for exponential gaps both
// the mean and the standard deviation are 1/rate.
func TestPoisson(t *testing.T) {
	p := open(20)
	p.Source.Requests = 4000
	w := expand(t, p)
	assert.True(t, w.Open)
	sum, squares, last := 0.0, 0.0, time.Duration(0)
	for _, r := range w.Requests {
		gap := (r.Offset - last).Seconds() * 20
		require.GreaterOrEqual(t, gap, 0.0)
		sum, squares, last = sum+gap, squares+gap*gap, r.Offset
	}
	n := float64(len(w.Requests))
	assert.InDelta(t, 1, sum/n, 0.05)
	assert.InDelta(t, 1, math.Sqrt(squares/n-sum/n*sum/n), 0.08)
}

func TestExpandRefuses(t *testing.T) {
	for want, change := range map[string]func(*scenarios.Phase){
		`source kind "text"`:        func(p *scenarios.Phase) { p.Source.Kind = "text" },
		"source requests 0":         func(p *scenarios.Phase) { p.Source.Requests = 0 },
		"warmup requests -1":        func(p *scenarios.Phase) { p.Warmup.Requests = -1 },
		`arrival kind "burst"`:      func(p *scenarios.Phase) { p.Arrival.Kind = "burst" },
		"arrival rate 0":            func(p *scenarios.Phase) { p.Arrival = scenarios.Arrival{Kind: "poisson"} },
		"arrival rate NaN":          func(p *scenarios.Phase) { p.Arrival = scenarios.Arrival{Kind: "poisson", Rate: math.NaN()} },
		"vocabulary [10, 10)":       func(p *scenarios.Phase) { p.Source.VocabSize = 10 },
		"vocabulary [-1, 500)":      func(p *scenarios.Phase) { p.Source.VocabLow = -1 },
		`distribution "normal"`:     func(p *scenarios.Phase) { p.Source.OutputTokens.Kind = "normal" },
		"uniform max 1 is below":    func(p *scenarios.Phase) { p.Source.OutputTokens.Max = 1 },
		"output_tokens: lengths":    func(p *scenarios.Phase) { p.Source.OutputTokens = fixed(0) },
		"lengths start at 4":        func(p *scenarios.Phase) { p.Source.PromptTokens, p.Source.SharedPrefix = fixed(4), 4 },
		"median (0)":                func(p *scenarios.Phase) { p.Source.PromptTokens.Median = 0 },
		"lognormal max 2 is below":  func(p *scenarios.Phase) { p.Source.PromptTokens.Min, p.Source.PromptTokens.Max = 3, 2 },
		"phase wide: source prompt": func(p *scenarios.Phase) { p.Source.PromptTokens.P95 = 1 },
	} {
		p := mixed()
		change(&p)
		_, err := Expand(p)
		assert.ErrorContains(t, err, want)
	}
}

func TestIdentity(t *testing.T) {
	id := scenarios.Identity{Prompts: 64, PromptTokens: 20, OutputTokens: 30, Seed: 3}
	requests, err := Identity(id, 5, 100)
	require.NoError(t, err)
	require.Len(t, requests, 64)
	for i, r := range requests {
		assert.Equal(t, i, r.Index)
		assert.Len(t, r.Prompt, 20)
		assert.Equal(t, 30, r.MaxTokens)
		assert.True(t, slices.Min(r.Prompt) >= 5 && slices.Max(r.Prompt) < 100)
	}
	none, err := Identity(scenarios.Identity{}, 5, 100)
	require.NoError(t, err)
	assert.Empty(t, none)
	_, err = Identity(scenarios.Identity{Prompts: 1}, 5, 100)
	assert.ErrorContains(t, err, "must be at least 1")
	_, err = Identity(id, 5, 5)
	assert.ErrorContains(t, err, "identity: vocabulary")
}

// TestHashIsStable pins the bits: another value means that recorded workload
// hashes no longer say what was sent.
func TestHashIsStable(t *testing.T) {
	a, b := expand(t, mixed()), expand(t, open(12))
	id, err := Identity(scenarios.Identity{Prompts: 4, PromptTokens: 8, OutputTokens: 8, Seed: 1}, 10, 500)
	require.NoError(t, err)
	assert.Equal(t, "4f1e20147e9b2e93ca05c0e14f4fade2707754678ee7c032bc7d7b1751565c06", Hash([]Workload{a, b}, id))
}

func TestHashCoversEverything(t *testing.T) {
	make2 := func() ([]Workload, []Request) {
		p := open(12)
		p.Source.Requests, p.Warmup.Requests = 3, 1
		id, err := Identity(scenarios.Identity{Prompts: 2, PromptTokens: 8, OutputTokens: 8}, 10, 500)
		require.NoError(t, err)
		return []Workload{expand(t, p)}, id
	}
	phases, id := make2()
	seen := map[string]string{Hash(phases, id): "nothing"}
	for name, change := range map[string]func(*Workload, []Request){
		"token":           func(w *Workload, _ []Request) { w.Requests[2].Prompt[0]++ },
		"prompt length":   func(w *Workload, _ []Request) { w.Requests[2].Prompt = w.Requests[2].Prompt[1:] },
		"output length":   func(w *Workload, _ []Request) { w.Requests[2].MaxTokens++ },
		"intended time":   func(w *Workload, _ []Request) { w.Requests[2].Offset++ },
		"warm-up":         func(w *Workload, _ []Request) { w.Requests[1].Warmup = true },
		"name":            func(w *Workload, _ []Request) { w.Phase = "x" },
		"kind":            func(w *Workload, _ []Request) { w.Open = false },
		"count":           func(w *Workload, _ []Request) { w.Requests = w.Requests[:3] },
		"order":           func(w *Workload, _ []Request) { slices.Reverse(w.Requests[1:]) },
		"identity token":  func(_ *Workload, id []Request) { id[1].Prompt[0]++ },
		"identity output": func(_ *Workload, id []Request) { id[1].MaxTokens++ },
	} {
		phases, id := make2()
		change(&phases[0], id)
		h := Hash(phases, id)
		assert.Empty(t, seen[h], "%s is not covered", name)
		seen[h] = name
	}
}

func TestPortableFunctions(t *testing.T) {
	for x := 1e-12; x < 1e12; x *= 1.37 {
		assert.InDelta(t, math.Log(x), logPortable(x), 1e-13*max(1, math.Abs(math.Log(x))))
	}
	for x := -30.0; x < 30; x += 0.173 {
		assert.InEpsilon(t, math.Exp(x), expPortable(x), 1e-13)
	}
	assert.Zero(t, logPortable(1))
}

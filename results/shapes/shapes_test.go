package shapes

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/aituner/opprof/results"
)

// The digest is part of plans: what it is over may never change.
func TestDigest(t *testing.T) {
	shapes := []Shape{{Index: 0, Warmup: true, Prompt: 64, Want: 16}, {Index: 1, Prompt: 32, Want: 8}, {Index: 2, Prompt: 48, Want: 8}}
	const want = "05545e5a99e4e5af775edceb8e36943b03e38058a6eae9bfab7bc9ddd7534110" // computed elsewhere
	assert.Equal(t, want, SHA256(shapes))
	backwards := slices.Clone(shapes)
	slices.Reverse(backwards)
	assert.Equal(t, want, SHA256(backwards), "the order of records is none of the work")
	for what, change := range map[string]func(s []Shape) []Shape{
		"index":   func(s []Shape) []Shape { s[1].Index = 2; return s },
		"warm-up": func(s []Shape) []Shape { s[0].Warmup, s[1].Warmup = false, true; return s },
		"prompt":  func(s []Shape) []Shape { s[1].Prompt++; return s },
		"wanted":  func(s []Shape) []Shape { s[2].Want--; return s },
		"swapped": func(s []Shape) []Shape { s[1].Prompt, s[2].Prompt = s[2].Prompt, s[1].Prompt; return s },
		"twice":   func(s []Shape) []Shape { return append(s, s[2]) },
		"missing": func(s []Shape) []Shape { return s[:2] },
	} {
		assert.NotEqual(t, want, SHA256(change(slices.Clone(shapes))), what)
	}
}

// What a run sent has the shapes of its records, those of other phases left out.
func TestShapesOfRequests(t *testing.T) {
	requests := []results.Request{
		{Phase: "wide", Index: 1, PromptTokens: 32, WantTokens: 8, OutputTokens: 7}, {Phase: "identity", PromptTokens: 9},
		{Phase: "wide", Warmup: true, PromptTokens: 64, WantTokens: 16},
	}
	assert.Equal(t, []Shape{{0, true, 64, 16}, {1, false, 32, 8}}, Of(requests, "wide"))
	assert.Empty(t, Of(requests, "single"))
}

package steps

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// Sums are known only where every request ended well in a run that did; a phase
// whose timed part never began has no place in the records.
func TestOptionsOfARun(t *testing.T) {
	s := &scenarios.Scenario{Arms: []scenarios.Arm{{Name: "on", Args: map[string]string{"tensor-parallel-size": "2"}}}}
	phases := []results.Phase{{Name: "one", TimedStartNS: 5, TimedEndNS: 9}, {Name: "two"}}
	run := results.Run{Key: results.Key{Arm: "on"}, Phases: phases}
	requests := []results.Request{
		{PromptTokens: 30, CachedTokens: 16, OutputTokens: 8}, {PromptTokens: 5, CachedTokens: -1},
	}
	want := Options{TensorParallel: 2, Phases: []Phase{{"one", 5, 9}}, Client: &ClientTokens{Prefill: 19, Decode: 7}}
	assert.Equal(t, want, OptionsOf(s, &run, requests))

	run.Failure = "the server ended by itself"
	assert.Nil(t, OptionsOf(s, &run, requests).Client)
	run.Failure, requests[1].Error = "", "cut stream"
	assert.Nil(t, OptionsOf(s, &run, requests).Client)
}

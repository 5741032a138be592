package evidence

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// verdict.json is sent around: what a scenario sets stays readable in it, the
// folders of the machine it ran on do not get in.
func TestSettingsNameNoFolders(t *testing.T) {
	for value, want := range map[string]string{
		"/home/u/models/qwen":                  "qwen",
		"/opt/a.so:/home/u/b.so":               "a.so:b.so",
		`{"path": "/work/x/y.json", "n": [1]}`: `{"path": "y.json", "n": [1]}`,
		"dir=/tmp/x/":                          "dir=",
		"{run_dir}/steps":                      "{run_dir}/steps",
		"https://host/a/b":                     "https://host/a/b",
		"org/model":                            "org/model",
		"0.9":                                  "0.9",
		"/":                                    "/",
		"":                                     "",
	} {
		assert.Equal(t, want, withoutFolders(value), value)
	}
}

// The settings of an arm are those that its server is started with.
func TestSettingsAreThoseOfTheArm(t *testing.T) {
	s := &scenarios.Scenario{Engine: scenarios.Engine{
		Args: map[string]string{"tensor-parallel-size": "2", "enforce-eager": "", "seed": "1"},
		Env:  map[string]string{"A": "1", "B": "2"},
	}}
	arm := scenarios.Arm{
		Name: "on", Args: map[string]string{"tensor-parallel-size": "4", "no-enforce-eager": ""}, Env: map[string]string{"B": "3"},
	}
	assert.Equal(t, view.Settings{
		Arm: "on", TensorParallel: 4,
		Args: []view.Setting{{Name: "no-enforce-eager", Value: ""}, {Name: "seed", Value: "1"}, {Name: "tensor-parallel-size", Value: "4"}},
		Env:  []view.Setting{{Name: "A", Value: "1"}, {Name: "B", Value: "3"}},
	}, settingsOf(s, arm))
	assert.Equal(t, 2, settingsOf(s, scenarios.Arm{Name: "off"}).TensorParallel)
	assert.Equal(t, 1, settingsOf(&scenarios.Scenario{}, scenarios.Arm{}).TensorParallel, "vLLM's default")
}

// A summary has what its values define, and gives every quantile after it was
// stored.
func TestSummaries(t *testing.T) {
	of := func(lengths ...int) *view.Summary {
		var requests []results.Request
		for _, n := range lengths {
			requests = append(requests, results.Request{PromptTokens: n})
		}
		text, err := json.Marshal(summarize(requests, promptTokens))
		require.NoError(t, err)
		var back *view.Summary
		require.NoError(t, json.Unmarshal(text, &back))
		return back
	}
	assert.Nil(t, of())
	one := of(7)
	assert.Nil(t, one.SD)
	assert.InDelta(t, 7, one.Quantile(0), 0)
	same := of(5, 5, 5)
	assert.Nil(t, same.Quantiles, "they say nothing that min does not")
	assert.InDelta(t, 0, *same.SD, 0)
	assert.InDelta(t, 5, same.Quantile(10), 0)
	s := of(30, 10, 20)
	assert.InDelta(t, 20, s.Mean, 1e-12)
	assert.InDelta(t, 10, *s.SD, 1e-12)
	assert.Equal(t, []float64{10, 30}, []float64{s.Min, s.Max})
	for i, p := range view.SummaryQuantiles {
		assert.InDelta(t, 10+20*p, s.Quantile(i), 1e-12)
	}
}

package report

import (
	"encoding/json"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// writeJSONOfOneRun keeps golden files short: all measured runs look the same, and
// a test of the exports reads every number of them back.
func writeJSONOfOneRun(w io.Writer, v *View) error {
	if v.Measured == nil || len(v.Measured.Runs) < 2 {
		return WriteJSON(w, v)
	}
	short, measured := *v, *v.Measured
	measured.Runs = measured.Runs[:1]
	short.Measured = &measured
	return WriteJSON(w, &short)
}

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
	assert.Equal(t, Settings{
		Arm: "on", TensorParallel: 4,
		Args: []Setting{{"no-enforce-eager", ""}, {"seed", "1"}, {"tensor-parallel-size", "4"}},
		Env:  []Setting{{"A", "1"}, {"B", "3"}},
	}, settingsOf(s, arm))
	assert.Equal(t, 2, settingsOf(s, scenarios.Arm{Name: "off"}).TensorParallel)
	assert.Equal(t, 1, settingsOf(&scenarios.Scenario{}, scenarios.Arm{}).TensorParallel, "vLLM's default")
}

// A summary has what its values define, and gives every quantile after it was
// stored.
func TestSummaries(t *testing.T) {
	of := func(lengths ...int) *Summary {
		var requests []results.Request
		for _, n := range lengths {
			requests = append(requests, results.Request{PromptTokens: n})
		}
		text, err := json.Marshal(summarize(requests, promptTokens))
		require.NoError(t, err)
		var back *Summary
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
	for i, p := range SummaryQuantiles {
		assert.InDelta(t, 10+20*p, s.Quantile(i), 1e-12)
	}
}

// Runs that count are there with the machine that each of them found, and what
// failed is counted and in no latency. Burn-in and void blocks are left out.
func TestMeasuredRunsAreThoseThatCount(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 6)
	tr.void = map[string]string{"0002": "no footer"}
	tr.edit = func(r *recorded) {
		r.run.Server.Backends = map[string]string{"dtype": "bfloat16"}
		if r.run.Key.Block == "0002" {
			r.env.GPUs, r.env.Boards = []string{"NVIDIA H200", "NVIDIA H200"}, []string{"a", "b"}
		}
		if r.run.Key.String() == "0003/on" {
			r.requests[len(r.requests)-1].Error = "reset"
			r.requests[len(r.requests)-1].PromptTokens = 1 << 20
		}
	}
	m := build(t, tr.write(t.TempDir())).Measured
	require.Len(t, m.Runs, 12)
	assert.Equal(t, []string{"single", "arrivals"}, []string{m.Phases[0].Phase, m.Phases[1].Phase})
	assert.Equal(t, &Lengths{Kind: "fixed", Value: 64}, m.Phases[0].PromptTokens)
	for _, r := range m.Runs {
		require.Len(t, r.Phases, 2)
		assert.Equal(t, "bfloat16", r.Dtype)
		first, last := r.Phases[0], r.Phases[1]
		assert.Equal(t, 12, first.Requests, "without warm-up")
		assert.Less(t, first.StartNS, first.EndNS)
		if r.Block == "0002" {
			assert.Equal(t, 2, r.Attempt)
			assert.Equal(t, "NVIDIA H200", r.Accelerator)
			assert.Equal(t, 2, r.GPUs)
		} else {
			assert.Equal(t, 1, r.Attempt)
			assert.Equal(t, 1, r.GPUs)
		}
		if r.Block == "0003" && r.Arm == "on" {
			assert.Equal(t, 1, last.Failed)
		} else {
			assert.Zero(t, last.Failed)
		}
		assert.InDelta(t, 64, last.PromptTokens.Max, 0)
		assert.Positive(t, last.OutputThroughput)
	}
}

// Numbers of single runs could show an effect: they wait for the end.
func TestUnfinishedHasNoMeasuredRuns(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 6)
	tr.stop = 4
	v := build(t, tr.write(t.TempDir()))
	assert.Nil(t, v.Measured)
	assert.NotContains(t, render(t, v, WriteJSON), `"measured"`)
}

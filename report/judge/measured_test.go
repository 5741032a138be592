package judge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/internal/forms"
	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/report/view"
)

// Runs that count are there with the machine that each of them found, and what
// failed is counted and in no latency. Burn-in and void blocks are left out.
func TestMeasuredRunsAreThoseThatCount(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 6)
	tr.Void = map[string]string{"0002": "no footer"}
	tr.Edit = func(r *trial.Recorded) {
		r.Run.Server.Backends = map[string]string{"dtype": "bfloat16"}
		if r.Run.Key.Block == "0002" {
			r.Env.GPUs, r.Env.Boards = []string{"NVIDIA H200", "NVIDIA H200"}, []string{"a", "b"}
		}
		if r.Run.Key.String() == "0003/on" {
			r.Requests[len(r.Requests)-1].Error = "reset"
			r.Requests[len(r.Requests)-1].PromptTokens = 1 << 20
		}
	}
	m := forms.Build(t, tr.Write(t.TempDir())).Measured
	require.Len(t, m.Runs, 12)
	assert.Equal(t, []string{"single", "arrivals"}, []string{m.Phases[0].Phase, m.Phases[1].Phase})
	assert.Equal(t, &view.Lengths{Kind: "fixed", Value: 64}, m.Phases[0].PromptTokens)
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
	tr := trial.New(t, 6)
	tr.Stop = 4
	v := forms.Build(t, tr.Write(t.TempDir()))
	assert.Nil(t, v.Measured)
	assert.NotContains(t, forms.Render(t, v, view.WriteJSON[*view.View]), `"measured"`)
}

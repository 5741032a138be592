package judge_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/internal/forms"
	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/report/render"
)

func TestTwoHostsArePooledWithin(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 8)
	tr.Edit = func(r *trial.Recorded) {
		if r.Run.Key.Block > "0004" {
			r.Env.Host = "secret-name"
		}
	}
	v := forms.Build(t, tr.Write(t.TempDir()))
	assert.Equal(t, "PASS", v.Headline())
	assert.Equal(t, 2, v.Comparisons[0].Hosts)
	text := forms.Render(t, v, render.WriteText)
	assert.Contains(t, text, "Cochran's Q")
	assert.NotContains(t, text, "secret-name")
	m := v.Comparisons[0].Phases[0].Metrics[0]
	require.NotNil(t, m.Hosts.Q)
	require.Len(t, m.Hosts.Hosts, 2)
	for _, h := range m.Hosts.Hosts {
		assert.Equal(t, 4, h.Blocks)
		assert.True(t, h.Pooled)
	}
	mean := (math.Log1p(m.Hosts.Hosts[0].Effect/100) + math.Log1p(m.Hosts.Hosts[1].Effect/100)) / 2
	assert.InDelta(t, m.Detail.Mean, mean, 1e-9)
	assert.Nil(t, m.Detail.BootT, "no host has six blocks: t at the stricter level")
}

// Two ways of grouping blocks cannot be combined; the harness keeps such a plan
// on its host.
func TestOrderAdjustmentOnTwoHostsIsInvalid(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 8)
	tr.Scenario.Design.AdjustOrder = true
	tr.Edit = func(r *trial.Recorded) {
		if r.Run.Key.Block > "0004" {
			r.Env.Host = "node8"
		}
	}
	assert.Equal(t, "INVALID(not analysable)", forms.Build(t, tr.Write(t.TempDir())).Headline())
}

// The noise of a host with a single block is unknown: it is shown, not pooled.
func TestLoneBlockIsShownNotPooled(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 8)
	tr.Edit = func(r *trial.Recorded) {
		if r.Run.Key.Block == "0003" {
			r.Env.Host = "node8"
		}
	}
	v := forms.Build(t, tr.Write(t.TempDir()))
	assert.Equal(t, "PASS", v.Headline())
	assert.Equal(t, 1, v.Blocks.NotPooled)
	assert.Equal(t, 8, v.Blocks.Valid)
	m := v.Comparisons[0].Phases[0].Metrics[0]
	assert.Equal(t, 7, m.Detail.N)
	assert.Nil(t, m.Hosts.Q)
	assert.Equal(t, []bool{true, false}, []bool{m.Hosts.Hosts[0].Pooled, m.Hosts.Hosts[1].Pooled})
	assert.Contains(t, v.Sentence, "7 blocks")
	for _, form := range forms.Forms {
		assert.Contains(t, trial.OneLine(forms.Render(t, v, form.Write)), "in 1 block (not pooled)", form.Extension)
	}

	damaged := trial.New(t, 8)
	damaged.Edit = tr.Edit
	damaged.After = func(dir string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "blocks", "0003", "on", "extra"), nil, 0o644))
	}
	assert.Equal(t, "INVALID(damaged run)", forms.Build(t, damaged.Write(t.TempDir())).Headline(), "not pooled is not forgotten")
}

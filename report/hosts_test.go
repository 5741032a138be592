package report

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTwoHostsArePooledWithin(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 8)
	tr.edit = func(r *recorded) {
		if r.run.Key.Block > "0004" {
			r.env.Host = "secret-name"
		}
	}
	v := build(t, tr.write(t.TempDir()))
	assert.Equal(t, "PASS", v.Result)
	assert.Equal(t, 2, v.Comparisons[0].Hosts)
	text := render(t, v, WriteText)
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
	assert.InDelta(t, m.estimate.Mean, mean, 1e-9)
	assert.EqualValues(t, 6, m.estimate.DF, "n - H")
	assert.False(t, m.estimate.HasBootT, "no host has six blocks: t at the stricter level")
}

// Two ways of grouping blocks cannot be combined; the harness keeps such a plan
// on its host.
func TestOrderAdjustmentOnTwoHostsIsInvalid(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 8)
	tr.scenario.Design.AdjustOrder = true
	tr.edit = func(r *recorded) {
		if r.run.Key.Block > "0004" {
			r.env.Host = "node8"
		}
	}
	assert.Equal(t, "INVALID(not analysable)", build(t, tr.write(t.TempDir())).Result)
}

// The noise of a host with a single block is unknown: it is shown, not pooled.
func TestLoneBlockIsShownNotPooled(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 8)
	tr.edit = func(r *recorded) {
		if r.run.Key.Block == "0003" {
			r.env.Host = "node8"
		}
	}
	v := build(t, tr.write(t.TempDir()))
	assert.Equal(t, "PASS", v.Result)
	assert.Equal(t, 1, v.Blocks.NotPooled)
	assert.Equal(t, 8, v.Blocks.Valid)
	m := v.Comparisons[0].Phases[0].Metrics[0]
	assert.Equal(t, 7, m.Detail.N)
	assert.Nil(t, m.Hosts.Q)
	assert.Equal(t, []bool{true, false}, []bool{m.Hosts.Hosts[0].Pooled, m.Hosts.Hosts[1].Pooled})
	assert.Contains(t, v.Sentence, "7 blocks")
	for _, form := range renderings {
		assert.Contains(t, oneLine(render(t, v, form.write)), "in 1 block (not pooled)", form.extension)
	}

	damaged := newTrial(t, 8)
	damaged.edit = tr.edit
	damaged.after = func(dir string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "blocks", "0003", "on", "extra"), nil, 0o644))
	}
	assert.Equal(t, "INVALID(damaged run)", build(t, damaged.write(t.TempDir())).Result, "not pooled is not forgotten")
}

package page

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/report/judge"
	"github.com/aituner/opprof/report/render"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
)

// An interval that the plot cuts off does not look like one that ends there.
func TestForestSaysWhatItCuts(t *testing.T) {
	t.Parallel()
	for upper, cut := range map[float64]bool{17.9: false, 25: true} {
		effect, lower := 1.0, -1.0
		c := &view.Comparison{Phases: []view.Phase{{Name: "a", Metrics: []view.Metric{{
			Label: "TPOT p50", Primary: true, MarginPct: 3, Lower: &lower, Effect: &effect, Upper: &upper}}}}}
		assert.Equal(t, cut, newForestPlot(c, 0).Cut != "", upper)
		text := primaryPart(t, &view.View{Finished: true, Blocks: view.Blocks{Valid: 6}, Comparisons: []view.Comparison{*c}})
		assert.Equal(t, cut, strings.Contains(text, render.GoesOn), upper)
	}
}

func TestForestNamesFitAPhone(t *testing.T) {
	t.Parallel()
	v := built(t, trial.New(t, 6).Write(t.TempDir()))
	p := newForestPlot(&v.Comparisons[0], 0)
	require.Len(t, p.Heads, 2, "one for each phase")
	last := 0
	for _, r := range p.Rows {
		assert.NotContains(t, r.Name, "single")
		assert.LessOrEqual(t, len([]rune(r.Name+r.Text)), 40, "%s", r.Label)
		assert.Greater(t, r.MaskY, last)
		last = r.Y
	}
	assert.Greater(t, p.Base, last)
	assert.Less(t, p.Heads[1].TextY, p.Rows[3].TextY)
	assert.Greater(t, p.Heads[1].MaskY, p.Rows[2].Y)
}

// built loads and judges a run directory.
func built(t *testing.T, dir string) *view.View {
	t.Helper()
	c, err := results.Load(dir)
	require.NoError(t, err)
	v, err := judge.Build(c, "v0.1.0")
	require.NoError(t, err)
	return v
}

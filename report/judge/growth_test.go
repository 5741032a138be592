package judge

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/report/render"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
)

// An effect that grows from nothing to 4 % within each run is named, one that is
// the same all the time is not; neither changes the verdict.
func TestGrowthWithinRuns(t *testing.T) {
	t.Parallel()
	for _, grows := range []bool{false, true} {
		tr := trial.New(t, 8)
		tr.Noise = 0.002
		tr.Edit = func(r *trial.Recorded) {
			if r.Run.Key.Arm != "on" || !grows {
				return
			}
			for i := range r.Requests {
				q := &r.Requests[i]
				if q.Phase == "single" && !q.Warmup {
					q.LastNS += int64(0.04 * float64(q.Index) / float64(len(r.Requests)) * float64(q.LastNS-q.FirstNS))
					q.EndNS = max(q.EndNS, q.LastNS)
				}
			}
		}
		v := built(t, tr.Write(t.TempDir()))
		var single *view.Growth
		for i := range v.Comparisons[0].Growth {
			if g := &v.Comparisons[0].Growth[i]; g.Phase == "single" {
				single = g
			}
		}
		require.NotNil(t, single)
		assert.Equal(t, grows, single.Flagged, "%+v", *single)
		said := trial.OneLine(text(t, v))
		assert.Equal(t, grows, strings.Contains(said, "GROWS: TPOT p50, single +"), said)
		assert.Equal(t, !grows, strings.Contains(said, "no effect that grows within runs"), said)
	}
}

func TestBinMedians(t *testing.T) {
	assert.Nil(t, binMedians(make([]float64, 9)))
	var values []float64
	for i := range 30 {
		values = append(values, float64(i))
	}
	assert.Equal(t, []float64{1, 4, 7, 10, 13, 16, 19, 22, 25, 28}, binMedians(values))
}

func text(t *testing.T, v *view.View) string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, render.WriteText(&out, v))
	return out.String()
}

// built loads and judges a run directory.
func built(t *testing.T, dir string) *view.View {
	t.Helper()
	c, err := results.Load(dir)
	require.NoError(t, err)
	v, err := Build(c, "v0.1.0")
	require.NoError(t, err)
	return v
}

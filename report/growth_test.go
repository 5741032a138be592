package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An effect that grows from nothing to 4 % within each run is named, one that is
// the same all the time is not; neither changes the verdict.
func TestGrowthWithinRuns(t *testing.T) {
	t.Parallel()
	for _, grows := range []bool{false, true} {
		tr := newTrial(t, 8)
		tr.noise = 0.002
		tr.edit = func(r *recorded) {
			if r.run.Key.Arm != "on" || !grows {
				return
			}
			for i := range r.requests {
				q := &r.requests[i]
				if q.Phase == "single" && !q.Warmup {
					q.LastNS += int64(0.04 * float64(q.Index) / float64(len(r.requests)) * float64(q.LastNS-q.FirstNS))
					q.EndNS = max(q.EndNS, q.LastNS)
				}
			}
		}
		v := build(t, tr.write(t.TempDir()))
		var single *Growth
		for i := range v.Comparisons[0].Growth {
			if g := &v.Comparisons[0].Growth[i]; g.Phase == "single" {
				single = g
			}
		}
		require.NotNil(t, single)
		assert.Equal(t, grows, single.Flagged, "%+v", *single)
		assert.Equal(t, grows, strings.Contains(growthLine(&v.Comparisons[0]), "GROWS: TPOT p50, single +"), growthLine(&v.Comparisons[0]))
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

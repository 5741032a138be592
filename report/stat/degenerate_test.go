package stat

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Five equal effects and one far away once passed: the resamples without a spread,
// a third of all, were dropped. The same data with a trace of jitter never passed.
func TestTiedEffectsDoNotPass(t *testing.T) {
	m := Margin(.03, LowerIsBetter)
	for _, d := range [][]float64{{0, 0, 0, 0, 0, .03}, {0, 0, 0, 0, .01, .01}, {0, 0, 0, 0, 0, .001}} {
		e := mustAnalyze(t, d, Options{})
		assert.True(t, math.IsInf(e.U, 1), "%v", d)
		assert.Equal(t, Inconclusive, Judge(e, m), "%v", d)
		assert.True(t, math.IsInf(e.L, -1), "and no FAIL either: %v", d)
		high := make([]float64, len(d))
		for i := range d {
			high[i] = d[i] + 2*m
		}
		assert.Equal(t, Inconclusive, Judge(mustAnalyze(t, high, Options{}), m), "%v", high)
	}
}

// Up to a tenth of the bound's error degenerate resamples are dropped, as the
// published bootstrap does; from three equal effects of six on they count.
func TestDegenerateResamplesCountFromATenthOn(t *testing.T) {
	dropped := func(d []float64) Interval {
		g := []group{newGroup(d, 1)}
		values, _ := part(resamples(g, 0), g)
		p := pool(g)
		lo := p.mean - quantile(values, 1-DefaultAlpha)*p.se
		return Interval{lo, p.mean - quantile(values, DefaultAlpha)*p.se}
	}
	for _, c := range []struct {
		d      []float64
		share  float64
		counts bool
	}{
		{[]float64{.01, .02, .03, .04, .05, .07}, 6. / 46656, false},
		{[]float64{.01, .01, .03, .04, .05, .07}, (64. + 4) / 46656, false},
		{[]float64{.01, .03, .04, .07, .07, .07}, (729. + 3) / 46656, true},
	} {
		g := []group{newGroup(c.d, 1)}
		all := resamples(g, 0)
		_, lost := part(all, g)
		assert.InDelta(t, c.share, lost/46656, 1e-12)
		e := mustAnalyze(t, c.d, Options{})
		was := dropped(c.d)
		if !c.counts {
			assert.Equal(t, was, e.BootT, "to the digit")
			continue
		}
		assert.Greater(t, e.BootT.Hi, was.Hi)
		assert.LessOrEqual(t, e.BootT.Lo, was.Lo)
	}
}

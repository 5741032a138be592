package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/report/render"
	"github.com/aituner/opprof/report/view"
)

func at(x float64) *float64 { return &x }

// Two blocks beyond the edge of a plot would look alike, and an interval that is cut
// would look as if it ended there: both are drawn as arrows, and the block's says
// its value.
func TestWhatAPlotCutsIsMarked(t *testing.T) {
	m := view.Placed{Phase: "single", Metric: &view.Metric{Label: "TTFT p50", MarginPct: 3, Pairs: []view.Pair{
		{Block: "0001", Effect: 1, BaselineFirst: true}, {Block: "0002", Effect: 49.8}, {Block: "0003", Effect: 64.9}, {Block: "0004", Effect: -28.9},
	}}}
	plot := newPairPlot(m, "x")
	var said []string
	for _, d := range plot.Dots {
		said = append(said, d.Value)
	}
	assert.Equal(t, []string{"", "+50 %", "+65 %", "-29 %"}, said)
	assert.True(t, plot.Beyond)
	assert.NotEqual(t, plot.Dots[0].Marker, plot.Dots[1].Marker)
	assert.Equal(t, plot.Dots[1].Marker, plot.Dots[2].Marker)
	assert.NotEqual(t, plot.Dots[2].Marker, plot.Dots[3].Marker, "up and down")
	require.NotEmpty(t, plot.Ticks, "an axis has numbers")

	m.Lower, m.Effect, m.Upper = at(-2), at(30), at(5294)
	c := &view.Comparison{Phases: []view.Phase{{Name: "single", Metrics: []view.Metric{*m.Metric}}}}
	c.Phases[0].Metrics[0].Primary = true
	forest := newForestPlot(c, 0)
	require.Len(t, forest.Rows, 1)
	assert.Equal(t, []edgeArrow{{"100%", "M0,0L-7,-5V5z"}}, forest.Rows[0].Arrows)
	assert.Empty(t, forest.Rows[0].Marker, "the estimate does not stick to the edge")
	assert.Contains(t, forest.Cut, render.GoesOn)
}

// Nothing is marked where everything fits.
func TestAPlotThatFitsHasNoArrows(t *testing.T) {
	t.Parallel()
	c := &built(t, trial.New(t, 6).Write(t.TempDir())).Comparisons[0]
	for _, r := range newForestPlot(c, 0).Rows {
		assert.Empty(t, r.Arrows)
		assert.NotEmpty(t, r.Marker)
	}
	for _, p := range newPairPlots(c, 0) {
		assert.False(t, p.Beyond)
		assert.NotEmpty(t, p.Ticks, p.Name)
	}
}

// The numbers of an axis can be read: none stands on another's place.
func TestTickNumbersOfAPairPlotStandApart(t *testing.T) {
	for _, top := range []float64{0.1, 3, 4, 7, 18, 90} {
		a := render.AxisOf(3, -top, top)
		places := []float64{pairY(a, 0) + 9, pairY(a, 3) - 8}
		for _, tick := range pairTicks(a, 3) {
			var y float64
			_, err := fmt.Sscan(tick.Y, &y)
			require.NoError(t, err)
			for _, other := range places {
				assert.GreaterOrEqual(t, max(y-other, other-y), float64(leastApart)-0.1, "%v: %s", top, tick.Name)
			}
			assert.True(t, strings.HasSuffix(tick.Name, " %"))
			places = append(places, y)
		}
	}
}

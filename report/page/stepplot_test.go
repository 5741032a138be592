package page

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/view"
)

// Every step is in one column, whatever its time: a plot that loses the rare
// long ones would hide what it is for.
func TestStepPlotCountsEveryStep(t *testing.T) {
	t.Parallel()
	h := view.Histogram{Arm: "on", Bins: [][2]int64{{0, 3}, {116, 1}, {487, 990}, {535, 2}, {662, 1}, {753, 1}, {1041, 1}, {1744, 1}}}
	p := newStepPlot([]armStyle{{Name: "on"}}, view.Steps{Phase: "single", Arms: []view.Histogram{h}})
	require.Len(t, p.Curves, 1)
	assert.LessOrEqual(t, len(p.Curves[0].counts), mostColumns)
	sum := int64(0)
	for _, r := range p.Rows {
		sum += r.Counts[0]
	}
	assert.Equal(t, int64(1000), sum)
	assert.Equal(t, int64(1000), p.Curves[0].N)
	assert.Equal(t, []string{"100 %", "10 %", "1 %", "0.1 %"}, guideNames(p.Guides))
	assert.Equal(t, len(p.Curves[0].counts), strings.Count(p.Curves[0].Path, "H"))
}

func guideNames(guides []guide) (names []string) {
	for _, g := range guides {
		names = append(names, g.Name)
	}
	return names
}

// One step, and arms without steps, are no special case.
func TestStepPlotOfLittle(t *testing.T) {
	t.Parallel()
	one := view.Histogram{Arm: "on", Bins: [][2]int64{{500, 1}}}
	p := newStepPlot([]armStyle{{Name: "off"}, {Name: "on"}}, view.Steps{Phase: "single", Arms: []view.Histogram{one}})
	require.Len(t, p.Curves, 1)
	assert.Equal(t, "on", p.Curves[0].Name)
	assert.Equal(t, "M0,130V0.0H1000V130", p.Curves[0].Path)
	require.Len(t, p.Rows, 1)
}

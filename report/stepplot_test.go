package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/results"
)

// Every step is in one column, whatever its time: a plot that loses the rare
// long ones would hide what it is for.
func TestStepPlotCountsEveryStep(t *testing.T) {
	t.Parallel()
	times := stepTimes{}
	for range 990 {
		times.add(0.0156)
	}
	for _, x := range []float64{0, -1, 1e-9, 1e-5, 0.04, 0.04, 0.5, 3, 900, 1e9} {
		times.add(x)
	}
	p := newStepPlot([]armStyle{{Name: "on"}}, []stepTimes{times})
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
	one := stepTimes{}
	one.add(0.02)
	p := newStepPlot([]armStyle{{Name: "off"}, {Name: "on"}}, []stepTimes{{}, one})
	require.Len(t, p.Curves, 1)
	assert.Equal(t, "on", p.Curves[0].Name)
	assert.Equal(t, "M0,130V0.0H1000V130", p.Curves[0].Path)
	require.Len(t, p.Rows, 1)
	assert.Nil(t, newStepPlot([]armStyle{{}}, []stepTimes{{}}))
}

// The plot's steps are those of the records: the trial writes one for each
// output token, twelve timed requests of sixteen tokens in each of six runs.
func TestStepPlotReadsTheRecords(t *testing.T) {
	t.Parallel()
	v := build(t, newTrial(t, 6).write(t.TempDir()))
	require.Len(t, v.pictures.StepTimes, 2)
	curves := v.pictures.StepTimes[0].Curves
	require.Len(t, curves, 1, "only one arm records")
	assert.Equal(t, "on", curves[0].Name)
	assert.Equal(t, int64(6*12*16), curves[0].N)
}

// Step files that publishing left out give no plot, and no empty frame.
func TestThinnedCampaignHasNoStepPlot(t *testing.T) {
	t.Parallel()
	assert.Nil(t, (&builder{s: &newTrial(t, 6).scenario, blocks: []block{{runs: map[string]*attempt{"off": lone("off"), "on": lone("on")}}}}).stepPlots())
}

func lone(arm string) *attempt {
	return &attempt{Attempt: &results.Attempt{Key: results.Key{Block: "0001", Attempt: 1, Arm: arm}}}
}

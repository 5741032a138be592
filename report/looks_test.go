package report

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/results"
)

func TestLookThatPasses(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 10)
	tr.scenario.Design.Looks = []int{6, 10}
	tr.stop = 6
	tr.after = func(dir string) { ledgerEntry(t, dir, results.Entry{Event: results.EventComplete}) }
	v := build(t, tr.write(t.TempDir()))
	assert.Equal(t, "PASS", v.Result)
	assert.Equal(t, 6, v.Blocks.Analysed)
	require.Len(t, v.Looks, 1)
	assert.Equal(t, LookResult{Number: 1, Blocks: 6, Verdict: stat.Pass, Decided: true, ErrorPct: 1.473, SpentPct: 1.473}, v.Looks[0])
	for _, form := range renderings {
		text := render(t, v, form.write)
		assert.Contains(t, oneLine(text), "look 1 of 2, after 6 of at most 10 blocks, decided", form.extension)
		if form.extension != "json" {
			assert.Contains(t, text, "97.054 % interval", form.extension)
			assert.NotContains(t, text, "| 95 % interval", form.extension)
		}
	}
}

// A look is judged as the campaign stood: what came later changes nothing, and
// what is undecided is not INVALID for blocks that are still to come.
func TestLookInMidCampaign(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 10)
	tr.scenario.Design.Looks = []int{6, 10}
	tr.noise, tr.effect["ttft"] = 0.012, 0.022
	tr.void = map[string]string{"0002": "noise", "0008": "noise"}
	dir := tr.write(t.TempDir())
	c, err := results.Load(dir)
	require.NoError(t, err)
	c.Complete = false
	at, err := Look(c, 6, "test")
	require.NoError(t, err)
	assert.Equal(t, stat.Inconclusive, at.Verdict)
	assert.Equal(t, ExitInconclusive, at.ExitCode)
	assert.Equal(t, 6, at.Blocks.Valid)
	assert.Equal(t, 1, at.Blocks.Voided)
	assert.Equal(t, 6, at.Comparisons[0].primaries()[0].Detail.N)
	_, err = Look(c, 8, "test")
	assert.ErrorContains(t, err, "the plan looks after [6 10] blocks")
	c.Entries = c.Entries[:20]
	_, err = Look(c, 6, "test")
	assert.ErrorContains(t, err, "block 6 is not valid yet")
}

// The level of every look reaches the interval: at one look of ten blocks it is
// narrower than at the second of two.
func TestLooksWidenTheInterval(t *testing.T) {
	t.Parallel()
	one := newTrial(t, 10)
	two := newTrial(t, 10)
	for _, tr := range []*trial{one, two} {
		tr.noise, tr.effect["ttft"] = 0.012, 0.022
	}
	two.scenario.Design.Looks = []int{6, 10}
	upper := func(tr *trial) float64 {
		p := build(t, tr.write(t.TempDir())).Comparisons[0].primaries()[0]
		return p.estimate.T.Hi - p.estimate.Mean
	}
	// t quantiles of 9 degrees of freedom, one-sided 1.473 % and 2.5 %.
	assert.InEpsilon(t, 2.5850/2.2622, upper(two)/upper(one), 1e-4)
}

package judge_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/internal/forms"
	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/report/judge"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
)

func TestLookThatPasses(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 10)
	tr.Scenario.Design.Looks = []int{6, 10}
	tr.Stop = 6
	tr.After = func(dir string) { trial.LedgerEntry(t, dir, results.Entry{Event: results.EventComplete}) }
	v := forms.Build(t, tr.Write(t.TempDir()))
	assert.Equal(t, "PASS", v.Headline())
	assert.Equal(t, 6, v.Blocks.Analysed)
	require.Len(t, v.Looks, 1)
	assert.Equal(t, view.LookResult{Number: 1, Blocks: 6, Verdict: stat.Pass, Decided: true, ErrorPct: 1.473, SpentPct: 1.473}, v.Looks[0])
	for _, form := range forms.Forms {
		text := forms.Render(t, v, form.Write)
		assert.Contains(t, trial.OneLine(text), "look 1 of 2, after 6 of at most 10 blocks, decided", form.Extension)
		if form.Extension != "json" {
			assert.Contains(t, text, "97.054 % interval", form.Extension)
			assert.NotContains(t, text, "| 95 % interval", form.Extension)
		}
	}
}

// A look is judged as the campaign stood: what came later changes nothing, and
// what is undecided is not INVALID for blocks that are still to come.
func TestLookInMidCampaign(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 10)
	tr.Scenario.Design.Looks = []int{6, 10}
	tr.Noise, tr.Effect["ttft"] = 0.012, 0.022
	tr.Void = map[string]string{"0002": "noise", "0008": "noise"}
	dir := tr.Write(t.TempDir())
	c, err := results.Load(dir)
	require.NoError(t, err)
	c.Complete = false
	at, err := judge.Look(c, 6, "test")
	require.NoError(t, err)
	assert.Equal(t, stat.Inconclusive, at.Verdict)
	assert.Equal(t, view.ExitInconclusive, at.ExitCode)
	assert.Equal(t, 6, at.Blocks.Valid)
	assert.Equal(t, 1, at.Blocks.Voided)
	assert.Equal(t, 6, at.Comparisons[0].Primaries()[0].Detail.N)
	_, err = judge.Look(c, 8, "test")
	assert.ErrorContains(t, err, "the plan looks after [6 10] blocks")
	c.Entries = c.Entries[:20]
	_, err = judge.Look(c, 6, "test")
	assert.ErrorContains(t, err, "block 6 is not valid yet")
}

// The level of every look reaches the interval: at one look of ten blocks it is
// narrower than at the second of two.
func TestLooksWidenTheInterval(t *testing.T) {
	t.Parallel()
	one := trial.New(t, 10)
	two := trial.New(t, 10)
	for _, tr := range []*trial.Trial{one, two} {
		tr.Noise, tr.Effect["ttft"] = 0.012, 0.022
	}
	two.Scenario.Design.Looks = []int{6, 10}
	upper := func(tr *trial.Trial) float64 {
		p := forms.Build(t, tr.Write(t.TempDir())).Comparisons[0].Primaries()[0]
		assert.Equal(t, stat.LowerIsBetter, p.Direction())
		return math.Log1p(p.Detail.T[1]/100) - p.Detail.Mean
	}
	// t quantiles of 9 degrees of freedom, one-sided 1.473 % and 2.5 %.
	assert.InEpsilon(t, 2.5850/2.2622, upper(two)/upper(one), 1e-4)
}

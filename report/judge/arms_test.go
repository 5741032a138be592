package judge_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/internal/forms"
	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/scenarios"
)

// Three arms: every comparison has its own verdict, and all must pass.
func TestThreeArms(t *testing.T) {
	t.Parallel()
	tr := trial.ThreeArms(t)
	tr.Scale = map[string]float64{"r1": 12, "r2": 1}
	v := forms.Build(t, tr.Write(t.TempDir()))
	require.Len(t, v.Comparisons, 3)
	assert.Equal(t, "FAIL", v.Headline())
	assert.Equal(t, []stat.Verdict{stat.Fail, stat.Pass, stat.Pass},
		[]stat.Verdict{v.Comparisons[0].Verdict, v.Comparisons[1].Verdict, v.Comparisons[2].Verdict}, "r1 and r2 against off, r2 against r1")
	assert.Contains(t, v.Sentence, "r1 against off costs more than 3 % on 5 of 15 primary metrics")
	assert.Contains(t, v.Sentence, ", r1 against off, estimate")
	assert.NotContains(t, v.Sentence, "r2")
	for i, pair := range v.Comparisons[2].Phases[0].Metrics[0].Pairs {
		assert.Equal(t, slices.Index(trial.ThreeArmOrders[i%6], 1) < slices.Index(trial.ThreeArmOrders[i%6], 2), pair.BaselineFirst, "which of the two ran first")
	}

	// What is wrong with one arm concerns its comparisons only.
	tr = trial.ThreeArms(t)
	tr.Edit = trial.OnRun("0003/r1", func(r *trial.Recorded) { r.Outputs.Tokens[1][1] = 7 })
	v = forms.Build(t, tr.Write(t.TempDir()))
	assert.Equal(t, "FAIL(identity)", v.Headline())
	assert.Equal(t, []string{"FAIL(identity)", "PASS", "INVALID(identity)"},
		[]string{v.Comparisons[0].Text, v.Comparisons[1].Text, v.Comparisons[2].Text})
	assert.Contains(t, v.Sentence, "r1 against off: the outputs differ")
	for _, form := range forms.Forms {
		if form.Extension != "json" {
			assert.Contains(t, forms.Render(t, v, form.Write), "r2 against r1", form.Extension)
		}
	}
}

func TestEmbeddedAADoesNotGate(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 6)
	tr.Scenario.Arms = append(tr.Scenario.Arms, scenarios.Arm{Name: "off2", Patch: "r2-onepass", SameAs: "off"})
	tr.Scenario.Compare = append(tr.Scenario.Compare, scenarios.Comparison{Baseline: "off", Candidate: "off2"})
	tr.Noise = 0.002
	v := forms.Build(t, tr.Write(t.TempDir()))
	require.Len(t, v.Comparisons, 2)
	assert.True(t, v.Comparisons[0].Gating)
	assert.False(t, v.Comparisons[1].Gating)
	assert.Equal(t, v.Comparisons[0].Result, v.Result)
	assert.Contains(t, v.AA, "off2 against off in this campaign")
}

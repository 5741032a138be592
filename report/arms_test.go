package report

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/scenarios"
)

// Three arms: every comparison has its own verdict, and all must pass.
func TestThreeArms(t *testing.T) {
	t.Parallel()
	tr := threeArmTrial(t)
	tr.scale = map[string]float64{"r1": 12, "r2": 1}
	v := build(t, tr.write(t.TempDir()))
	require.Len(t, v.Comparisons, 3)
	assert.Equal(t, "FAIL", v.Result)
	assert.Equal(t, []stat.Verdict{stat.Fail, stat.Pass, stat.Pass},
		[]stat.Verdict{v.Comparisons[0].Verdict, v.Comparisons[1].Verdict, v.Comparisons[2].Verdict}, "r1 and r2 against off, r2 against r1")
	assert.Contains(t, v.Sentence, "r1 against off costs more than 3 % on 5 of 15 primary metrics")
	assert.Contains(t, v.Sentence, ", r1 against off, estimate")
	assert.NotContains(t, v.Sentence, "r2")
	for i, pair := range v.Comparisons[2].Phases[0].Metrics[0].Pairs {
		assert.Equal(t, slices.Index(threeArms[i%6], 1) < slices.Index(threeArms[i%6], 2), pair.BaselineFirst, "which of the two ran first")
	}

	// What is wrong with one arm concerns its comparisons only.
	tr = threeArmTrial(t)
	tr.edit = onRun("0003/r1", func(r *recorded) { r.outputs.Tokens[1][1] = 7 })
	v = build(t, tr.write(t.TempDir()))
	assert.Equal(t, "FAIL(identity)", v.Result)
	assert.Equal(t, []string{"FAIL(identity)", "PASS", "INVALID(identity)"},
		[]string{v.Comparisons[0].Result, v.Comparisons[1].Result, v.Comparisons[2].Result})
	assert.Contains(t, v.Sentence, "r1 against off: the outputs differ")
	for _, form := range renderings {
		if form.extension != "json" {
			assert.Contains(t, render(t, v, form.write), "r2 against r1", form.extension)
		}
	}
}

func threeArmTrial(t *testing.T) *trial {
	tr := newTrial(t, 6)
	on := map[string]string{scenarios.RecorderVariable: "{run_dir}/steps"}
	tr.scenario.Arms = []scenarios.Arm{
		{Name: "off", Patch: "none"}, {Name: "r1", Patch: "r1-seed", Env: on}, {Name: "r2", Patch: "r2-onepass", Env: on},
	}
	tr.scenario.Compare = []scenarios.Comparison{
		{Baseline: "off", Candidate: "r1"}, {Baseline: "off", Candidate: "r2"}, {Baseline: "r1", Candidate: "r2"},
	}
	tr.scale = map[string]float64{"r1": 2.5, "r2": 1}
	return tr
}

func TestEmbeddedAADoesNotGate(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 6)
	tr.scenario.Arms = append(tr.scenario.Arms, scenarios.Arm{Name: "off2", Patch: "r2-onepass", SameAs: "off"})
	tr.scenario.Compare = append(tr.scenario.Compare, scenarios.Comparison{Baseline: "off", Candidate: "off2"})
	tr.noise = 0.002
	v := build(t, tr.write(t.TempDir()))
	require.Len(t, v.Comparisons, 2)
	assert.True(t, v.Comparisons[0].Gating)
	assert.False(t, v.Comparisons[1].Gating)
	assert.Equal(t, v.Comparisons[0].Result, v.Result)
	assert.Contains(t, v.AA, "off2 against off in this campaign")
}

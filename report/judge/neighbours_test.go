package judge_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/internal/forms"
	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/report/page"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/scenarios"
)

func TestEarlierCampaignsAndAA(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	old := trial.New(t, 6)
	old.Start = old.Start.Add(-48 * time.Hour)
	old.Effect["tpot"] = 0.055
	dir := old.Write(parent)
	require.NoError(t, page.Save(dir, forms.Build(t, dir)))

	aa := trial.New(t, 6)
	trial.MakeAA(aa)
	aa.Scenario.Name, aa.Start = "equal", aa.Start.Add(-24*time.Hour)
	dir = aa.Write(parent)
	require.NoError(t, page.Save(dir, forms.Build(t, dir)))

	now := trial.New(t, 6)
	now.Scenario.Gate.RequireAA = true
	here := now.Write(parent)
	v := forms.Build(t, here)
	require.Len(t, v.Earlier, 1)
	assert.Equal(t, "FAIL", v.Earlier[0].Verdict)
	assert.Equal(t, "PASS", v.Headline(), "the required A/A lies beside it")
	assert.True(t, strings.HasPrefix(v.AA, "PASS, 24 hours older (20261203T"), v.AA)

	// Names do not decide: a published campaign may have any.
	require.NoError(t, os.Rename(dir, filepath.Join(parent, "zz-equal")))
	dir = filepath.Join(parent, "zz-equal")
	v = forms.Build(t, here)
	assert.Equal(t, "PASS, 24 hours older (zz-equal)", v.AA)
	v = forms.Build(t, dir)
	assert.Empty(t, v.Earlier)
	assert.Equal(t, "none", v.AA, "the campaigns beside it are no A/A that came before")

	// A plan that cannot be read is no A/A.
	require.NoError(t, os.WriteFile(filepath.Join(dir, "plan.json"), []byte(`{"kind":"plan"`), 0o644))
	v = forms.Build(t, here)
	assert.Equal(t, "INVALID(A/A missing)", v.Headline())
}

// The same question under another name, and in a campaign of more arms, is
// listed; another question is not.
func TestEarlierCampaignsOfOtherNames(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	day := 5
	earlier := func(edit func(*trial.Trial)) {
		old := trial.New(t, 6)
		old.Start = old.Start.Add(-time.Duration(day) * 24 * time.Hour)
		day--
		old.Stop = 1 // given up: no verdict, and still one that must be named
		edit(old)
		old.Write(parent)
	}
	earlier(func(tr *trial.Trial) {
		tr.Scenario.Name = "renamed"
		tr.Scenario.Design.Blocks, tr.Scenario.Design.Looks = 8, []int{8}
	})
	earlier(func(tr *trial.Trial) {
		tr.Scenario.Name, tr.Scenario.Arms[1].Patch = "revised", "r1-seed"
		tr.Scenario.Arms[0].Patch = "r1-seed"
	})
	earlier(func(tr *trial.Trial) {
		tr.Scenario.Name, tr.Scenario.Arms[1].Args = "other-options", map[string]string{"max-num-seqs": "8"}
	})
	earlier(func(tr *trial.Trial) {
		tr.Scenario.Name = "three"
		tr.Scenario.Arms = append(tr.Scenario.Arms, scenarios.Arm{Name: "more", Patch: "r1-seed"})
		tr.Scenario.Compare = append(tr.Scenario.Compare, scenarios.Comparison{Baseline: "off", Candidate: "more"})
	})
	v := forms.Build(t, trial.New(t, 6).Write(parent))
	require.Len(t, v.Earlier, 2)
	assert.Contains(t, v.Earlier[0].Campaign, "renamed")
	assert.Contains(t, v.Earlier[1].Campaign, "three")
	assert.Equal(t, "no verdict saved", v.Earlier[0].Verdict)
	assert.Equal(t, 6, v.Comparisons[0].Primaries()[0].Detail.N, "listed, never pooled")
}

// A new campaign has to pass on every metric, and the spread of this one is not that of
// the next: what earlier campaigns of the host saved widens what is needed.
func TestNeedsOfTheWholeCampaign(t *testing.T) {
	t.Parallel()
	noisy := func(noise float64, hours int) *trial.Trial {
		tr := trial.New(t, 6)
		tr.Noise, tr.Effect["ttft"] = noise, 0.022
		tr.Start = tr.Start.Add(-time.Duration(hours) * time.Hour)
		return tr
	}
	parent := t.TempDir()
	here := noisy(0.012, 0).Write(parent)
	v := forms.Build(t, here)
	require.Equal(t, "INCONCLUSIVE", v.Headline())
	require.NotNil(t, v.Whole)
	assert.Equal(t, 5, v.Whole.Metrics)
	assert.Equal(t, 1, v.Whole.Campaigns)
	for _, p := range v.Comparisons[0].Primaries() {
		if p.Advice != nil {
			assert.GreaterOrEqual(t, v.Whole.IfZero, p.Advice.IfZero, "all are more than %s", p)
			assert.GreaterOrEqual(t, v.Whole.IfZeroUpper, p.Advice.IfZeroUpper)
		}
		assert.InDelta(t, p.Detail.SD*stat.SDUpperFactor(6), p.Detail.SDUpper, 1e-12)
	}
	last := v.Needs[len(v.Needs)-1]
	assert.Regexp(t, `^the campaign: 90 % power that all 5 primary metrics pass needs \d+( to \d+)? blocks if no true effect is above 0, if the host stays as quiet$`, last)

	for i, noise := range []float64{0.05, 0.003} {
		dir := noisy(noise, 24*(i+1)).Write(parent)
		require.NoError(t, page.Save(dir, forms.Build(t, dir)))
	}
	between := forms.Build(t, here)
	assert.Equal(t, 3, between.Whole.Campaigns)
	assert.Equal(t, v.Whole.IfZero, between.Whole.IfZero, "what this campaign saw")
	assert.Greater(t, between.Whole.IfZeroUpper, v.Whole.IfZeroUpper)
	assert.Contains(t, between.Needs[len(between.Needs)-1], "and at what 3 campaigns of this host let expect")
	assert.Greater(t, between.Comparisons[0].Primaries()[0].Detail.SDUpper, v.Comparisons[0].Primaries()[0].Detail.SDUpper)
	assert.Equal(t, v.Comparisons[0].Primaries()[0].Upper, between.Comparisons[0].Primaries()[0].Upper, "no bound changes")
}

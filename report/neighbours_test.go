package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/scenarios"
)

func TestEarlierCampaignsAndAA(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	old := newTrial(t, 6)
	old.start = old.start.Add(-48 * time.Hour)
	old.effect["tpot"] = 0.055
	dir := old.write(parent)
	require.NoError(t, Save(dir, build(t, dir)))

	aa := newTrial(t, 6)
	aaTrial(aa)
	aa.scenario.Name, aa.start = "equal", aa.start.Add(-24*time.Hour)
	dir = aa.write(parent)
	require.NoError(t, Save(dir, build(t, dir)))

	now := newTrial(t, 6)
	now.scenario.Gate.RequireAA = true
	here := now.write(parent)
	v := build(t, here)
	require.Len(t, v.Earlier, 1)
	assert.Equal(t, "FAIL", v.Earlier[0].Verdict)
	assert.Equal(t, "PASS", v.Result, "the required A/A lies beside it")
	assert.True(t, strings.HasPrefix(v.AA, "PASS (20261203T"), v.AA)

	// Names do not decide: a published campaign may have any.
	require.NoError(t, os.Rename(dir, filepath.Join(parent, "zz-equal")))
	dir = filepath.Join(parent, "zz-equal")
	v = build(t, here)
	assert.Equal(t, "PASS (zz-equal)", v.AA)
	v = build(t, dir)
	assert.Empty(t, v.Earlier)
	assert.Equal(t, "none", v.AA, "the campaigns beside it are no A/A that came before")

	require.NoError(t, os.WriteFile(filepath.Join(dir, verdictFile), []byte(`{"kind":"verdict"}`), 0o644))
	v = build(t, here)
	assert.Equal(t, "INVALID(A/A missing)", v.Result)
}

// The same question under another name, and in a campaign of more arms, is
// listed; another question is not.
func TestEarlierCampaignsOfOtherNames(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	day := 5
	earlier := func(edit func(*trial)) {
		old := newTrial(t, 6)
		old.start = old.start.Add(-time.Duration(day) * 24 * time.Hour)
		day--
		old.stop = 1 // given up: no verdict, and still one that must be named
		edit(old)
		old.write(parent)
	}
	earlier(func(tr *trial) {
		tr.scenario.Name = "renamed"
		tr.scenario.Design.Blocks, tr.scenario.Design.Looks = 8, []int{8}
	})
	earlier(func(tr *trial) {
		tr.scenario.Name, tr.scenario.Arms[1].Patch = "revised", "r1-seed"
		tr.scenario.Arms[0].Patch = "r1-seed"
	})
	earlier(func(tr *trial) {
		tr.scenario.Name, tr.scenario.Arms[1].Args = "other-options", map[string]string{"max-num-seqs": "8"}
	})
	earlier(func(tr *trial) {
		tr.scenario.Name = "three"
		tr.scenario.Arms = append(tr.scenario.Arms, scenarios.Arm{Name: "more", Patch: "r1-seed"})
		tr.scenario.Compare = append(tr.scenario.Compare, scenarios.Comparison{Baseline: "off", Candidate: "more"})
	})
	v := build(t, newTrial(t, 6).write(parent))
	require.Len(t, v.Earlier, 2)
	assert.Contains(t, v.Earlier[0].Campaign, "renamed")
	assert.Contains(t, v.Earlier[1].Campaign, "three")
	assert.Equal(t, "no verdict saved", v.Earlier[0].Verdict)
	assert.Equal(t, 6, v.Comparisons[0].primaries()[0].Detail.N, "listed, never pooled")
}

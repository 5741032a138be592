package results

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// thinByHand deletes step files of runs in a folder and lists them, as publishing
// does, with or without a ledger that vouches for the list.
func thinByHand(t *testing.T, dir string, vouch bool, names ...string) {
	t.Helper()
	for _, name := range names {
		require.NoError(t, os.RemoveAll(filepath.Join(dir, "blocks", filepath.FromSlash(name))))
	}
	list := thinnedList(names)
	require.NoError(t, os.WriteFile(filepath.Join(dir, thinnedFile), list, 0o644))
	if !vouch {
		return
	}
	ledger, err := os.ReadFile(LedgerPath(dir))
	require.NoError(t, err)
	ledger, err = vouchFor(ledger, list)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(LedgerPath(dir), ledger, 0o644))
}

// thinned.json takes checks out of the report's hands, so that it is believed only
// where publishing wrote it: the ledger has its digest, what it lists was sealed with
// its run and is gone, and of each recording arm one run that counts keeps its files.
func TestThinnedIsUnderTheSeals(t *testing.T) {
	step := func(run string) string { return run + "/steps/a.jsonl.zst" }
	whole := smallRecorded(t)
	for name, c := range map[string]struct {
		vouch, keep bool
		names       []string
		want        string
	}{
		"as publishing does":      {vouch: true, names: []string{step("0001/on"), step("0003/on2")}},
		"the ledger has no entry": {names: []string{step("0001/on")}, want: "the ledger says none: publishing did not write it"},
		"no run of an arm is left whole": {
			vouch: true, names: []string{step("0001/on"), step("0002/on"), step("0003/on"), step("burnin-1/on")}, want: "leaves no run of arm on its step files",
		},
		"only the burn-in is left": {
			vouch: true, names: []string{step("0001/on"), step("0002/on"), step("0003/on")}, want: "leaves no run of arm on its step files",
		},
		"a file that never was":     {vouch: true, names: []string{"0001/on/steps/b.jsonl.zst"}, want: "which no run has among its sealed step files"},
		"a run that never was":      {vouch: true, names: []string{step("0004/on")}, want: "which no run has among its sealed step files"},
		"a file that is still read": {vouch: true, keep: true, names: []string{step("0002/on")}, want: "which is there"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "copy")
			require.NoError(t, os.CopyFS(dir, os.DirFS(whole)))
			thinByHand(t, dir, c.vouch, c.names...)
			if c.keep {
				steps := filepath.Join("blocks", "0002", "on", "steps")
				require.NoError(t, os.CopyFS(filepath.Join(dir, steps), os.DirFS(filepath.Join(whole, steps))))
			}
			loaded, err := Load(dir)
			require.NoError(t, err)
			if c.want == "" {
				assert.Empty(t, loaded.Damage)
				return
			}
			require.Len(t, loaded.Damage, 1)
			assert.Contains(t, loaded.Damage[0], c.want)
			assert.NotContains(t, loaded.Damage[0], dir, "reports name no machine's paths")
			_, _, err = pack(t, dir, MaxArchive)
			assert.ErrorContains(t, err, "is damaged: ", "nothing is published of it")
		})
	}
}

// Only step files may be missing: whatever else is listed leaves a damaged run.
func TestThinnedListsStepFilesOnly(t *testing.T) {
	dir := smallRecorded(t)
	thinByHand(t, dir, true, "0001/on/requests.jsonl.zst")
	c, err := Load(dir)
	require.NoError(t, err)
	assert.NotEmpty(t, c.Attempts[2].Damage)
	assert.Equal(t, "0001/on", c.Attempts[2].Key.String())
}

func smallRecorded(t *testing.T) string {
	t.Helper()
	sizes := map[Key]int{}
	for _, block := range []string{"burnin-1", "0001", "0002", "0003"} {
		sizes[Key{block, 1, "on"}], sizes[Key{block, 1, "on2"}] = 9, 9
	}
	return recordedCampaign(t, sizes)
}

// A list that was changed after publishing no longer has the digest of the ledger,
// and what the ledger had before it still stands.
func TestThinnedListIsNotChanged(t *testing.T) {
	dir := smallRecorded(t)
	thinByHand(t, dir, true, "0001/on/steps/a.jsonl.zst")
	before, err := ReadLedger(LedgerPath(dir))
	require.NoError(t, err)
	assert.Equal(t, EventThinned, before[len(before)-1].Event)
	assert.Equal(t, before[len(before)-2].Time, before[len(before)-1].Time, "no clock is read")
	thinByHand(t, dir, false, "0001/on/steps/a.jsonl.zst", "0002/on/steps/a.jsonl.zst")
	c, err := Load(dir)
	require.NoError(t, err)
	assert.Contains(t, strings.Join(c.Damage, "\n"), "thinned.json has digest")
}

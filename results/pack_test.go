package results

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/scenarios"
)

// recordedCampaign has runs of two recording arms; sizes are those of their step
// files in bytes, which do not compress.
func recordedCampaign(t testing.TB, sizes map[Key]int) string {
	t.Helper()
	dir, err := Create(t.TempDir(), somePlan(), time.Date(2026, 12, 4, 10, 0, 0, 0, time.UTC))
	require.NoError(t, err)
	l, err := OpenLedger(LedgerPath(dir))
	require.NoError(t, err)
	noise := rand.New(rand.NewPCG(1, 2))
	for _, block := range []string{"burnin-1", "0001", "0002", "0003"} {
		for _, arm := range []string{"on", "on2"} {
			key := Key{block, 1, arm}
			data := make([]byte, sizes[key])
			for i := range data {
				data[i] = byte(noise.Uint32())
			}
			run := RunPath(dir, key)
			require.NoError(t, os.MkdirAll(filepath.Join(run, "steps"), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(run, "steps", "a.jsonl.zst"), data, 0o644))
			files := []StepFile{{Name: "steps/a.jsonl.zst", SHA256: digest(data), Size: int64(len(data))}}
			sealRunWith(t, dir, l, Run{Schema: Schema, Kind: "run", Key: key, Steps: &Steps{Files: files}})
		}
		require.NoError(t, l.Append(Entry{Event: EventBlockValid, Block: block, Attempt: 1}))
	}
	require.NoError(t, l.Append(Entry{Event: EventComplete}))
	require.NoError(t, l.Close())
	return dir
}

func pack(t testing.TB, dir string, limit int64) (*Packed, string, error) {
	t.Helper()
	c, err := Load(dir)
	require.NoError(t, err)
	out := t.TempDir()
	p, err := Pack(filepath.Join(out, ArchiveName), c, limit)
	return p, out, err
}

// Where an archive is too large, step files go: those of runs that do not count,
// then the largest, and only as many as have to. One run of each arm keeps them,
// and what was left out is listed, so that the seals still hold.
func TestPackLeavesStepFilesOut(t *testing.T) {
	const kb = 1000
	dir := recordedCampaign(t, map[Key]int{
		{"burnin-1", 1, "on"}: 5 * kb, {"0001", 1, "on"}: 90 * kb, {"0002", 1, "on"}: 10 * kb, {"0003", 1, "on"}: 80 * kb,
		{"burnin-1", 1, "on2"}: 6 * kb, {"0001", 1, "on2"}: 20 * kb, {"0002", 1, "on2"}: 70 * kb, {"0003", 1, "on2"}: 30 * kb,
	})
	name := func(block, arm string) string { return fmt.Sprintf("%s/%s/steps/a.jsonl.zst", block, arm) }
	everything, _, err := pack(t, dir, MaxArchive)
	require.NoError(t, err)
	assert.Empty(t, everything.Thinned)
	assert.Greater(t, everything.Size, int64(311*kb))
	idle := []string{name("burnin-1", "on"), name("burnin-1", "on2")}
	for _, c := range []struct {
		less int64 // than everything, bytes
		want []string
	}{
		{1, idle[1:]},
		{10 * kb, idle},
		{12 * kb, append([]string{name("0001", "on")}, idle...)},
		{101*kb + 1, append([]string{name("0001", "on"), name("0003", "on")}, idle...)},
		{275 * kb, append([]string{name("0001", "on"), name("0002", "on2"),
			name("0003", "on"), name("0003", "on2")}, idle...)},
	} {
		p, out, err := pack(t, dir, everything.Size-c.less)
		require.NoError(t, err)
		assert.Equal(t, c.want, p.Thinned, "%d bytes less", c.less)
		assert.Less(t, p.Size, everything.Size-c.less)
		thin, err := Load(out)
		require.NoError(t, err)
		assert.Len(t, thin.Thinned, len(c.want))
		for _, a := range thin.Attempts {
			assert.Empty(t, a.Damage, a.Key)
		}
		again, _, err := pack(t, out, MaxArchive)
		require.NoError(t, err)
		assert.Equal(t, p, again, "what was left out stays listed")
	}
	_, out, err := pack(t, dir, 30*kb)
	assert.ErrorContains(t, err, "all step files but those of one run of each arm are left out")
	assert.NoFileExists(t, filepath.Join(out, ArchiveName))
}

// Only what the ledger vouches for is published: lost runs have logs that nobody
// cleaned, and derived files are made again.
func TestPackTakesSealedRunsOnly(t *testing.T) {
	dir := someCampaign(t)
	lost := filepath.Join(dir, "blocks", "0001", "off.aborted")
	require.NoError(t, os.MkdirAll(lost, 0o755))
	for _, name := range []string{
		filepath.Join(lost, "server.log"), filepath.Join(dir, "report.html"), filepath.Join(dir, "notes.txt"),
	} {
		require.NoError(t, os.WriteFile(name, []byte("/home/someone"), 0o644))
	}
	p, out, err := pack(t, dir, MaxArchive)
	require.NoError(t, err)
	assert.Equal(t, 2+3*4, p.Files, "plan, ledger, and of three runs run, environment, requests, seal")
	f, err := open(out, whole)
	require.NoError(t, err)
	for name := range f.(*archive).content {
		assert.NotContains(t, name, "aborted")
		assert.NotContains(t, []string{"report.html", "notes.txt"}, name)
	}
}

// A control's pilot goes with it, and is read from the archive.
func TestPackTakesThePilot(t *testing.T) {
	dir, step := someCampaign(t), someCampaign(t)
	plan := somePlan()
	plan.Pilot = &Pilot{Steps: make([]PilotStep, 1), Chosen: 1}
	require.NoError(t, WriteJSON(filepath.Join(dir, "plan.json"), hashed(plan)))
	_, out, err := pack(t, dir, MaxArchive)
	require.NoError(t, err)
	without, err := Load(out)
	require.NoError(t, err)
	assert.False(t, without.PilotRuns())

	require.NoError(t, os.CopyFS(filepath.Join(dir, "pilot", "1"), os.DirFS(step)))
	_, out, err = pack(t, dir, MaxArchive)
	require.NoError(t, err)
	c, err := Load(out)
	require.NoError(t, err)
	require.True(t, c.PilotRuns())
	pilot, err := c.LoadPilot(1)
	require.NoError(t, err)
	assert.Len(t, pilot.Attempts, 3)
	assert.Empty(t, pilot.Attempts[2].Damage)
	_, err = c.LoadPilot(2)
	assert.ErrorContains(t, err, filepath.Join("pilot", "2")+" is not a run directory")
}

// An archive that nobody could read does not replace one that can be.
func TestPackKeepsTheReadableArchive(t *testing.T) {
	dir := someCampaign(t)
	_, out, err := pack(t, dir, MaxArchive)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(LedgerPath(dir), ledgerWithTail(t, dir), 0o644))
	c, err := Load(dir)
	require.NoError(t, err)
	_, err = Pack(filepath.Join(out, ArchiveName), c, MaxArchive)
	assert.ErrorContains(t, err, `"ledger.jsonl" has`)
	_, err = Load(out)
	assert.NoError(t, err)
}

// ledgerWithTail is a ledger whose torn last line is longer than a file may be.
func ledgerWithTail(t *testing.T, dir string) []byte {
	t.Helper()
	data, err := os.ReadFile(LedgerPath(dir))
	require.NoError(t, err)
	return append(data, make([]byte, maxUnpackedFile)...)
}

// Nothing is published of a campaign that goes on or was changed.
func TestPackRefuses(t *testing.T) {
	dir := someCampaign(t)
	require.NoError(t, os.WriteFile(filepath.Join(RunPath(dir, Key{"0001", 1, "off"}), "run.json"), nil, 0o644))
	_, out, err := pack(t, dir, MaxArchive)
	assert.ErrorContains(t, err, "is damaged: run 0001/off")
	assert.NoFileExists(t, filepath.Join(out, ArchiveName))
	plan := hashed(&Plan{Schema: Schema, Kind: "plan", Scenario: scenarios.Scenario{Name: "open"}})
	open, err := Create(t.TempDir(), plan, time.Now())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(LedgerPath(open), nil, 0o644))
	_, _, err = pack(t, open, MaxArchive)
	assert.ErrorContains(t, err, "is not finished")
}

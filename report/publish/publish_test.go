package publish

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/report/judge"
	"github.com/aituner/opprof/results"
)

const tool = "0.1.0+unknown"

// What is committed says what was measured, and is never put over other data.
func TestWrite(t *testing.T) {
	dir := trial.Equal(t, 6).Write(t.TempDir())
	c := trial.Loaded(t, dir)
	folder := filepath.Join(t.TempDir(), "campaigns", "x")
	packed, v, err := Write(folder, c, tool, false)
	require.NoError(t, err)
	assert.Positive(t, packed.Size)
	measured, err := judge.Build(c, tool)
	require.NoError(t, err)
	assert.Equal(t, measured.Result, v.Result)
	for _, name := range []string{results.ArchiveName, results.VerdictFile, results.ReportFile} {
		assert.FileExists(t, filepath.Join(folder, name))
	}
	_, _, err = Write(folder, c, tool, false)
	require.ErrorIs(t, err, ErrExists)
	_, _, err = Write(folder, c, tool, true)
	require.NoError(t, err)
	_, _, err = Write(dir, c, tool, true)
	require.ErrorIs(t, err, ErrRunDirectory)
}

// What was aborted goes with a publication: without it the worst attempt would be gone.
func TestAbortedRunsArePublished(t *testing.T) {
	tr := trial.New(t, 6)
	tr.Lost = []trial.Lost{{Run: "0003/on", Slower: 0.18, Whole: 2}}
	dir := tr.Write(t.TempDir())
	folder := filepath.Join(t.TempDir(), "x")
	_, v, err := Write(folder, trial.Loaded(t, dir), tool, false)
	require.NoError(t, err)
	assert.Equal(t, "INCONCLUSIVE(selection)", v.Headline())
	assert.NotNil(t, trial.Loaded(t, folder).Lost[0].Run)
	trial.Damage(t, dir, "0003/on.aborted")
	refused(t, dir, ErrDamaged)
}

// Nothing is made of a campaign that goes on, nor of one that was changed.
func TestWriteLeavesNothingBehind(t *testing.T) {
	dir := trial.Equal(t, 6).Write(t.TempDir())
	ledger, err := os.ReadFile(results.LedgerPath(dir))
	require.NoError(t, err)
	lines := strings.SplitAfter(strings.TrimSpace(string(ledger)), "\n")
	require.NoError(t, os.WriteFile(results.LedgerPath(dir), []byte(strings.Join(lines[:len(lines)-1], "")), 0o644))
	refused(t, dir, ErrUnfinished)
	require.NoError(t, os.WriteFile(results.LedgerPath(dir), ledger, 0o644))
	run := results.RunPath(dir, results.Key{Block: "0002", Attempt: 1, Arm: "off"})
	require.NoError(t, os.WriteFile(filepath.Join(run, results.RunFile), []byte("{}"), 0o644))
	refused(t, dir, ErrDamaged)
}

func refused(t *testing.T, dir string, why error) {
	t.Helper()
	c := trial.Loaded(t, dir)
	_, err := Judge(c, tool)
	require.ErrorIs(t, err, why)
	folder := filepath.Join(t.TempDir(), "x")
	_, _, err = Write(folder, c, tool, false)
	require.Error(t, err)
	assert.NoDirExists(t, folder)
}

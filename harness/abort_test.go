package harness

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/harness/engine"
	"github.com/aituner/opprof/harness/engine/enginetest"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/selection"
)

// interruptAt runs what is left until a run does something, and a moment longer.
func interruptAt(t *testing.T, dir, run, doing string, later time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	observe := func(s Status) {
		if s.Run == run && s.Doing == doing {
			time.AfterFunc(later, func() { cancel(errors.New("signal interrupt")) })
		}
	}
	return Execute(ctx, dir, Options{Engine: &enginetest.InProcess{}, Tool: "test", Observe: observe,
		Private: map[string]string{dir: "{campaign}"}})
}

// What an aborted run had measured is sealed under its own name, the ledger vouches for
// it and says whether a timed request was sent; the aborted run alone is repeated.
func TestAnAbortSealsWhatIsThere(t *testing.T) {
	for _, c := range []struct {
		name, doing string
		later       time.Duration
		timed       results.Sent
	}{
		{"before the load", "starting server", 0, results.SentNo},
		{"in the timed part", "phase wide", 700 * time.Millisecond, results.SentYes},
		{"after the phases", "identity pass", 100 * time.Millisecond, results.SentYes},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := toyDir(t)
				second := toyPlan(t).Blocks[2].Order[1]
				require.ErrorIs(t, interruptAt(t, dir, "block 0002 "+second, c.doing, c.later), ErrStopped)
				require.NoError(t, execute(dir, Options{}, nil))
				got := sealedOnce(t, dir)
				require.Len(t, got.Aborted, 1)
				e, lost := got.Aborted[0], got.Lost[0]
				assert.Equal(t, c.timed, e.Timed)
				assert.Equal(t, "0002/"+second+".aborted", e.Folder)
				assert.NotEmpty(t, e.SumsSHA256)
				require.Empty(t, lost.Damage)
				require.NotNil(t, lost.Run)
				assert.NotEmpty(t, lost.Run.Failure)
				done := 0
				for i := range lost.Requests {
					if r := &lost.Requests[i]; r.Phase == "wide" && r.OK() {
						done++
					}
				}
				assert.Equal(t, c.doing == "identity pass", done == 16, "a phase with all its requests")
				var starts []string
				for _, e := range got.Entries {
					if e.Event == results.EventRunStart && e.Block == "0002" {
						starts = append(starts, e.Arm)
					}
				}
				assert.Len(t, starts, 3, "the partner is not run again")
				assert.Equal(t, []string{second, second}, starts[1:])

				run := filepath.Join(dir, "blocks", e.Folder, results.RunFile)
				data, err := os.ReadFile(run)
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(run, append(data, ' '), 0o644))
				edited, err := results.Load(dir)
				require.NoError(t, err)
				assert.Contains(t, edited.Lost[0].Damage, "changed after the run")
			})
		})
	}
}

// A session that is killed writes no entry: the next one finds its run, seals what was
// written at the end of each phase, and does not pretend to know more.
func TestTheNextSessionSealsAKilledRun(t *testing.T) {
	for name, c := range map[string]struct {
		kill  string // freezes the run directory
		timed results.Sent
	}{
		"in the first phase":      {"phase wide", results.SentUnknown},
		"after the first phase":   {"identity pass", results.SentYes},
		"before the server lives": {"starting server", results.SentUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir, frozen := toyDir(t), t.TempDir()
				killed := filepath.Join(frozen, "killed")
				observe := func(s Status) {
					if s.Run == "block 0001 on" && s.Doing == c.kill {
						require.NoError(t, os.CopyFS(killed, os.DirFS(dir)))
						require.NoError(t, os.WriteFile(filepath.Join(killed, "blocks", "0001", "on", results.ServerLogFile), []byte("at "+killed), 0o644))
					}
				}
				require.NoError(t, execute(dir, Options{Observe: observe}, nil))
				require.NoError(t, execute(killed, Options{Private: map[string]string{frozen: "{frozen}"}}, nil))
				got := sealedOnce(t, killed)
				require.Len(t, got.Aborted, 1)
				assert.Equal(t, c.timed, got.Aborted[0].Timed)
				assert.NotEmpty(t, got.Aborted[0].SumsSHA256)
				assert.Empty(t, got.Lost[0].Damage)
				assert.Equal(t, c.timed == results.SentYes, got.Lost[0].Run != nil)
				folder := filepath.Join(killed, "blocks", got.Aborted[0].Folder)
				assert.NoFileExists(t, filepath.Join(folder, results.ServerLogFile))
				assert.FileExists(t, filepath.Join(folder, results.ServerLogFile+".zst"))
			})
		})
	}
}

// One more than a third of the blocks, and the campaign is over: who aborts the runs
// that he does not like has no campaign left.
func TestAbortsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := toyDir(t)
		for range 2 {
			require.ErrorIs(t, interruptAt(t, dir, "block 0001 on", "phase wide", 0), ErrStopped)
		}
		require.NoError(t, interruptAt(t, dir, "block 0001 on", "phase wide", 0), "nothing is left to resume")
		c, err := results.Load(dir)
		require.NoError(t, err)
		assert.True(t, c.Complete)
		assert.Equal(t, 3, selection.Count(c.Entries).Used)
		assert.False(t, slices.ContainsFunc(c.Attempts, func(a results.Attempt) bool { return a.Valid && !a.BurnIn }))
		assert.ErrorIs(t, execute(dir, Options{}, nil), ErrRefused)
	})
}

// Aborted burn-in runs are repeated without end, and void blocks share the limit.
func TestVoidsAndAbortsShareTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := toyDir(t)
		for range 4 {
			require.ErrorIs(t, interruptAt(t, dir, "block burnin-1 on", "phase wide", 0), ErrStopped)
		}
		require.ErrorIs(t, interruptAt(t, dir, "block 0001 on", "phase wide", 0), ErrStopped)
		require.NoError(t, execute(dir, Options{}, func(s engine.Spec) []string {
			if s.Arm.Name == "on" && (strings.HasSuffix(s.RunDir, "0002/on") || strings.HasSuffix(s.RunDir, "0003/on")) {
				return []string{"http-500"}
			}
			return nil
		}))
		c, err := results.Load(dir)
		require.NoError(t, err)
		assert.True(t, c.Complete)
		assert.Len(t, c.Aborted, 5)
		assert.Len(t, c.Voids, 2)
		for _, a := range c.Attempts {
			assert.True(t, a.BurnIn || a.Key.Block < "0004", "one abort and two voids are one too many of six blocks")
		}
	})
}

// The order of the first plan is that of the seed alone, others differ from it and from
// each other as far as there are others, and keep the requests.
func TestReplicates(t *testing.T) {
	base := toyPlan(t)
	hash := base.Hash
	require.NoError(t, Replicate(base, 0))
	assert.Equal(t, hash, base.Hash, "replicate 0 is the plan as it always was")
	seen := map[string]bool{}
	orders := map[string]bool{}
	for k := range 8 {
		p := toyPlan(t)
		require.NoError(t, Replicate(p, k))
		assert.Equal(t, base.WorkloadSHA256, p.WorkloadSHA256)
		assert.NoError(t, samePlan(p, "test"), "resume makes the same plan")
		var order []string
		for _, b := range p.Blocks {
			order = append(order, strings.Join(b.Order, " "))
		}
		seen[p.Hash], orders[strings.Join(order, ",")] = true, true
		for i := 1; i < 7; i += 2 {
			assert.NotEqual(t, p.Blocks[i].Order, p.Blocks[i+1].Order, "still ABBA or BAAB")
		}
	}
	assert.Len(t, seen, 8)
	assert.Len(t, orders, 8, "three pairs of blocks have eight orders")
	p := toyPlan(t)
	require.NoError(t, Replicate(p, 8), "more than there are")
	assert.False(t, seen[p.Hash], "the number is part of the hash")
	p.Replicate = 9
	assert.ErrorIs(t, samePlan(p, "test"), ErrRefused, "edited since")
	assert.Error(t, Replicate(p, -1))
}

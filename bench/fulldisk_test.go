package bench

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/aituner/opprof/results"
)

// A disk becomes full for a process when its files may grow no further
// (RLIMIT_FSIZE): the write that crosses the limit is cut, and it and all later
// ones fail, as with ENOSPC. It needs no privileges and can be set in mid-run.
func noMoreThan(t *testing.T, pid int, size int64) {
	t.Helper()
	limit := unix.Rlimit{Cur: uint64(size), Max: uint64(size)}
	assert.NoError(t, unix.Prlimit(pid, unix.RLIMIT_FSIZE, &limit, nil))
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Size()
}

// ledgerRoom is enough for a ledger entry; run.json needs more than the ledger
// and this.
const ledgerRoom = 1200

// The disk fills up under a campaign: it says which file it could not write and
// what to do, exits with 13, and goes on from there when there is room again.
func TestFullDiskUnderTheHarness(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		room int64 // beyond the ledger
		torn bool  // the ledger ends inside a line
	}{{"room for the ledger", ledgerRoom, false}, {"room for nothing", 20, true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			link := linkToSelf(t, dir)
			scenario := bytes.Replace([]byte(victimScenario), []byte("args: {%s}, "), nil, 1)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "victim.yaml"), scenario, 0o644))
			cmd := command(t, link, "run", "-q", "--skip-preflight", "-o", "runs", "victim.yaml")
			var said bytes.Buffer
			cmd.Stderr = &said
			require.NoError(t, cmd.Start())
			campaign := secondRun(t, dir)
			ledger := results.LedgerPath(campaign)
			noMoreThan(t, cmd.Process.Pid, sizeOf(t, ledger)+c.room)

			var exit *exec.ExitError
			require.ErrorAs(t, cmd.Wait(), &exit)
			assert.Equal(t, 13, exit.ExitCode(), said.String())
			assert.Contains(t, said.String(), "opbench: run 0001/")
			assert.Contains(t, said.String(), "file too large")
			assert.Contains(t, said.String(), "once that is repaired: opbench resume runs/")
			requireNoServer(t, campaign)
			data, err := os.ReadFile(ledger)
			require.NoError(t, err)
			assert.Equal(t, c.torn, !bytes.HasSuffix(data, []byte("\n")), "%s", data)
			entries, err := results.ReadLedger(ledger)
			require.NoError(t, err)
			assert.Equal(t, c.torn, entries[len(entries)-1].Event == results.EventRunStart)
			assert.Equal(t, !c.torn, entries[len(entries)-1].Event == results.EventRunAbort)

			resume := command(t, link, "resume", "-q", "--skip-preflight", campaign)
			out, err := resume.Output()
			require.NoError(t, err, "%s", out)
			assert.Contains(t, string(out), "PASS(checks)")
			requireWhole(t, campaign)
		})
	}
}

// secondRun waits until one run of the only campaign is sealed and the server of
// the next one is there.
func secondRun(t *testing.T, dir string) (campaign string) {
	t.Helper()
	require.Eventually(t, func() bool {
		found, _ := filepath.Glob(filepath.Join(dir, "runs", "*", "blocks", "*", "*", "server.pid"))
		sealed, _ := filepath.Glob(filepath.Join(dir, "runs", "*", "blocks", "*", "*", "SHA256SUMS"))
		if len(found) == 0 || len(sealed) == 0 {
			return false
		}
		campaign = filepath.Join(dir, "runs", filepath.Base(filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(found[0]))))))
		return true
	}, 30*time.Second, 5*time.Millisecond)
	return campaign
}

// The disk fills up under the recorder of a server: serving goes on, the file
// ends inside a record, and the run counts for nothing.
func TestFullDiskUnderTheRecorder(t *testing.T) {
	t.Parallel()
	v := &victim{t: t}
	fill := strike{"phase one", false, func(s *target) {
		s.after(0)
		files, err := filepath.Glob(filepath.Join(v.dir, "blocks", "*", "*", "steps", "*.jsonl"))
		assert.NoError(t, err)
		if assert.Len(t, files, 1) {
			noMoreThan(t, s.pid, sizeOf(t, files[0])+1000)
		}
	}}
	v.strikes = []strike{fill, fill}
	text, code := v.run("")
	assert.Equal(t, 12, code, text)
	assert.Contains(t, text, "INVALID(selection)")
	assert.Contains(t, text, "0 of 1 planned blocks are valid")
	assert.Contains(t, text, "torn-tail")
	for name, a := range v.attempts() {
		assert.Empty(t, a.Run.Failure, name)
		for _, r := range a.Requests {
			assert.True(t, r.OK(), "%s: %s", name, r.Error)
		}
		if a.Run.Steps != nil {
			assert.False(t, a.Run.Steps.Footer, name)
		}
	}
}

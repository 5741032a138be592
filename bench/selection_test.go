package bench

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
)

// twoPhases is the campaign of crash_test.go with six blocks and a second phase in which
// a run can be aborted after the first one is whole.
func twoPhases() []byte {
	return []byte(strings.NewReplacer("blocks: 8, seed: 1, burn_in_blocks: 1", "blocks: 6, seed: 1, burn_in_blocks: 0", "design:", `  - name: two
    source: {kind: synthetic, requests: 6, prompt_tokens: 8, output_tokens: 16, seed: 2, vocab_size: 500}
    arrival: {kind: closed, streams: 1}
    warmup: {requests: 1}
    primary: [tpot_p50]
design:`).Replace(crashScenario))
}

// abortOn runs opbench until the candidate's run of the first block has a file, and
// interrupts it once, as Ctrl-C does. It returns the exit code.
func abortOn(t *testing.T, link, file string, args ...string) int {
	t.Helper()
	cmd := command(t, link, args...)
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool {
		found, _ := filepath.Glob(filepath.Join(cmd.Dir, "runs", "*", "blocks", "0001", "on", file))
		return len(found) == 1
	}, 60*time.Second, 5*time.Millisecond)
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	return codeOf(t, cmd.Wait())
}

func codeOf(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	require.NoError(t, err)
	return 0
}

// Whoever interrupts the candidate's runs and resumes gets no campaign out of it: two of
// six blocks may be repeated, and the third abort ends it.
func TestAbortingTheCandidateEndsTheCampaign(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := linkToSelf(t, dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "two.yaml"), twoPhases(), 0o644))
	args := []string{"run", "-q", "--skip-preflight", "-o", "runs", "two.yaml"}
	for range 2 {
		require.Equal(t, exitStopped, abortOn(t, link, results.ServerPIDFile, args...))
		found, err := filepath.Glob(filepath.Join(dir, "runs", "*"))
		require.NoError(t, err)
		require.Len(t, found, 1)
		args = []string{"resume", "-q", "--skip-preflight", found[0]}
	}
	assert.Equal(t, 12, abortOn(t, link, results.ServerPIDFile, args...))
	campaign := args[3]
	out, err := command(t, link, "gate", campaign).Output()
	assert.Equal(t, 12, codeOf(t, err))
	assert.Contains(t, unwrap(string(out)), "INVALID(selection) Simulated engine, not vLLM: 3 aborted runs (on 3, off 0), "+
		"only 2 may be repeated; 0 of 6 planned blocks are valid")
	_, err = command(t, link, "resume", "-q", "--skip-preflight", campaign).Output()
	assert.Equal(t, 2, codeOf(t, err), "nothing is left to go on with")
	requireNoServer(t, campaign)
}

// Within the limit the first lines count what was aborted, and the phase that was whole
// is put back: the run was stopped in its second phase.
func TestAnAbortedRunIsPutBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := linkToSelf(t, dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "two.yaml"), twoPhases(), 0o644))
	// Its requests are there once the first phase has ended.
	require.Equal(t, exitStopped, abortOn(t, link, results.RequestsFile, "run", "-q", "--skip-preflight", "-o", "runs", "two.yaml"))
	found, err := filepath.Glob(filepath.Join(dir, "runs", "*"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	resume := command(t, link, "resume", "-q", "--skip-preflight", found[0])
	out, err := resume.Output()
	require.Contains(t, []int{0, 10, 11, 12}, codeOf(t, err), "a verdict: so short a run is mostly noise")
	text := unwrap(string(out))
	first, _, _ := strings.Cut(text, "two · plan ")
	assert.Contains(t, first, "1 aborted run (on 1, off 0)")

	data, err := os.ReadFile(filepath.Join(found[0], results.VerdictFile))
	require.NoError(t, err)
	var v view.View
	require.NoError(t, json.Unmarshal(data, &v))
	require.Len(t, v.Aborted, 1)
	assert.Contains(t, v.Aborted[0].Why, "signal interrupt; timed requests had been sent")
	m := v.Comparisons[0].Find("one", "tpot_p50")
	require.NotNil(t, m)
	if v.Reason == "" { // no fault of this machine in the other runs
		assert.Contains(t, first, "the worst attempt decides")
	}
	require.NotNil(t, m.PutBack)
	assert.Equal(t, []string{"0001/on.aborted"}, m.PutBack.Attempts)
	assert.Nil(t, v.Comparisons[0].Find("two", "tpot_p50").PutBack, "half of it is missing")
	c, err := results.Load(found[0])
	require.NoError(t, err)
	partners := 0
	for _, e := range c.Entries {
		if e.Event == results.EventRunStart && e.Block == "0001" && e.Arm == "off" {
			partners++
		}
	}
	assert.Equal(t, 1, partners, "the partner is not run again")
}

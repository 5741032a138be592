package bench

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/results"
)

const crashScenario = `
scenario: crash
about: a toy that gets killed
engine: {kind: sim, model: toy}
arms:
  off: {patch: none}
  on:  {patch: none, env: {VLLM_OPPROF_DIR: "{run_dir}/steps"}}
phases:
  - name: one
    source: {kind: synthetic, requests: 8, prompt_tokens: 8, output_tokens: 16, seed: 1, vocab_size: 500}
    arrival: {kind: closed, streams: 4}
    warmup: {requests: 4}
    primary: [tpot_p50]
design: {blocks: 8, seed: 1, burn_in_blocks: 1, cooldown: 0s}
identity: {prompts: 2, prompt_tokens: 8, output_tokens: 8, min_distinct: 3}
client: {max_probe_lag_p99: 500ms}
`

// command starts opbench as users do, through a link of that name.
func command(t *testing.T, link string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(link, args...)
	cmd.Dir = filepath.Dir(link)
	cmd.Env = append(os.Environ(), "HOME="+cmd.Dir)
	cmd.Stderr = os.Stderr
	return cmd
}

// kill -9 in mid-campaign, three times, which is as often as eight blocks may be repeated: the plan stays, no block is lost or
// doubled, and no server is left over.
func TestKillNineAndResume(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	link := filepath.Join(dir, "opbench")
	require.NoError(t, os.Symlink(self, link))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "crash.yaml"), []byte(crashScenario), 0o644))

	args := []string{"run", "-q", "-o", "runs", "crash.yaml"}
	var campaign, plan string
	for _, moment := range []time.Duration{1300 * time.Millisecond, 2100 * time.Millisecond, 1750 * time.Millisecond} {
		cmd := command(t, link, args...)
		require.NoError(t, cmd.Start())
		time.Sleep(moment)
		require.NoError(t, cmd.Process.Kill())
		var exit *exec.ExitError
		require.ErrorAs(t, cmd.Wait(), &exit)
		require.Equal(t, -1, exit.ExitCode(), "it was killed, not done")
		found, err := filepath.Glob(filepath.Join(dir, "runs", "*"))
		require.NoError(t, err)
		require.Len(t, found, 1)
		campaign = found[0]
		p, err := results.ReadPlan(campaign)
		require.NoError(t, err)
		if plan == "" {
			plan = p.Hash
		}
		assert.Equal(t, plan, p.Hash)
		requireNoServer(t, campaign)
		args = []string{"resume", "-q", campaign}
	}
	err = command(t, link, args...).Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		require.Contains(t, []int{10, 11, 12}, exit.ExitCode(), "a verdict: so short a run is mostly noise")
	} else {
		require.NoError(t, err)
	}
	requireWhole(t, campaign)
}

// requireNoServer requires that the run in progress left no live server.
func requireNoServer(t *testing.T, campaign string) {
	t.Helper()
	for _, path := range results.ServerPIDs(campaign) {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		pid, _, _ := strings.Cut(string(data), " ")
		require.Eventually(t, func() bool {
			_, err := os.Stat("/proc/" + pid)
			return errors.Is(err, os.ErrNotExist)
		}, 10*time.Second, 50*time.Millisecond, "server %s outlived the harness", pid)
	}
}

// requireWhole requires one valid attempt of every block, none of them damaged.
func requireWhole(t *testing.T, dir string) {
	t.Helper()
	c, err := results.Load(dir)
	require.NoError(t, err)
	require.True(t, c.Complete)
	assert.NotEmpty(t, c.Aborted)
	valid := map[string]int{}
	for _, a := range c.Attempts {
		require.Empty(t, a.Damage)
		if a.Valid {
			valid[a.Key.Block+"/"+a.Key.Arm]++
		}
	}
	for _, b := range c.Plan.Blocks {
		for _, arm := range b.Order {
			assert.Equal(t, 1, valid[b.Name()+"/"+arm], "%s/%s", b.Name(), arm)
		}
	}
}

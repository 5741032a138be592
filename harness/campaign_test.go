package harness

import (
	"context"
	"errors"
	"fmt"
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
	"github.com/aituner/opprof/scenarios"
)

// toy is a whole campaign in a few hundred steps per run.
const toy = `
scenario: toy
purpose: overhead
about: a toy on the simulated engine
engine: {kind: sim, model: toy}
arms:
  off: {patch: none}
  on:  {patch: none, env: {VLLM_OPPROF_DIR: "{run_dir}/steps"}}
phases:
  - name: wide
    source:  {kind: synthetic, requests: 12, prompt_tokens: 32, output_tokens: 16, seed: 1, vocab_size: 500}
    arrival: {kind: closed, streams: 4, ramp: 100ms}
    warmup:  {requests: 4}
    primary: [output_throughput, tpot_p50]
design: {blocks: 6, seed: 5, burn_in_blocks: 1, cooldown: 1s}
identity: {prompts: 4, prompt_tokens: 16, output_tokens: 8, min_distinct: 3}
`

func toyPlan(t *testing.T) *results.Plan {
	t.Helper()
	s, err := scenarios.Load("toy.yaml", []byte(toy), scenarios.Known{})
	require.NoError(t, err)
	p, err := Plan(s, "toy.yaml", []byte(toy), "test")
	require.NoError(t, err)
	return p
}

func toyDir(t *testing.T) string {
	t.Helper()
	dir, err := results.Create(t.TempDir(), toyPlan(t), time.Now())
	require.NoError(t, err)
	return dir
}

// execute works on a run directory, on the bubble's clock.
func execute(dir string, opt Options, sabotage func(engine.Spec) []string) error {
	opt.Engine, opt.Tool = &enginetest.InProcess{Sabotage: sabotage}, "test"
	return Execute(context.Background(), dir, opt)
}

// sealedOnce requires that every run of the plan is there, once, and valid.
func sealedOnce(t *testing.T, dir string) *results.Campaign {
	t.Helper()
	c, err := results.Load(dir)
	require.NoError(t, err)
	require.True(t, c.Complete)
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
	return c
}

func TestPlanIsBalancedAndStable(t *testing.T) {
	p := toyPlan(t)
	assert.Equal(t, p.Hash, toyPlan(t).Hash)
	require.Len(t, p.Blocks, 7)
	assert.True(t, p.Blocks[0].BurnIn)
	for i := 1; i < 7; i += 2 {
		a, b := p.Blocks[i].Order, slices.Clone(p.Blocks[i+1].Order)
		slices.Reverse(b)
		assert.Equal(t, a, b, "blocks %d and %d are ABBA or BAAB", i, i+1)
	}
	seen := map[string]bool{}
	for seed := range uint64(20) {
		s := p.Scenario
		s.Design.Seed = seed
		seen[strings.Join(blocks(&s)[1].Order, " ")] = true
	}
	assert.Len(t, seen, 2, "the seed decides which arm begins")
}

// The plan hash follows what decides the result and nothing else.
func TestPlanHash(t *testing.T) {
	base := toyPlan(t).Hash
	other := toyPlan(t)
	other.Scenario.Engine.Python = "/opt/python3"
	other.Tool, other.ScenarioFile = "another", "another.yaml"
	hash, err := other.ComputeHash()
	require.NoError(t, err)
	assert.Equal(t, base, hash, "paths and the tool's version do not count")
	for old, changed := range map[string]bool{
		"seed: 5=seed: 6": true, "blocks: 6=blocks: 8": true, "output_tokens: 16=output_tokens: 17": true,
		"ramp: 100ms=ramp: 200ms": true, "prompts: 4=prompts: 5": true,
		"model: toy=model: /models/toy": false,
	} {
		from, to, _ := strings.Cut(old, "=")
		text := strings.Replace(toy, from, to, 1)
		require.NotEqual(t, toy, text, old)
		s, err := scenarios.Load("toy.yaml", []byte(text), scenarios.Known{})
		require.NoError(t, err, old)
		p, err := Plan(s, "toy.yaml", []byte(text), "test")
		require.NoError(t, err)
		assert.Equal(t, changed, p.Hash != base, old)
	}
}

func TestCampaignFromStartToEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := toyDir(t)
		var last Status
		require.NoError(t, execute(dir, Options{Observe: func(s Status) { last = s }}, nil))
		c := sealedOnce(t, dir)
		assert.Len(t, c.Attempts, 14)
		assert.Equal(t, 14, last.Done)
		assert.Equal(t, "complete", last.Last)
		for _, a := range c.Attempts {
			assert.Equal(t, a.Key.Arm == "on", a.Run.Steps != nil, "%s", a.Key)
			assert.Len(t, a.Identity.Tokens, 4)
			assert.Len(t, a.Requests, 20, "16 of the phase and 4 of the identity pass")
			assert.FileExists(t, filepath.Join(results.RunPath(dir, a.Key), results.ServerLogFile+".zst"))
			assert.NoFileExists(t, filepath.Join(results.RunPath(dir, a.Key), results.ServerLogFile))
		}
		err := execute(dir, Options{}, nil)
		require.ErrorIs(t, err, ErrRefused, "a closed plan is never extended")
	})
}

// What a run keeps of texts names no path of the machine.
func TestPrivatePaths(t *testing.T) {
	dir := t.TempDir()
	r := &run{dir: dir, campaign: &campaign{opt: Options{Private: map[string]string{"/home/u": "~", "/home/u/work": "{cwd}"}}}}
	assert.Equal(t, "{cwd}/a ~/b {run_dir}/steps /etc", r.private("/home/u/work/a /home/u/b "+dir+"/steps /etc"))
}

// What a server was started with and says of itself keeps no path either, and
// what the engine goes on using stays as it was.
func TestRecordedServerHidesPaths(t *testing.T) {
	env := map[string]string{"PYTHONPATH": "{import_path}:/opt/site:/home/u/loader", "HF_HUB_OFFLINE": "1"}
	r := &run{dir: t.TempDir(), campaign: &campaign{opt: Options{Private: map[string]string{"/home/u": "~", "/opt/site": "{PYTHONPATH}"}}}}
	r.record.Server = results.Server{Env: env, Command: []string{"python", "/home/u/serve.py"}, Backends: map[string]string{"compile_cache": "/home/u/cache/7"}}
	r.hidePaths()
	assert.Equal(t, map[string]string{"PYTHONPATH": "{import_path}:{PYTHONPATH}:~/loader", "HF_HUB_OFFLINE": "1"}, r.record.Server.Env)
	assert.Equal(t, []string{"python", "~/serve.py"}, r.record.Server.Command)
	assert.Equal(t, map[string]string{"compile_cache": "~/cache/7"}, r.record.Server.Backends)
	assert.Equal(t, "{import_path}:/opt/site:/home/u/loader", env["PYTHONPATH"])
}

// A server that dies voids its block; the block is repeated in its slot with
// the same order, and both attempts stay.
func TestKilledServerRepeatsTheBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := toyDir(t)
		require.NoError(t, execute(dir, Options{}, func(s engine.Spec) []string {
			if strings.HasSuffix(s.RunDir, "0002/on") {
				return []string{"kill-after=100"}
			}
			return nil
		}))
		c := sealedOnce(t, dir)
		assert.Equal(t, "on", c.Voids[results.BlockAttempt{Block: "0002", Attempt: 1}].Causes[0].Arm)
		var keys []string
		for _, a := range c.Attempts {
			if a.Key.Block == "0002" {
				keys = append(keys, a.Key.Dir())
				if a.Key.Attempt == 1 && a.Key.Arm == "on" {
					assert.Contains(t, a.Run.Failure, "the server ended by itself")
					assert.Equal(t, results.FailureEngine, a.Run.FailureClass)
				}
			}
		}
		assert.Contains(t, keys, "0002/on")
		assert.Contains(t, keys, "0002.2/on")
		assert.Contains(t, keys, "0002.2/off")
	})
}

// A block that is never valid ends the campaign after a third of the blocks
// were repeated: never "retry until green".
func TestRepeatsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := toyDir(t)
		require.NoError(t, execute(dir, Options{}, func(s engine.Spec) []string {
			if s.Arm.Name == "on" && !strings.Contains(s.RunDir, "burnin") {
				return []string{"http-500"}
			}
			return nil
		}))
		c, err := results.Load(dir)
		require.NoError(t, err)
		assert.True(t, c.Complete)
		assert.Len(t, c.Voids, 3, "two repeats for six blocks, then the end")
	})
}

// A burn-in block is repeated once and then left: it is never analysed.
func TestBadBurnInIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := toyDir(t)
		require.NoError(t, execute(dir, Options{}, func(s engine.Spec) []string {
			if strings.Contains(s.RunDir, "burnin") {
				return []string{"short-output"}
			}
			return nil
		}))
		c, err := results.Load(dir)
		require.NoError(t, err)
		assert.Contains(t, c.Voids, results.BlockAttempt{Block: "burnin-1", Attempt: 1})
		assert.Contains(t, c.Voids, results.BlockAttempt{Block: "burnin-1", Attempt: 2})
		assert.NotContains(t, c.Voids, results.BlockAttempt{Block: "burnin-1", Attempt: 3})
		assert.True(t, c.Complete)
	})
}

func TestTimeBudgetStopsAndResumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := toyDir(t)
		sessions := 0
		for {
			sessions++
			begin := time.Now()
			err := execute(dir, Options{TimeBudget: 20 * time.Second}, nil)
			assert.LessOrEqual(t, time.Since(begin), 20*time.Second)
			if err == nil {
				break
			}
			require.ErrorIs(t, err, ErrStopped)
			require.Less(t, sessions, 20)
		}
		assert.Greater(t, sessions, 1)
		c := sealedOnce(t, dir)
		assert.Empty(t, c.Aborted, "the budget stops between runs")
	})
}

func TestInterruptionLosesOnlyTheRunInProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := toyDir(t)
		ctx, cancel := context.WithCancelCause(context.Background())
		observe := func(s Status) {
			if s.Run == "block 0002 on" && s.Doing == "phase wide" {
				time.AfterFunc(300*time.Millisecond, func() { cancel(errors.New("signal interrupt")) })
			}
		}
		err := Execute(ctx, dir, Options{Engine: &enginetest.InProcess{}, Tool: "test", Observe: observe})
		require.ErrorIs(t, err, ErrStopped)
		require.NoError(t, execute(dir, Options{}, nil))
		c := sealedOnce(t, dir)
		require.Len(t, c.Aborted, 1)
		assert.Contains(t, c.Aborted[0].Detail, "signal interrupt")
		assert.DirExists(t, results.RunPath(dir, c.Aborted[0].Key())+".aborted", "nothing measured is deleted")
	})
}

// A crash leaves the run directory as it was at some moment. Wherever that is,
// resume brings every block to its end, once, under the same plan.
func TestResumeAfterACrashAtAnyEntry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := toyDir(t)
		frozen := t.TempDir()
		count := 0
		observe := func(s Status) {
			if count++; count%23 == 7 {
				require.NoError(t, os.CopyFS(filepath.Join(frozen, fmt.Sprint(count)), os.DirFS(dir)))
			}
		}
		require.NoError(t, execute(dir, Options{Observe: observe}, nil))
		crashes, err := os.ReadDir(frozen)
		require.NoError(t, err)
		require.Greater(t, len(crashes), 2)
		for _, c := range crashes {
			copied := filepath.Join(frozen, c.Name())
			before, err := results.ReadPlan(copied)
			require.NoError(t, err)
			require.NoError(t, execute(copied, Options{}, nil), c.Name())
			after := sealedOnce(t, copied)
			assert.Equal(t, before.Hash, after.Plan.Hash)
		}
	})
}

func TestResumeRefusesChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := toyPlan(t)
		plan.Patches["none"] = "another series"
		plan.Hash = "00ff"
		dir, err := results.Create(t.TempDir(), plan, time.Now())
		require.NoError(t, err)
		err = execute(dir, Options{}, nil)
		require.ErrorIs(t, err, ErrRefused)
		assert.ErrorContains(t, err, "patch none")

		dir = toyDir(t)
		l, err := results.OpenLedger(results.LedgerPath(dir))
		require.NoError(t, err)
		require.NoError(t, l.Append(results.Entry{Event: results.EventSession, Fingerprint: "another host"}))
		require.NoError(t, l.Close())
		err = execute(dir, Options{}, nil)
		require.ErrorIs(t, err, ErrRefused)
		assert.ErrorContains(t, err, "another host")
	})
}

func TestProgressFromFilesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := toyDir(t)
		err := execute(dir, Options{TimeBudget: 20 * time.Second}, nil)
		require.ErrorIs(t, err, ErrStopped)
		_, st, entries, err := Progress(dir)
		require.NoError(t, err)
		assert.Equal(t, 14, st.Runs)
		assert.Greater(t, st.Done, 1)
		assert.Less(t, st.Done, 14)
		assert.Positive(t, st.Left)
		assert.Contains(t, st.Last, "stopped: time budget")
		for i := range entries {
			assert.NotEmpty(t, Describe(entries[:i+1]))
		}
	})
}

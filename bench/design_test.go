package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/harness"
	"github.com/aituner/opprof/harness/engine/enginetest"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// planned makes the run directory of a variant of the gate's scenario, with its
// first phase only.
func planned(t *testing.T, args string, changes ...string) string {
	t.Helper()
	text := fmt.Sprintf(gateScenario, args)
	begin, rest, found := strings.Cut(text, "  - name: wide\n")
	require.True(t, found)
	_, end, found := strings.Cut(rest, "design:")
	require.True(t, found)
	text = strings.NewReplacer(changes...).Replace(begin + "design:" + end)
	s, err := scenarios.Load("gate-test.yaml", []byte(text), scenarios.Known{})
	require.NoError(t, err)
	plan, err := harness.Plan(s, "gate-test.yaml", []byte(text), version)
	require.NoError(t, err)
	dir, err := results.Create(t.TempDir(), plan, time.Now())
	require.NoError(t, err)
	return dir
}

// execute works on a run directory as opbench does, on the bubble's clock.
func execute(ctx context.Context, dir string, edit func(*harness.Options)) error {
	opt := harness.Options{Engine: &enginetest.InProcess{}, Look: tested.look, Tool: version}
	if edit != nil {
		edit(&opt)
	}
	return harness.Execute(ctx, dir, opt)
}

const twoLooks = "design: {looks: [6, 12], seed: 5, burn_in_blocks: 1, cooldown: 1s}"

// A campaign stops at the first look that decides, and says which that was.
func TestLooksFollowTheTrueCost(t *testing.T) {
	for _, c := range []struct {
		name, args string
		verdict    stat.Verdict
		blocks     int
	}{
		{"no cost", `noise: 1%, record-cost: 0%`, stat.Pass, 6},
		{"8 % cost", `noise: 1%, record-cost: 8%`, stat.Fail, 6},
		{"noise hides it", `noise: 1%, run-noise: 12%, record-cost: 0%`, stat.Inconclusive, 12},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := planned(t, c.args, "design: {blocks: 6, seed: 5, burn_in_blocks: 1, cooldown: 1s}", twoLooks)
				require.NoError(t, execute(t.Context(), dir, nil))
				v := mustView(t, dir)
				assert.Equal(t, c.verdict, v.Verdict, v.Sentence)
				assert.Equal(t, c.blocks, v.Blocks.Analysed)
				last := v.Looks[len(v.Looks)-1]
				assert.True(t, last.Decided)
				assert.Equal(t, c.blocks, last.Blocks)
				assert.Contains(t, strings.Join(v.Notes, "\n"), fmt.Sprintf("look %d of 2, after %d of at most 12 blocks", len(v.Looks), c.blocks))
				err := execute(t.Context(), dir, nil)
				require.ErrorIs(t, err, harness.ErrRefused, "a closed plan is never extended")
			})
		})
	}
}

// A campaign whose ledger is cut after the look that passed, and goes on, is
// INVALID: someone wanted another verdict.
func TestGoingOnAfterALookIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := planned(t, `noise: 1%`, "design: {blocks: 6, seed: 5, burn_in_blocks: 1, cooldown: 1s}", twoLooks)
		blind := func(string, int) (harness.Judgement, error) {
			return harness.Judgement{Verdict: string(stat.Inconclusive)}, nil
		}
		require.NoError(t, execute(t.Context(), dir, func(o *harness.Options) { o.Look = blind }))
		v := mustView(t, dir)
		assert.Equal(t, "INVALID(look ignored)", v.Headline(), v.Sentence)
		assert.Equal(t, exitInvalid, v.ExitCode)
	})
}

const threeArms = `arms:
  off: {patch: none}
  on:  {patch: none, env: {VLLM_OPPROF_DIR: "{run_dir}/steps"}}
  off2: {same_as: off}
`

// Three arms from the scenario to every rendering: an overhead comparison and an
// A/A beside it.
func TestThreeArmsWithAnAA(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := planned(t, `noise: 1%, record-cost: 8%`, "arms:\n  off: {patch: none}\n  on:  {patch: none, env: {VLLM_OPPROF_DIR: \"{run_dir}/steps\"}}\n", threeArms)
		require.NoError(t, execute(t.Context(), dir, nil))
		v := mustView(t, dir)
		require.Len(t, v.Comparisons, 2)
		assert.Equal(t, "FAIL", v.Headline(), v.Sentence)
		aa := v.Comparisons[1]
		assert.True(t, aa.AA)
		assert.False(t, aa.Gating)
		assert.Equal(t, "PASS", aa.Text)
		assert.Contains(t, v.AA, "PASS (off2 against off in this campaign, not gated)")
		assert.Equal(t, 18, v.Blocks.ValidRuns)
		for _, c := range v.Comparisons {
			first := 0
			for _, p := range c.Phases[0].Metrics[0].Pairs {
				if p.BaselineFirst {
					first++
				}
			}
			assert.Equal(t, 3, first, "%s: Williams rows balance every pair", c.Candidate)
		}
		for name, write := range renderers {
			var b strings.Builder
			require.NoError(t, write(&b, v))
			assert.Contains(t, b.String(), "off2 against off", name)
		}
	})
}

// machine describes a host of a test.
func machine(host string) func(context.Context) (results.Environment, error) {
	return func(context.Context) (results.Environment, error) {
		return results.Environment{Schema: results.Schema, Kind: "environment", Host: host, CPUModel: "x", Cores: 4}, nil
	}
}

// A campaign that moves to another host in mid-block: the block is repeated
// there after a burn-in, effects are pooled within hosts and shown by host.
func TestCampaignOnTwoHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := planned(t, `noise: 1%`, "blocks: 6", "blocks: 8")
		ctx, cancel := context.WithCancel(t.Context())
		starts := 0
		err := execute(ctx, dir, func(o *harness.Options) {
			o.Machine = machine("one")
			o.Observe = func(s harness.Status) {
				if strings.HasPrefix(s.Last, "run 0003/") && strings.HasSuffix(s.Last, " starts") && s.Doing == "starting server" {
					if starts++; starts == 2 {
						cancel()
					}
				}
			}
		})
		require.ErrorIs(t, err, harness.ErrStopped)
		require.NoError(t, execute(t.Context(), dir, func(o *harness.Options) { o.Machine = machine("two") }))
		v := mustView(t, dir)
		assert.Equal(t, stat.Pass, v.Verdict, v.Sentence)
		assert.Equal(t, 1, v.Blocks.Voided)
		c := v.Comparisons[0]
		assert.Equal(t, 2, c.Hosts)
		assert.Contains(t, strings.Join(c.Notes, "\n"), "host 1: 0001, 0002; host 2: 0003, 0004, 0005, 0006, 0007, 0008")
		m := c.Phases[0].Metrics[0]
		require.NotNil(t, m.Hosts)
		require.NotNil(t, m.Hosts.Q)
		assert.Equal(t, []int{2, 6}, []int{m.Hosts.Hosts[0].Blocks, m.Hosts.Hosts[1].Blocks})
		for name, write := range renderers {
			var b strings.Builder
			require.NoError(t, write(&b, v))
			assert.Contains(t, unwrap(b.String()), "blocks never span hosts", name)
			assert.Contains(t, unwrap(b.String()), "ran on 2 hosts", name)
		}
		assert.DirExists(t, filepath.Join(dir, "blocks", "burnin-2"))
	})
}

// The plan says that a campaign can end early.
func TestDesignOnTheCommandLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.yaml")
	text := strings.Replace(fmt.Sprintf(gateScenario, `noise: 1%`), "design: {blocks: 6, seed: 5, burn_in_blocks: 1, cooldown: 1s}", twoLooks, 1)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	p, err := tested.loadPlan(file)
	require.NoError(t, err)
	assert.Contains(t, p.Text(), "judged after 6 12 blocks; a PASS or a FAIL ends the campaign there")
}

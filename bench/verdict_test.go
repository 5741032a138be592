package bench

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/harness"
	"github.com/aituner/opprof/harness/engine"
	"github.com/aituner/opprof/harness/engine/enginetest"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// gateScenario is a campaign whose true effect is known: args of the simulated
// engine decide it.
const gateScenario = `
scenario: gate-test
about: the gate on a simulated engine of known cost
engine: {kind: sim, model: toy, args: {%s}}
arms:
  off: {patch: none}
  on:  {patch: none, env: {VLLM_OPPROF_DIR: "{run_dir}/steps"}}
phases:
  - name: single
    source:  {kind: synthetic, requests: 12, prompt_tokens: 300, output_tokens: 20, seed: 1, vocab_size: 500}
    arrival: {kind: closed, streams: 1}
    warmup:  {requests: 2}
    primary: [ttft_p50, ttft_p95, tpot_p50, tpot_p95, output_throughput]
  - name: wide
    source:  {kind: synthetic, requests: 32, prompt_tokens: {dist: uniform, min: 32, max: 96}, output_tokens: 16, seed: 2, vocab_size: 500}
    arrival: {kind: closed, streams: 8, ramp: 100ms}
    warmup:  {requests: 8}
    primary: [output_throughput]
design: {blocks: 6, seed: 5, burn_in_blocks: 1, cooldown: 1s}
identity: {prompts: 6, prompt_tokens: 16, output_tokens: 12, min_distinct: 4}
`

// onVirtualClock runs a campaign, harness to verdict, on a virtual clock, and
// returns the view and the text that a user reads.
func onVirtualClock(t *testing.T, args string, sabotage func(engine.Spec) []string) (v *view.View, text string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		dir := campaign(t, t.TempDir(), fmt.Sprintf(gateScenario, args), sabotage)
		var out bytes.Buffer
		a := &app{stdout: &out, stderr: &out}
		err := a.verdict(dir)
		v, text = mustView(t, dir), out.String()
		if v.ExitCode == 0 {
			require.NoError(t, err)
			return
		}
		var exit *exitError
		require.ErrorAs(t, err, &exit)
		require.Equal(t, v.ExitCode, exit.code)
	})
	return v, text
}

// campaign runs a scenario to its end in a new directory below parent. It is
// called in a bubble.
func campaign(t *testing.T, parent, scenario string, sabotage func(engine.Spec) []string) string {
	t.Helper()
	return campaignOn(t, parent, scenario, &enginetest.InProcess{Sabotage: sabotage})
}

func campaignOn(t *testing.T, parent, scenario string, servers engine.Engine) string {
	t.Helper()
	s, err := scenarios.Load("gate-test.yaml", []byte(scenario), scenarios.Known{})
	require.NoError(t, err)
	plan, err := harness.Plan(s, "gate-test.yaml", []byte(scenario), version)
	require.NoError(t, err)
	dir, err := results.Create(parent, plan, time.Now())
	require.NoError(t, err)
	require.NoError(t, harness.Execute(context.Background(), dir, harness.Options{Engine: servers, Tool: version}))
	return dir
}

func mustView(t *testing.T, dir string) *view.View {
	t.Helper()
	_, v, err := tested.judge(dir)
	require.NoError(t, err)
	return v
}

// The verdict follows the true cost: nothing, 8 %, and noise that hides it.
func TestVerdictFollowsTheTrueCost(t *testing.T) {
	for _, c := range []struct {
		name, args, want string
		code             int
	}{
		{"no cost", `noise: 1%, record-cost: 0%`, "PASS", 0},
		{"8 % cost", `noise: 1%, record-cost: 8%`, "FAIL", 10},
		{"noise hides it", `noise: 1%, run-noise: 12%, record-cost: 0%`, "INCONCLUSIVE", 11},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, text := onVirtualClock(t, c.args, nil)
			assert.Equal(t, c.code, v.ExitCode, text)
			assert.True(t, strings.HasPrefix(text, c.want), text)
			assert.Contains(t, strings.ToLower(text), "simulated engine")
			assert.True(t, v.Simulated)
		})
	}
}

// unwrap joins lines that the text was wrapped at.
func unwrap(text string) string { return strings.Join(strings.Fields(text), " ") }

// One server that dies voids one block; the report shows both attempts and the
// verdict comes from the repeated one.
func TestRepeatedBlockIsShown(t *testing.T) {
	v, text := onVirtualClock(t, `noise: 1%`, func(s engine.Spec) []string {
		if strings.HasSuffix(s.RunDir, "0004/off") {
			return []string{"kill-after=300"}
		}
		return nil
	})
	assert.Equal(t, 0, v.ExitCode, text)
	assert.Equal(t, 1, v.Blocks.Voided)
	assert.Contains(t, unwrap(text), "0004/off, 0004/on attempt 1: void: run failed")
	assert.Contains(t, unwrap(text), "the server ended by itself")
}

package main

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
	"github.com/aituner/opprof/report"
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
func onVirtualClock(t *testing.T, args string, sabotage func(engine.Spec) []string) (v *report.View, text string) {
	t.Helper()
	source := []byte(fmt.Sprintf(gateScenario, args))
	s, err := scenarios.Load("gate-test.yaml", source, scenarios.Known{})
	require.NoError(t, err)
	plan, err := harness.Plan(s, "gate-test.yaml", source, version)
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		dir, err := results.Create(t.TempDir(), plan, time.Now())
		require.NoError(t, err)
		require.NoError(t, harness.Execute(context.Background(), dir,
			harness.Options{Engine: &engine.InProcess{Sabotage: sabotage}, Tool: version}))
		var out bytes.Buffer
		a := &app{stdout: &out, stderr: &out}
		err = a.verdict(dir)
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

func mustView(t *testing.T, dir string) *report.View {
	t.Helper()
	v, err := buildView(dir)
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

func inArm(arm string, faults ...string) func(engine.Spec) []string {
	return func(s engine.Spec) []string {
		if s.Arm.Name == arm {
			return faults
		}
		return nil
	}
}

// Whatever a server or its recorder gets wrong ends in a verdict that names it,
// never in a PASS.
func TestFaultsAreNamed(t *testing.T) {
	for _, c := range []struct {
		name     string
		sabotage func(engine.Spec) []string
		code     int
		want     []string // in the text
	}{
		{"flipped token", inArm("on", "flip-token=3"), 10, []string{"FAIL(identity)", "position 3"}},
		{"server of arm on dies", inArm("on", "kill-after=200"), 10, []string{"FAIL(reliability)"}},
		{"requests of arm on fail", inArm("on", "http-500"), 10, []string{"FAIL(reliability)", "status 500"}},
		{"both arms fail", func(engine.Spec) []string { return []string{"http-500"} }, 12, []string{"INVALID", "status 500"}},
		{"no records", inArm("on", "no-records"), 12, []string{"INVALID", "does not record"}},
		{"dropped records", inArm("on", "drop-records=2"), 12, []string{"INVALID", "dropped"}},
		{"torn last line", inArm("on", "torn-tail"), 12, []string{"INVALID", "torn-tail"}},
		{"no footer", inArm("on", "no-footer"), 12, []string{"INVALID", "footer"}},
		{"wrong histogram", inArm("on", "wrong-histogram"), 12, []string{"INVALID", "context-histogram"}},
		{"token sum off by one", inArm("on", "token-sum-off-by-one"), 12, []string{"INVALID", "token-split"}},
		{"unexplained gap", inArm("on", "index-gap"), 12, []string{"INVALID", "contiguous-steps"}},
		{"another model answers", inArm("off", "wrong-model"), 12, []string{"INVALID", "model"}},
		{"output too short", inArm("off", "short-output"), 12, []string{"INVALID"}},
		{"error after tokens", inArm("off", "error-after-tokens=5"), 12, []string{"INVALID"}},
		{"constant output", func(engine.Spec) []string { return []string{"constant-output"} }, 12, []string{"INVALID(identity", "vacuous"}},
		{"outputs not reproducible", func(engine.Spec) []string { return []string{"nondeterministic-output"} }, 12, []string{"INVALID(identity)"}},
		{"late compilation", inArm("on", "late-jit=50"), 12, []string{"INVALID", "fused_moe_kernel"}},
		{"recorder traceback", inArm("on", "traceback"), 10, []string{"FAIL(reliability)", "opprof"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, text := onVirtualClock(t, `noise: 1%`, c.sabotage)
			assert.Equal(t, c.code, v.ExitCode, text)
			for _, want := range c.want {
				assert.Contains(t, unwrap(text), want)
			}
			assert.False(t, strings.HasPrefix(text, "PASS"), text)
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
	assert.Contains(t, unwrap(text), "0004/off attempt 1: void")
	assert.Contains(t, unwrap(text), "the server ended by itself")
}

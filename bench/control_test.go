package bench

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
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

// controlScenario slows a simulated engine down by 2 %: the pilot has to find
// more.
const controlScenario = `
scenario: control-test
purpose: control
about: a slowdown of the simulated engine
engine: {kind: sim, model: toy, args: {noise: 0.5%}}
arms:
  plain:  {patch: none}
  slowed: {patch: none, args: {record-cost: 2%}, env: {VLLM_OPPROF_DIR: "{run_dir}/steps"}}
phases:
  - name: single
    source:  {kind: synthetic, requests: 12, prompt_tokens: 300, output_tokens: 20, seed: 1, vocab_size: 500}
    arrival: {kind: closed, streams: 1}
    warmup:  {requests: 2}
    primary: [ttft_p50, ttft_p95, tpot_p50, output_throughput]
  - name: wide
    source:  {kind: synthetic, requests: 32, prompt_tokens: {dist: uniform, min: 32, max: 96}, output_tokens: 16, seed: 2, vocab_size: 500}
    arrival: {kind: closed, streams: 8, ramp: 100ms}
    warmup:  {requests: 8}
    primary: [output_throughput, tpot_p50]
design: {blocks: 6, seed: 5, burn_in_blocks: 1, cooldown: 1s}
identity: {prompts: 6, prompt_tokens: 16, output_tokens: 12, min_distinct: 4}
`

// tried is what came of a control on the virtual clock.
type tried struct {
	dirs []string // run directories
	code int
	text string // what the user reads, standard error included
	view *view.View
}

// tryControl runs `opbench control` behind its command line: pilot, campaign,
// verdict. sabotage says which faults a server commits.
func tryControl(t *testing.T, out string, f runFlags, sabotage func(engine.Spec) []string) tried {
	t.Helper()
	return tryScenario(t, controlScenario, out, f, sabotage)
}

func tryScenario(t *testing.T, scenario, out string, f runFlags, sabotage func(engine.Spec) []string) (got tried) {
	t.Helper()
	s, err := scenarios.Load("control-test.yaml", []byte(scenario), scenarios.Known{})
	require.NoError(t, err)
	plan, err := harness.Plan(s, "control-test.yaml", []byte(scenario), version)
	require.NoError(t, err)
	var text bytes.Buffer
	a := &app{stdout: &text, stderr: &text, build: testBuild}
	f.quiet = true
	err = a.tryOn(context.Background(), &enginetest.InProcess{Sabotage: sabotage},
		control{"control-test.yaml", s, []byte(scenario), out}, f, plan.Hash)
	if err != nil {
		var exit *exitError
		require.ErrorAs(t, err, &exit)
		got.code = exit.code
		if exit.err != nil {
			text.WriteString(exit.err.Error())
		}
	}
	got.text = unwrap(text.String())
	plans, err := filepath.Glob(filepath.Join(out, "*", "plan.json"))
	require.NoError(t, err)
	for _, p := range plans {
		got.dirs = append(got.dirs, filepath.Dir(p))
	}
	if len(got.dirs) == 1 && got.code != exitStopped {
		got.view = mustView(t, got.dirs[0])
	}
	return got
}

func pilotRun(s engine.Spec) bool { return strings.Contains(s.RunDir, "pilot") }

// The pilot finds the slowdown that raises TPOT p50 by 5 to 6 %, the campaign
// runs with it, and every metric notices.
func TestControlFindsItsSlowdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := tryControl(t, t.TempDir(), runFlags{}, nil)
		require.NotNil(t, got.view, got.text)
		assert.Equal(t, 0, got.code, got.text)
		assert.Equal(t, "PASS(control)", got.view.Headline())
		assert.Contains(t, got.text, "pilot step 1: record-cost=2%")
		assert.Contains(t, got.text, "(used): record-cost=")
		plan, err := results.ReadPlan(got.dirs[0])
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(plan.Pilot.Steps), 2)
		last := plan.Pilot.Steps[plan.Pilot.Chosen-1].Values[0]
		assert.True(t, last.RisePct >= 5 && last.RisePct <= 6, "%+v", last)
		slowed, _ := plan.Scenario.Arm("slowed")
		assert.Equal(t, last.Text, slowed.Args["record-cost"])
		assert.Contains(t, plan.ScenarioText, "record-cost: 2%")
		assert.DirExists(t, filepath.Join(got.dirs[0], "pilot", "1", "blocks"))
		err = harness.Execute(context.Background(), got.dirs[0], harness.Options{Engine: &enginetest.InProcess{}})
		assert.ErrorContains(t, err, "is complete", "and its plan is one that this binary makes")
	})
}

// On servers that run at the same time each step of the pilot has both orders:
// the one started second is faster here by more than the slowdown.
func TestControlOfInterleavedArms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		scenario := strings.Replace(controlScenario, "cooldown: 1s", "cooldown: 1s, interleave: {slice: 1s}", 1)
		started := map[string]int{}
		got := tryScenario(t, scenario, t.TempDir(), runFlags{}, func(s engine.Spec) []string {
			block := filepath.Dir(s.RunDir)
			if started[block]++; started[block] == 1 {
				return []string{"slow=7%"}
			}
			return nil
		})
		require.NotNil(t, got.view, got.text)
		assert.Equal(t, 0, got.code, got.text)
		plan, err := results.ReadPlan(got.dirs[0])
		require.NoError(t, err)
		last := plan.Pilot.Steps[plan.Pilot.Chosen-1].Values[0]
		assert.True(t, last.RisePct >= 5 && last.RisePct <= 6, "%+v", last)
		assert.DirExists(t, filepath.Join(got.dirs[0], "pilot", "1", "blocks", "0002", "plain"))
	})
}

// Metrics that something else fixes do not notice: they are named, and they alone.
func TestControlNamesWhatIsNotSensitive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := tryControl(t, t.TempDir(), runFlags{}, func(s engine.Spec) []string {
			if pilotRun(s) {
				return nil
			}
			return []string{"stall-every=2s@150"} // in both arms: the stalls decide the throughput
		})
		require.NotNil(t, got.view, got.text)
		assert.Equal(t, 10, got.code, got.text)
		assert.Equal(t, "FAIL(not sensitive)", got.view.Headline())
		assert.Regexp(t, `Not sensitive here: output throughput, (single|wide) \(pilot \+`, got.view.Sentence)
		assert.NotContains(t, got.view.Sentence, "TPOT")
		assert.NotContains(t, got.view.Sentence, "TTFT")
		assert.Contains(t, got.view.Next[0], "take these metrics out of primary")
	})
}

// What hardly moves in the pilot is not held against the gate.
func TestControlSaysWhatItDidNotReach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := tryControl(t, t.TempDir(), runFlags{}, func(engine.Spec) []string { return []string{"stall-every=2s@150"} })
		require.NotNil(t, got.view, got.text)
		assert.Contains(t, got.view.Sentence, "control not applied to output throughput, single", got.text)
		assert.Equal(t, 0, got.code, got.text)
	})
}

// A candidate that is not slowed down at all ends the command after the pilot.
func TestControlThatReachesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := tryControl(t, t.TempDir(), runFlags{}, func(s engine.Spec) []string {
			if strings.HasSuffix(s.RunDir, "plain") {
				return []string{"slow=70%"}
			}
			return []string{"slow=40%"}
		})
		assert.Equal(t, exitInvalid, got.code, got.text)
		assert.Contains(t, got.text, "control not applied")
		assert.Empty(t, got.dirs, "no campaign was begun")
	})
}

// A pilot whose runs are INVALID twice gives no values.
func TestControlWithoutAValidPilot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := tryControl(t, t.TempDir(), runFlags{}, func(engine.Spec) []string { return []string{"http-500"} })
		assert.Equal(t, exitInvalid, got.code, got.text)
		assert.Contains(t, got.text, "no valid block in the pilot")
		assert.Empty(t, got.dirs)
	})
}

// A budget stops the pilot, then the campaign; each call goes on, and the
// pilot's finished steps are not measured again.
func TestControlGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := t.TempDir()
		var started []string
		note := func(s engine.Spec) []string {
			started = append(started, s.RunDir)
			return nil
		}
		f := runFlags{budget: 8 * time.Second}
		got := tryControl(t, out, f, note)
		require.Equal(t, exitStopped, got.code, got.text)
		require.Contains(t, got.text, "stopped in the pilot")
		require.Contains(t, got.text, "the same command goes on")
		require.Empty(t, got.dirs)
		for range 20 {
			if got = tryControl(t, out, f, note); len(got.dirs) > 0 {
				break
			}
		}
		require.Len(t, got.dirs, 1, got.text)
		assert.Equal(t, exitStopped, got.code, "the budget was spent in the pilot: %s", got.text)
		assert.Contains(t, got.text, "opbench resume")
		pilots, _ := filepath.Glob(filepath.Join(got.dirs[0], "pilot", "*", "blocks", "0001", "*"))
		begun := 0
		for _, dir := range started {
			if strings.Contains(dir, "pilot") {
				begun++
			}
		}
		assert.Equal(t, len(pilots), begun, "every run of the pilot was started once")
		require.NoError(t, harness.Execute(context.Background(), got.dirs[0], harness.Options{Engine: &enginetest.InProcess{}, Tool: version}))
		assert.Equal(t, "PASS(control)", mustView(t, got.dirs[0]).Headline())
	})
}

// A pilot of other values in the way is refused, not used.
func TestControlRefusesAForeignPilot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := t.TempDir()
		got := tryControl(t, out, runFlags{budget: 8 * time.Second}, nil)
		require.Equal(t, exitStopped, got.code, got.text)
		path, err := filepath.Glob(filepath.Join(out, "*pilot*", "1", "plan.json"))
		require.NoError(t, err)
		require.Len(t, path, 1)
		text, err := os.ReadFile(path[0])
		require.NoError(t, err)
		plan, err := results.ReadPlan(filepath.Dir(path[0]))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path[0], bytes.ReplaceAll(text, []byte(plan.Hash), []byte(strings.Repeat("0", 64))), 0o644))
		got = tryControl(t, out, runFlags{}, nil)
		assert.Equal(t, exitUsage, got.code, got.text)
		assert.Contains(t, got.text, "was measured with another plan")
		assert.Contains(t, got.text, "by opbench 0.1.0 of commit 0123456789ab")
	})
}

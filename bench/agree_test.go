package bench

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/harness/engine"
	"github.com/aituner/opprof/harness/engine/enginetest"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
)

// splitEngine takes the size for which the simulated engine has no option.
type splitEngine struct{ enginetest.InProcess }

func (e *splitEngine) Start(ctx context.Context, spec engine.Spec) (engine.Server, error) {
	spec.Engine.Args, spec.Arm.Args = maps.Clone(spec.Engine.Args), maps.Clone(spec.Arm.Args)
	delete(spec.Engine.Args, "tensor-parallel-size")
	delete(spec.Arm.Args, "tensor-parallel-size")
	return e.InProcess.Start(ctx, spec)
}

// recordedScenario is one block whose records are checked and not timed; options
// are those of the engine and of both arms.
const recordedScenario = `
scenario: recorded
purpose: correctness
engine: {kind: sim, args: {%[1]s}}
arms:
  off: {args: {%[2]s}}
  on:  {args: {%[2]s}, env: {VLLM_OPPROF_DIR: "{run_dir}/steps"}}
phases:
  - name: single
    source:  {requests: 40, prompt_tokens: 64, output_tokens: 16, seed: 1, vocab_size: 500}
design: {seed: 5, cooldown: 1s}
identity: {prompts: 4, prompt_tokens: 16, output_tokens: 12}
`

// The harness, right after a run, and the report, from its files, hold its step
// records against the same facts: the size of the run's arm, and what its requests
// explain where none failed. Otherwise one voids blocks that the other accepts, or
// blames the recorder for what a cut request left.
func TestHarnessAndReportSayTheSame(t *testing.T) {
	const one, two, lost = "tensor-parallel-size: 1", "tensor-parallel-size: 2", "check footer failed 1 of 1 time"
	for _, c := range []struct {
		name         string
		engine, arms string // options
		fault        string // of the recording arm's first run
		rules        string // that void it
		warning      string // of the report
	}{
		{"tensor-parallel-size in the arms", "", two, "no-footer", "", lost},
		{"size 1 in the arms, 2 in the engine", two, one, "no-footer", "no-footer", ""},
		{"missing footer at size 2", two, "", "no-footer", "", lost},
		{"missing footer at size 1", one, "", "no-footer", "no-footer", ""},
		{"missing footer and a wrong sum at size 2", "", two, "no-footer,token-sum-off-by-one", "no-footer step-check", ""},
		{"cut request", "", "", "cut-body=25", "request-failed", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			sabotage := func(s engine.Spec) []string {
				if strings.HasSuffix(s.RunDir, "0001/on") {
					return strings.Split(c.fault, ",")
				}
				return nil
			}
			synctest.Test(t, func(t *testing.T) {
				servers := &splitEngine{enginetest.InProcess{Sabotage: sabotage}}
				dir := campaignOn(t, t.TempDir(), fmt.Sprintf(recordedScenario, c.engine, c.arms), servers)
				loaded, err := results.Load(dir)
				require.NoError(t, err)
				assert.Equal(t, c.rules, rulesOfTheHarness(loaded), "harness")
				assert.Equal(t, c.rules != "", len(loaded.Voids) == 1, "a void block is repeated")
				found, warnings := rulesOfTheReport(mustView(t, dir))
				assert.Equal(t, c.rules, found, "report")
				assert.Contains(t, warnings, c.warning)
				assert.NotContains(t, warnings, "not found again")
			})
		})
	}
}

// rulesOfTheHarness are those that the ledger names, of all runs.
func rulesOfTheHarness(c *results.Campaign) string {
	var rules []string
	for _, a := range c.Attempts {
		for _, f := range a.Findings {
			rules = append(rules, f.Rule)
		}
	}
	return strings.Join(slices.Compact(rules), " ")
}

// rulesOfTheReport are those that it found again, and its warnings.
func rulesOfTheReport(v *view.View) (found, warnings string) {
	var rules []string
	for _, r := range v.Runs {
		for _, f := range r.Findings {
			rules = append(rules, strings.ReplaceAll(string(f), " ", "-"))
		}
		warnings += strings.Join(r.Warnings, "\n")
	}
	return strings.Join(slices.Compact(rules), " "), warnings
}

package harness

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/patches"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/shapes"
	"github.com/aituner/opprof/scenarios"
)

const traceScenario = `
scenario: replay
purpose: correctness
engine: {kind: sim}
arms:
  off: {}
  on: {env: {VLLM_OPPROF_DIR: "{run_dir}/steps"}}
phases:
  - name: one
    source: {kind: trace, format: guidellm, path: t.jsonl, requests: 2, seed: 1}
    arrival: {kind: trace}
    warmup: {requests: 0}
design: {seed: 1}
`

// tracePlan plans the scenario in a directory of its own that holds the trace.
func tracePlan(t *testing.T, trace string) (hash, path string) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "t.jsonl"), []byte(trace), 0o600))
	s, err := scenarios.Load(filepath.Join(dir, "s.yaml"), []byte(traceScenario), scenarios.Known{})
	require.NoError(t, err)
	p, err := Plan(s, "s.yaml", []byte(traceScenario), "test")
	require.NoError(t, err)
	again, err := Plan(&p.Scenario, p.ScenarioFile, []byte(p.ScenarioText), "test")
	require.NoError(t, err)
	assert.Equal(t, p.Hash, again.Hash, "a resumed campaign finds the trace again")
	return p.Hash, p.Scenario.Phases[0].Source.Path
}

// A plan hangs on what a trace holds, not on where it lies; a trace that has
// changed since gives another plan, which resume refuses.
func TestPlanFollowsTheTrace(t *testing.T) {
	const trace = `{"timestamp": 1, "input_length": 9, "output_length": 3}
{"timestamp": 2.5, "input_length": 8, "output_length": 3}
`
	first, path := tracePlan(t, trace)
	second, elsewhere := tracePlan(t, trace+"not read\n")
	assert.Equal(t, first, second)
	assert.NotEqual(t, path, elsewhere)
	changed, _ := tracePlan(t, trace[:len(trace)-3]+"4}\n")
	assert.NotEqual(t, first, changed)
}

func TestPlanWithoutItsTrace(t *testing.T) {
	s, err := scenarios.Load("absent/s.yaml", []byte(traceScenario), scenarios.Known{})
	require.NoError(t, err)
	_, err = Plan(s, "s.yaml", []byte(traceScenario), "test")
	assert.ErrorIs(t, err, os.ErrNotExist)
	assert.ErrorContains(t, err, "phase one: open trace: open absent/t.jsonl")
}

// The plan has the shapes of every phase whose prompts are token ids, as the client
// will send them; of a text only the server knows how long it is.
func TestPlanHasTheShapesOfItsRequests(t *testing.T) {
	p := toyPlan(t)
	w, err := expand(&p.Scenario)
	require.NoError(t, err)
	require.Len(t, p.ShapeSHA256, len(p.Scenario.Phases))
	for _, phase := range w.phases {
		var sent []results.Request
		for _, r := range phase.Requests {
			sent = append(sent, results.Request{Phase: phase.Phase, Index: r.Index, Warmup: r.Warmup, PromptTokens: len(r.Prompt), WantTokens: r.MaxTokens})
		}
		assert.Equal(t, shapes.SHA256(shapes.Of(sent, phase.Phase)), p.ShapeSHA256[phase.Phase])
	}
	w.phases[0].Requests[0].Text = `"a text"`
	assert.NotContains(t, shapesOf(w.phases), w.phases[0].Phase)
	changed := *p
	changed.ShapeSHA256 = nil
	hash, err := changed.ComputeHash()
	require.NoError(t, err)
	assert.NotEqual(t, p.Hash, hash, "the shapes are part of the plan")
}

// The pilot of a control is part of its plan; a plan without one has the hash
// that it always had.
func TestPilotIsPartOfThePlan(t *testing.T) {
	p := toyPlan(t)
	base := p.Hash
	require.NoError(t, SetPilot(p, nil))
	assert.Equal(t, base, p.Hash)
	pilot := &results.Pilot{Chosen: 1, Steps: []results.PilotStep{{Metrics: []results.PilotMetric{{RisePct: 5.5}}}}}
	require.NoError(t, SetPilot(p, pilot))
	assert.NotEqual(t, base, p.Hash)
	assert.NoError(t, samePlan(p, "test"), "resume makes the same plan")
	first := p.Hash
	pilot.Steps[0].Metrics[0].RisePct = 5.4
	assert.ErrorIs(t, samePlan(p, "test"), ErrRefused, "edited since")
	require.NoError(t, SetPilot(p, pilot))
	assert.NotEqual(t, first, p.Hash)
}

// A campaign that this opbench would plan otherwise is refused, with what has
// changed and the commit of the one that goes on with it.
func TestRefusedPlanNamesItsOpbench(t *testing.T) {
	p := toyPlan(t)
	p.Rules, p.Hash, p.Tool = "1", "an older hash", "0.1.0+7170bf8a1b2c"
	err := samePlan(p, "test")
	assert.ErrorIs(t, err, ErrRefused)
	assert.ErrorContains(t, err, "(changed: analysis rules): use the one that began it")
	assert.ErrorContains(t, err, "opbench 0.1.0 of commit 7170bf8a1b2c")
	p.Tool = "0.1.0"
	assert.ErrorContains(t, samePlan(p, "test"), "opbench 0.1.0, before commits were recorded")
}

// The scenarios that commit 7170bf8 shipped still mean what it made of them. Patches
// and rules are the plan's own, because they may change, and so are the shapes, which
// plans did not have then.
func TestEarlierScenariosGiveTheirPlans(t *testing.T) {
	var known scenarios.Known
	for _, r := range patches.List() {
		known.Patches = append(known.Patches, r.ID)
	}
	data, err := os.ReadFile("../results/testdata/plans.jsonl")
	require.NoError(t, err)
	for line := range strings.Lines(string(data)) {
		var old results.Plan
		require.NoError(t, json.Unmarshal([]byte(line), &old))
		s, err := scenarios.Load(old.ScenarioFile, []byte(old.ScenarioText), known)
		require.NoError(t, err)
		p, err := Plan(s, old.ScenarioFile, []byte(old.ScenarioText), "test")
		require.NoError(t, err)
		p.Patches, p.Rules, p.ShapeSHA256, p.IdentitySHA256 = old.Patches, old.Rules, old.ShapeSHA256, old.IdentitySHA256
		if s.Purpose == scenarios.Correctness { // which starts its baseline once more now
			require.Equal(t, results.Block{Number: 1, BurnIn: true, Order: []string{"off"}}, p.Blocks[0], old.ScenarioFile)
			p.Blocks = p.Blocks[1:]
		}
		hash, err := p.ComputeHash()
		require.NoError(t, err)
		assert.Equal(t, old.Hash, hash, old.ScenarioFile)
	}
}

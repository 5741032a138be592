package results

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// publishedPlans are the plan hashes under which the campaigns were measured.
var publishedPlans = map[string]string{
	"h200-r2":                 "c2cad3f7ffe0e5cbb267f6491c8f491dc5223c1d2e35c6ea8633a2f17edbec5d",
	"vllm-cpu-aa":             "1354f8ef1ea9d811cf6bc5990057ac3aa47d3c6a759da69c71647b2b2771f87b",
	"vllm-cpu-azure":          "85c64d9ba4b33a96ed25868180e79ce0cf1c83fabc10d8d7680fac3cd398a790",
	"vllm-cpu-control":        "dd1665b5c7c880d835f424000c36a10be049d40a6b6e6bfad568eb524db00580",
	"vllm-cpu-interleaved-aa": "4eb1584b803f8bc547773801e2d82b4191e1a4dcbdc773687add01508dde3b8f",
	"vllm-cpu-noop":           "5b1b975447286ac743ae0ec1029c3b3cde409425f86e1cf304521d3edeac47a6",
	"vllm-cpu-r1":             "c0aa85e443bb7201ac7ecb6a73405e5c4f54405afcf1a15e7071a8a65f44017d",
	"vllm-cpu-revisions":      "350acefd51f744ed98b6ab4caebd3658f4472811ecddd3e6d1692b61ee70c93c",
	"vllm-cpu-second-aa":      "1354f8ef1ea9d811cf6bc5990057ac3aa47d3c6a759da69c71647b2b2771f87b",
}

// A key that a later version gives to scenarios is left out of the canonical form
// while it is not set: the plans of earlier versions keep their hashes.
func TestHashesOfPublishedPlans(t *testing.T) {
	for name, want := range publishedPlans {
		p, err := ReadPlan(filepath.Join("campaigns", name))
		require.NoError(t, err)
		assert.Equal(t, want, p.Hash, name)
		got, err := p.ComputeHash()
		require.NoError(t, err)
		assert.Equal(t, want, got, name)
	}
}

// testdata/plans.jsonl holds the plans that commit 7170bf8 makes of the scenarios
// that ship with it (opbench plan --json NAME, one a line).
func TestHashesOfEarlierPlans(t *testing.T) {
	data, err := os.ReadFile("testdata/plans.jsonl")
	require.NoError(t, err)
	lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	require.Len(t, lines, 16)
	for _, line := range lines {
		var p Plan
		require.NoError(t, json.Unmarshal(line, &p))
		got, err := p.ComputeHash()
		require.NoError(t, err)
		assert.Equal(t, p.Hash, got, p.ScenarioFile)
	}
}

// Whatever decides the result of a campaign is in the hash: a plan that was
// changed after it was made no longer has it.
func TestAChangedPlanHasAnotherHash(t *testing.T) {
	p, err := ReadPlan("campaigns/h200-r2")
	require.NoError(t, err)
	for what, change := range map[string]func(*Plan){
		"margin":   func(p *Plan) { p.Scenario.Gate.Margin *= 2 },
		"rules":    func(p *Plan) { p.Rules = "1" },
		"order":    func(p *Plan) { p.Blocks = p.Blocks[1:] },
		"workload": func(p *Plan) { p.WorkloadSHA256 = "" },
		"patch":    func(p *Plan) { p.Patches = map[string]string{"none": ""} },
		"pilot":    func(p *Plan) { p.Pilot = &Pilot{} },
		"shapes":   func(p *Plan) { p.ShapeSHA256 = map[string]string{"wide": "0"} },
		"seed":     func(p *Plan) { p.Scenario.Design.Seed++ },
	} {
		changed := *p
		change(&changed)
		got, err := changed.ComputeHash()
		require.NoError(t, err)
		assert.NotEqual(t, p.Hash, got, what)
		assert.Contains(t, changed.damage(), "plan.json has the hash of plan c2cad3f7, and what it says is plan", what)
		assert.Contains(t, changed.damage(), "get the original back or measure again", what)
	}
	assert.Empty(t, p.damage())
	moved := *p
	moved.Scenario.Engine.Python, moved.Scenario.Engine.Model = "/elsewhere/python3", "/elsewhere/qwen3-30b-a3b"
	assert.Empty(t, moved.damage(), "where things lie is in no hash")
}

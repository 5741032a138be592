package validity

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/scenarios"
)

// Arms must give the same outputs if nothing but patch and recorder differs, or if the
// scenario says so; each comparison is asked by itself.
func TestExpectsEqual(t *testing.T) {
	recorder := map[string]string{"VLLM_OPPROF_DIR": "{run_dir}/steps"}
	arms := func(candidate scenarios.Arm) scenarios.Scenario {
		candidate.Name = "on"
		return scenarios.Scenario{Purpose: scenarios.Overhead, Engine: scenarios.Engine{Kind: scenarios.EngineVLLM}, Arms: []scenarios.Arm{{Name: "off", Patch: "r1"}, candidate}}
	}
	attached := func(p scenarios.Purpose) scenarios.Scenario {
		return scenarios.Scenario{Purpose: p, Engine: scenarios.Engine{Kind: scenarios.EngineAttach}, Arms: []scenarios.Arm{{Name: "off", URL: "http://a"}, {Name: "on", URL: "http://b"}}}
	}
	simulated := arms(scenarios.Arm{Args: map[string]string{"record-cost": "2%"}})
	simulated.Engine.Kind = scenarios.EngineSim
	correctness := arms(scenarios.Arm{Args: map[string]string{"scheduler-cls": "x"}})
	correctness.Purpose = scenarios.Correctness
	for name, c := range map[string]struct {
		s    scenarios.Scenario
		want bool
	}{
		"recorder":             {arms(scenarios.Arm{Patch: "r1", Env: recorder}), true},
		"patch and recorder":   {arms(scenarios.Arm{Patch: "r2", Env: recorder}), true},
		"wait":                 {arms(scenarios.Arm{Env: map[string]string{"VLLM_OPPROF_SPIN": "0.1"}}), true},
		"another variable":     {arms(scenarios.Arm{Env: map[string]string{"OMP_NUM_THREADS": "2"}}), false},
		"option":               {arms(scenarios.Arm{Args: map[string]string{"enforce-eager": ""}}), false},
		"option, correctness":  {correctness, false},
		"endpoints":            {attached(scenarios.Overhead), false},
		"endpoints of an A/A":  {attached(scenarios.AA), true},
		"of a simulated patch": {simulated, true},
	} {
		assert.Equal(t, c.want, expectsEqual(&c.s, scenarios.Comparison{Baseline: "off", Candidate: "on"}), name)
		for say, want := range map[scenarios.Expectation]bool{scenarios.ExpectEqual: true, scenarios.ExpectReport: false} {
			c.s.Identity.Expect = say
			assert.Equal(t, want, expectsEqual(&c.s, scenarios.Comparison{Baseline: "off", Candidate: "on"}), name)
		}
	}
}

// Outputs of every bundled scenario are judged, those of the plugin's arms by its
// word; only batch-invariant's are in a batch.
func TestBundledExpectEqual(t *testing.T) {
	shipped := scenarios.Known{Patches: []string{"control-spin", "plugin", "r1-seed", "r2-onepass", "r3-packed"}}
	for _, name := range scenarios.Bundled() {
		text, err := scenarios.Open(name)
		require.NoError(t, err)
		s, err := scenarios.Load(name, text, shipped)
		require.NoError(t, err)
		for _, c := range s.Compare {
			assert.True(t, expectsEqual(s, c), name)
			assert.Equal(t, name == "batch-invariant", batchInvariant(s, c), name)
		}
	}
}

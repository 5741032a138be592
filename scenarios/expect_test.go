package scenarios

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Arms must give the same outputs if nothing but patch and recorder differs, or if the
// scenario says so; each comparison is asked by itself.
func TestExpectsEqual(t *testing.T) {
	recorder := map[string]string{"VLLM_OPPROF_DIR": "{run_dir}/steps"}
	arms := func(candidate Arm) Scenario {
		candidate.Name = "on"
		return Scenario{Purpose: Overhead, Engine: Engine{Kind: EngineVLLM}, Arms: []Arm{{Name: "off", Patch: "r1"}, candidate}}
	}
	attached := func(p Purpose) Scenario {
		return Scenario{Purpose: p, Engine: Engine{Kind: EngineAttach}, Arms: []Arm{{Name: "off", URL: "http://a"}, {Name: "on", URL: "http://b"}}}
	}
	simulated := arms(Arm{Args: map[string]string{"record-cost": "2%"}})
	simulated.Engine.Kind = EngineSim
	correctness := arms(Arm{Args: map[string]string{"scheduler-cls": "x"}})
	correctness.Purpose = Correctness
	for name, c := range map[string]struct {
		s    Scenario
		want bool
	}{
		"recorder":             {arms(Arm{Patch: "r1", Env: recorder}), true},
		"patch and recorder":   {arms(Arm{Patch: "r2", Env: recorder}), true},
		"wait":                 {arms(Arm{Env: map[string]string{"VLLM_OPPROF_SPIN": "0.1"}}), true},
		"another variable":     {arms(Arm{Env: map[string]string{"OMP_NUM_THREADS": "2"}}), false},
		"option":               {arms(Arm{Args: map[string]string{"enforce-eager": ""}}), false},
		"option, correctness":  {correctness, false},
		"endpoints":            {attached(Overhead), false},
		"endpoints of an A/A":  {attached(AA), true},
		"of a simulated patch": {simulated, true},
	} {
		assert.Equal(t, c.want, c.s.ExpectsEqual(Comparison{"off", "on"}), name)
		for say, want := range map[Expectation]bool{ExpectEqual: true, ExpectReport: false} {
			c.s.Identity.Expect = say
			assert.Equal(t, want, c.s.ExpectsEqual(Comparison{"off", "on"}), name)
		}
	}
}

// The key enters the plan only where it is written: plans of earlier versions keep
// their hash.
func TestExpectIsWrittenOnly(t *testing.T) {
	for text, want := range map[string]Expectation{"": "", "\nidentity: {expect: report}": ExpectReport, "\nidentity: {expect: equal}": ExpectEqual} {
		s, err := Load("s", []byte(good+text), known)
		require.NoError(t, err)
		assert.Equal(t, want, s.Identity.Expect)
	}
	_, err := Load("s", []byte(good+"\nidentity: {expect: same}"), known)
	assert.ErrorContains(t, err, "identity.expect: want equal or report")
}

// Outputs of every bundled scenario are judged, those of the plugin's arms by its
// word; only batch-invariant's are in a batch.
func TestBundledExpectEqual(t *testing.T) {
	for _, name := range Bundled() {
		s, _, err := Read(name+".yaml", shipped)
		require.NoError(t, err)
		for _, c := range s.Compare {
			assert.True(t, s.ExpectsEqual(c), name)
			assert.Equal(t, name == "batch-invariant", s.BatchInvariant(c), name)
		}
	}
}

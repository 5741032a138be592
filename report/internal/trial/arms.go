package trial

import (
	"testing"

	"github.com/aituner/opprof/scenarios"
)

func ThreeArms(t *testing.T) *Trial {
	tr := New(t, 6)
	on := map[string]string{scenarios.RecorderVariable: "{run_dir}/steps"}
	tr.Scenario.Arms = []scenarios.Arm{
		{Name: "off", Patch: "none"}, {Name: "r1", Patch: "r1-seed", Env: on}, {Name: "r2", Patch: "r2-onepass", Env: on},
	}
	tr.Scenario.Compare = []scenarios.Comparison{
		{Baseline: "off", Candidate: "r1"}, {Baseline: "off", Candidate: "r2"}, {Baseline: "r1", Candidate: "r2"},
	}
	tr.Scale = map[string]float64{"r1": 2.5, "r2": 1}
	return tr
}

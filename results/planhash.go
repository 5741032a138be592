package results

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/aituner/opprof/scenarios"
)

// ComputeHash digests what decides the result of a campaign: rules, canonical
// scenario, workload and its shapes, patches, order, replicate and pilot; no paths, ports,
// times or hosts. A plan whose Hash is another was changed, or made by another
// opbench.
func (p *Plan) ComputeHash() (string, error) {
	data, err := json.Marshal(struct {
		Rules     string             `json:"rules"`
		Scenario  scenarios.Scenario `json:"scenario"`
		Workload  string             `json:"workload"`
		Shapes    map[string]string  `json:"shapes,omitempty"`
		Identity  string             `json:"identity,omitempty"`
		Patches   map[string]string  `json:"patches"`
		Blocks    []Block            `json:"blocks"`
		Replicate int                `json:"replicate,omitempty"`
		Pilot     *Pilot             `json:"pilot,omitempty"`
	}{p.Rules, withoutPaths(p.Scenario), p.WorkloadSHA256, p.ShapeSHA256, p.IdentitySHA256, p.Patches, p.Blocks, p.Replicate, p.Pilot})
	if err != nil {
		return "", fmt.Errorf("hash plan: %w", err)
	}
	return digest(data), nil
}

// damage says why a plan is not the one that its hash is of, or "".
func (p *Plan) damage() string {
	got, err := p.ComputeHash()
	if err != nil {
		return fmt.Sprintf("%s: %v", PlanFile, err)
	}
	if got == p.Hash {
		return ""
	}
	return fmt.Sprintf("%s has the hash of plan %.8s, and what it says is plan %.8s: it was changed after it was made; "+
		"get the original back or measure again. If another opbench made it as it is, use that one, %s",
		PlanFile, orNone(p.Hash), got, p.Maker())
}

// withoutPaths leaves out where things lie; what they hold is in the hashes of
// the patches and of the workload.
func withoutPaths(s scenarios.Scenario) scenarios.Scenario {
	s.Engine.Python = ""
	s.Engine.Model = filepath.Base(s.Engine.Model)
	s.Arms = slices.Clone(s.Arms)
	for i := range s.Arms {
		s.Arms[i].PatchDir = ""
	}
	s.Phases = slices.Clone(s.Phases)
	for i := range s.Phases {
		if path := &s.Phases[i].Source.Path; *path != "" {
			*path = filepath.Base(*path)
		}
	}
	return s
}

package judge

import (
	"maps"
	"slices"

	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
)

// cpu compares the CPU seconds of each process role, as means over the accepted
// runs.
func cpu(in *accept.Accepted, c *view.Comparison) []view.CPU {
	var out []view.CPU
	for _, p := range in.Scenario.Phases {
		base, cand := cpuSeconds(in, c.Baseline, p.Name), cpuSeconds(in, c.Candidate, p.Name)
		for _, role := range slices.Sorted(maps.Keys(base)) {
			x, also := cand[role]
			if !also || x == 0 && base[role] == 0 { // a role that only waits
				continue
			}
			row := view.CPU{Phase: p.Name, Role: role, Baseline: base[role], Candidate: x}
			if d, err := stat.LogRatio(base[role], x, stat.LowerIsBetter); err == nil {
				row.Effect = view.Finite(stat.Percent(d, stat.LowerIsBetter))
			}
			out = append(out, row)
		}
	}
	return out
}

func cpuSeconds(in *accept.Accepted, arm, phase string) map[string]float64 {
	mean := map[string]float64{}
	for i := range in.Blocks {
		p := in.Blocks[i].Runs[arm].Phase(phase)
		if p == nil {
			continue
		}
		for role, s := range p.CPUSeconds {
			mean[role] += s / float64(len(in.Blocks))
		}
	}
	return mean
}

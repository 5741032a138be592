package report

import (
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/results"
)

// backlogLimit is the capacity of the recorder's queue; a record that finds it
// full is dropped (patch design, "Encoding, buffering, and flush").
const backlogLimit = 8192

// cpu compares the CPU seconds of each process role, as means over the accepted
// runs.
func (b *builder) cpu(c *Comparison) []CPU {
	var out []CPU
	for _, p := range b.s.Phases {
		base, cand := b.cpuSeconds(c.Baseline, p.Name), b.cpuSeconds(c.Candidate, p.Name)
		for _, role := range sortedKeys(base) {
			x, also := cand[role]
			if !also || x == 0 && base[role] == 0 { // a role that only waits
				continue
			}
			row := CPU{Phase: p.Name, Role: role, Baseline: base[role], Candidate: x}
			if d, err := stat.LogRatio(base[role], x, stat.LowerIsBetter); err == nil {
				row.Effect = ptr(stat.Percent(d, stat.LowerIsBetter))
			}
			out = append(out, row)
		}
	}
	return out
}

func (b *builder) cpuSeconds(arm, phase string) map[string]float64 {
	mean := map[string]float64{}
	for i := range b.blocks {
		p := b.blocks[i].runs[arm].phase(phase)
		if p == nil {
			continue
		}
		for role, s := range p.CPUSeconds {
			mean[role] += s / float64(len(b.blocks))
		}
	}
	return mean
}

// recorders sums up the step records of each arm over its accepted runs.
func (b *builder) recorders() []Recorder {
	var out []Recorder
	for _, arm := range b.s.Arms {
		var steps []*results.Steps
		for i := range b.blocks {
			if run := b.blocks[i].runs[arm.Name].Run; run != nil && run.Steps != nil {
				steps = append(steps, run.Steps)
			}
		}
		if len(steps) > 0 {
			out = append(out, recorder(arm.Name, steps))
		}
	}
	return out
}

func recorder(arm string, runs []*results.Steps) Recorder {
	r := Recorder{Arm: arm, Runs: len(runs), BacklogLimit: backlogLimit}
	var bytes int64
	for _, s := range runs {
		r.Records += s.Records
		r.Dropped += s.Dropped
		r.BacklogMax = max(r.BacklogMax, s.BacklogMax)
		bytes += s.Bytes
	}
	if r.Records > 0 {
		r.BytesPerStep = float64(bytes) / float64(r.Records)
	}
	for i, p := range runs[0].Phases {
		t := StepTime{Phase: p.Phase}
		for _, s := range runs {
			if i < len(s.Phases) {
				t.P50 += s.Phases[i].StepP50 / float64(len(runs))
				t.P95 += s.Phases[i].StepP95 / float64(len(runs))
			}
		}
		r.StepTimes = append(r.StepTimes, t)
	}
	return r
}

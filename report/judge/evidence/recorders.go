package evidence

import (
	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
)

// backlogLimit is the capacity of the recorder's queue; a record that finds it
// full is dropped (patch design, "Encoding, buffering, and flush").
const backlogLimit = 8192

// Recorders sums up the step records of each arm over its accepted runs.
func Recorders(in *accept.Accepted) []view.Recorder {
	var out []view.Recorder
	for _, arm := range in.Scenario.Arms {
		var steps []*results.Steps
		for i := range in.Blocks {
			if run := in.Blocks[i].Runs[arm.Name].Run; run != nil && run.Steps != nil {
				steps = append(steps, run.Steps)
			}
		}
		if len(steps) > 0 {
			out = append(out, recorder(arm.Name, steps))
		}
	}
	return out
}

func recorder(arm string, runs []*results.Steps) view.Recorder {
	r := view.Recorder{Arm: arm, Runs: len(runs), BacklogLimit: backlogLimit}
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
		t := view.StepTime{Phase: p.Phase}
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

package accept

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/steps"
)

// recomputeSteps reads the step files of a run again. Where publishing left files
// out there is only what run.json recorded.
func (a *Run) recomputeSteps(c *results.Campaign) (*results.Steps, []view.Finding) {
	recorded := a.Run.Steps
	if recorded == nil || len(recorded.Files) == 0 {
		return recorded, nil
	}
	for _, f := range recorded.Files {
		if c.Thinned[a.Key.Dir()+"/"+f.Name] {
			return recorded, nil
		}
	}
	opt := steps.OptionsOf(&c.Plan.Scenario, a.Run, a.Requests)
	opt.StepTime = a.gatherStepTimes(opt.Phases)
	again, err := steps.Summarize(c.RunFiles(a.Key), opt)
	if err != nil {
		return recorded, []view.Finding{{Name: view.ReasonStepsUnreadable, Detail: err.Error()}}
	}
	return again, stepDifferences(recorded, again)
}

// stepWarnings are the checks of the records that failed and void nothing.
func stepWarnings(s *results.Steps) (warnings []string) {
	if s == nil {
		return nil
	}
	for _, c := range s.Checks {
		if c.Warning && c.Failed > 0 {
			warnings = append(warnings, fmt.Sprintf("check %s failed %d of %s: %s", c.ID, c.Failed, view.Plural(int(c.Checked), "time", "times"), c.First))
		}
	}
	return warnings
}

// stepDifferences names every total of run.json that the step files do not give.
func stepDifferences(recorded, again *results.Steps) []view.Finding {
	var found []view.Finding
	for _, n := range []struct {
		name      string
		says, has int64
	}{
		{"records", recorded.Records, again.Records},
		{"steps", recorded.Steps, again.Steps},
		{"bytes", recorded.Bytes, again.Bytes},
		{"backlog high watermark", recorded.BacklogMax, again.BacklogMax},
		{"dropped records", recorded.Dropped, again.Dropped},
		{"prefill tokens", recorded.PrefillTokens, again.PrefillTokens},
		{"decode tokens", recorded.DecodeTokens, again.DecodeTokens},
	} {
		if n.says != n.has {
			found = append(found, view.Finding{Name: view.ReasonRecomputation, Detail: fmt.Sprintf(
				"run.json says %d %s, the step files give %d", n.says, n.name, n.has)})
		}
	}
	return found
}

// StepTimes counts steps by bin of their time, see Histogram. Counts of runs add
// up.
type StepTimes map[int]int64

func (t StepTimes) add(seconds float64) {
	t[int(math.Log(max(seconds/view.ShortestTime, 1))/math.Log(view.StepWidth))]++
}

// AddAll adds the counts of another run.
func (t StepTimes) AddAll(other StepTimes) {
	for bin, n := range other {
		t[bin] += n
	}
}

// Bins are the pairs of a bin and its count, ascending.
func (t StepTimes) Bins() [][2]int64 {
	var bins [][2]int64
	for bin, n := range t {
		bins = append(bins, [2]int64{int64(bin), n})
	}
	slices.SortFunc(bins, func(x, y [2]int64) int { return cmp.Compare(x[0], y[0]) })
	return bins
}

// gatherStepTimes counts the step times of a run while its records are read.
func (a *Run) gatherStepTimes(phases []steps.Phase) func(phase int, seconds float64) {
	a.StepTimes = map[string]StepTimes{}
	for _, p := range phases {
		a.StepTimes[p.Name] = StepTimes{}
	}
	return func(phase int, seconds float64) { a.StepTimes[phases[phase].Name].add(seconds) }
}

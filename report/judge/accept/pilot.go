package accept

import (
	"fmt"
	"math"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// CheckPilot computes the numbers of a control's pilot again from its runs. A
// publication may leave these out; then the plan's numbers stand, and the note
// says so.
func CheckPilot(campaign *results.Campaign) (found []view.Finding, note string, err error) {
	pilot := campaign.Plan.Pilot
	if pilot == nil {
		return nil, "", nil
	}
	if !campaign.PilotRuns() {
		return nil, "the runs of the pilot are not in this run directory: its numbers are those of the plan", nil
	}
	pair := campaign.Plan.Scenario.Compare[0]
	for i := range pilot.Steps {
		c, err := campaign.LoadPilot(i + 1)
		if err != nil {
			return nil, "", fmt.Errorf("read the pilot: %w", err)
		}
		if why := checkPilotStep(c, pair, &pilot.Steps[i]); why != "" {
			found = append(found, view.NewFinding(view.ReasonPilot, "step %d: %s", i+1, why))
		}
	}
	return found, "", nil
}

// checkPilotStep says in what a step of the plan and its runs differ.
func checkPilotStep(c *results.Campaign, pair scenarios.Comparison, step *results.PilotStep) string {
	if len(c.Damage) > 0 {
		return c.Damage[0]
	}
	runs := map[string][]map[string]map[string]float64{} // by arm; by phase, metric
	for i := range c.Attempts {
		a := &c.Attempts[i]
		if a.Damage != "" {
			return fmt.Sprintf("run %s: %s", a.Key, a.Damage)
		}
		if a.Valid {
			runs[a.Key.Arm] = append(runs[a.Key.Arm], valuesOf(giveAll(a, &c.Plan.Scenario)))
		}
	}
	for _, m := range step.Metrics {
		base, cand := pilotMean(runs[pair.Baseline], m), pilotMean(runs[pair.Candidate], m)
		if !near(base, m.Baseline) || !near(cand, m.Candidate) {
			return fmt.Sprintf("%s in phase %s is %g and %g in the runs, %g and %g in the plan", m.Metric, m.Phase, base, cand, m.Baseline, m.Candidate)
		}
		if again := riseOf(m); !(math.Abs(again-m.RisePct) <= 100*sameNumber) {
			return fmt.Sprintf("%s in phase %s rose by %g %%, the plan says %g %%", m.Metric, m.Phase, again, m.RisePct)
		}
	}
	arm, _ := c.Plan.Scenario.Arm(pair.Candidate)
	for _, v := range step.Values {
		if arm.Env[v.Name] != v.Text && arm.Args[v.Name] != v.Text {
			return fmt.Sprintf("the runs did not have %s=%s", v.Name, v.Text)
		}
	}
	return ""
}

// pilotMean is the geometric mean over the runs of an arm.
func pilotMean(runs []map[string]map[string]float64, m results.PilotMetric) float64 {
	sum := 0.0
	for _, values := range runs {
		sum += math.Log(values[m.Phase][m.Metric])
	}
	return math.Exp(sum / float64(len(runs)))
}

// riseOf is what the candidate costs in percent, positive is worse; NaN for a
// metric that the table does not have.
func riseOf(m results.PilotMetric) float64 {
	d := math.Log(m.Candidate / m.Baseline)
	x, known := scenarios.FindMetric(m.Metric)
	if !known {
		return math.NaN()
	}
	dir := view.DirectionOf(x)
	if dir == stat.HigherIsBetter {
		d = -d
	}
	return stat.Percent(d, dir)
}

package report

import (
	"fmt"
	"math"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/metrics"
)

// pilotDiffers is the reason of a plan whose pilot is not what was measured.
const pilotDiffers = "pilot differs"

// checkPilot computes the numbers of a control's pilot again from its runs. A
// publication may leave these out; then the plan's numbers stand, and the report
// says so.
func (b *builder) checkPilot() error {
	pilot := b.c.Plan.Pilot
	if pilot == nil {
		return nil
	}
	if !b.c.PilotRuns() {
		b.view.Notes = append(b.view.Notes, "the runs of the pilot are not in this run directory: its numbers are those of the plan")
		return nil
	}
	for i := range pilot.Steps {
		c, err := b.c.LoadPilot(i + 1)
		if err != nil {
			return fmt.Errorf("read the pilot: %w", err)
		}
		if why := b.pilotStep(c, &pilot.Steps[i]); why != "" {
			b.invalid(pilotDiffers, "step %d: %s", i+1, why)
		}
	}
	return nil
}

// pilotStep says in what a step of the plan and its runs differ.
func (b *builder) pilotStep(c *results.Campaign, step *results.PilotStep) string {
	runs := map[string][]map[string]map[string]float64{} // by arm; by phase, metric
	for i := range c.Attempts {
		a := &c.Attempts[i]
		if a.Damage != "" {
			return fmt.Sprintf("run %s: %s", a.Key, a.Damage)
		}
		if a.Valid {
			runs[a.Key.Arm] = append(runs[a.Key.Arm], phaseValues(a, nil))
		}
	}
	pair := b.s.Compare[0]
	for _, m := range step.Metrics {
		base, cand := pilotMean(runs[pair.Baseline], m), pilotMean(runs[pair.Candidate], m)
		if !near(base, m.Baseline) || !near(cand, m.Candidate) {
			return fmt.Sprintf("%s in phase %s is %g and %g in the runs, %g and %g in the plan", m.Metric, m.Phase, base, cand, m.Baseline, m.Candidate)
		}
		if again := riseOf(m); math.Abs(again-m.RisePct) > 100*sameNumber {
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

// near is false also for what is no number.
func near(got, want float64) bool { return math.Abs(got-want) <= sameNumber*math.Abs(want) }

// riseOf is what the candidate costs in percent, positive is worse.
func riseOf(m results.PilotMetric) float64 {
	d := math.Log(m.Candidate / m.Baseline)
	x, _ := metrics.Find(m.Metric)
	dir := direction(x)
	if x.HigherIsBetter {
		d = -d
	}
	return stat.Percent(d, dir)
}

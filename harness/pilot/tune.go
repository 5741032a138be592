package pilot

import (
	"fmt"
	"math"
	"slices"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// Bounds of the values and of one move.
const (
	leastValue = 0.001
	mostValue  = 4.0
	mostMove   = 3.0
)

// metrics compares the runs of the two arms in every primary metric, and in
// those that set the knobs.
func (p *pilot) metrics(base, cand []*results.Run) ([]results.PilotMetric, error) {
	var list []results.PilotMetric
	for _, ph := range p.Scenario.Phases {
		for _, metric := range scenarios.Metrics() {
			name := metric.Name
			if !slices.Contains(ph.Primary, name) && !p.sets(name, ph) {
				continue
			}
			m := results.PilotMetric{Phase: ph.Name, Metric: name, Baseline: mean(base, ph.Name, name), Candidate: mean(cand, ph.Name, name)}
			if !(m.Baseline > 0) || !(m.Candidate > 0) {
				return nil, fmt.Errorf("%w: a run has no %s in phase %s", ErrInvalid, name, ph.Name)
			}
			m.RisePct = rise(metric, m.Baseline, m.Candidate)
			list = append(list, m)
		}
	}
	return list, nil
}

// mean is the geometric mean over the runs; 0 if one lacks the metric.
func mean(runs []*results.Run, phase, metric string) float64 {
	sum := 0.0
	for _, r := range runs {
		sum += math.Log(value(r, phase, metric))
	}
	return math.Exp(sum / float64(len(runs)))
}

func value(run *results.Run, phase, metric string) float64 {
	for i := range run.Phases {
		if run.Phases[i].Name == phase {
			return run.Phases[i].Metrics[metric]
		}
	}
	return 0
}

// rise is what the candidate costs in percent, as reports define it.
func rise(metric scenarios.Metric, base, cand float64) float64 {
	if metric.HigherIsBetter() {
		return 100 * (1 - cand/base)
	}
	return 100 * (cand/base - 1)
}

// sets reports whether a metric of a phase sets a knob: where it is primary,
// or, for TPOT p50 that is primary nowhere, in every phase.
func (p *pilot) sets(metric string, ph scenarios.Phase) bool {
	for _, k := range p.Scenario.Knobs() {
		if k.Metric == metric && p.counts(metric, ph) {
			return true
		}
	}
	return false
}

func (p *pilot) counts(metric string, ph scenarios.Phase) bool {
	nowhere := !slices.ContainsFunc(p.Scenario.Phases, func(x scenarios.Phase) bool { return slices.Contains(x.Primary, metric) })
	m, _ := scenarios.FindMetric(metric)
	return slices.Contains(ph.Primary, metric) || nowhere && m.Of == scenarios.TPOT
}

// rise is the mean over the phases in which a knob's metric counts; ok is false
// for a knob that nothing sets.
func (p *pilot) rise(k scenarios.Knob, list []results.PilotMetric) (pct float64, ok bool) {
	n := 0
	for _, ph := range p.Scenario.Phases {
		for _, m := range list {
			if m.Phase == ph.Name && m.Metric == k.Metric && p.counts(k.Metric, ph) {
				pct += m.RisePct
				n++
			}
		}
	}
	return pct / max(1, float64(n)), n > 0
}

// miss is by how many percent the knobs' metrics lie outside the band with the
// values of a step, summed, as all steps together say.
func miss(steps []results.PilotStep, step int) float64 {
	sum := 0.0
	for i, v := range steps[step].Values {
		if v.Metric != "" {
			rise := results.FitPct(steps, step, i)
			sum += max(0, lowPct-rise, rise-highPct)
		}
	}
	return sum
}

// best is the number of the step that comes closest, from 1.
func best(steps []results.PilotStep) int {
	at := 0
	for i := range steps {
		if miss(steps, i) < miss(steps, at) {
			at = i
		}
	}
	return at + 1
}

// propose moves every knob whose metric lies outside the band to where it should
// rise by the middle of it.
func propose(knobs []scenarios.Knob, steps []results.PilotStep) []scenarios.Knob {
	next := slices.Clone(knobs)
	last := len(steps) - 1
	for i := range next {
		rise := results.FitPct(steps, last, i)
		if steps[last].Values[i].Metric == "" || rise >= lowPct && rise <= highPct {
			continue
		}
		move := mostMove
		if rise > 0 {
			move = (lowPct + highPct) / 2 / rise
		}
		move = max(1/mostMove, min(mostMove, move))
		next[i].Value = rounded(max(leastValue, min(mostValue, next[i].Value*move)))
	}
	return next
}

// rounded keeps four digits: more would claim what a pilot cannot know.
func rounded(x float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(x))-3)
	return math.Round(x/unit) * unit
}

func same(a, b []scenarios.Knob) bool {
	return slices.EqualFunc(a, b, func(x, y scenarios.Knob) bool { return x.Text() == y.Text() })
}

// chosen are the knobs with the values of the chosen step.
func chosen(knobs []scenarios.Knob, out *results.Pilot) []scenarios.Knob {
	for i, v := range out.Steps[out.Chosen-1].Values {
		knobs[i].Value = v.Number()
	}
	return knobs
}

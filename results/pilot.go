package results

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/aituner/opprof/scenarios"
)

// Pilot is what was measured to set the slowdown of a positive control, before
// its campaign was planned. The runs are in the folder pilot of the run
// directory: one folder for each step, each a campaign of one block, or of two where the order matters.
type Pilot struct {
	// LowPct and HighPct are the rises between which the knobs' metrics were to
	// end, in percent.
	LowPct  float64     `json:"low_pct"`
	HighPct float64     `json:"high_pct"`
	Steps   []PilotStep `json:"steps"` // in running order
	// Chosen is the step whose values the campaign runs with, from 1: the one that,
	// as all steps together say, comes closest.
	Chosen int `json:"chosen"`
}

// PilotStep is what was measured with one set of values.
type PilotStep struct {
	Values  []PilotValue  `json:"values"`
	Metrics []PilotMetric `json:"metrics"`
}

// PilotValue is one knob of the candidate.
type PilotValue struct {
	Name string `json:"name"` // environment variable or option
	Text string `json:"value"`
	// RisePct is the mean rise of the metric that sets the knob, over the phases
	// in which it counts; Metric is empty if the knob was left alone.
	Metric  string  `json:"set_by,omitempty"`
	RisePct float64 `json:"rise_pct,omitempty"`
}

// PilotMetric is one number of a step's runs, the geometric mean over its blocks
// for each arm. A rise is what the
// candidate costs, in percent of the baseline: positive is worse.
type PilotMetric struct {
	Phase     string  `json:"phase"`
	Metric    string  `json:"metric"`
	Baseline  float64 `json:"baseline"`
	Candidate float64 `json:"candidate"`
	RisePct   float64 `json:"rise_pct"`
}

// PilotRuns reports whether the runs of the pilot are in the run directory: a
// publication may leave them out.
func (c *Campaign) PilotRuns() bool {
	_, err := fs.Stat(c.files, pilotFolder)
	return !errors.Is(err, fs.ErrNotExist)
}

// LoadPilot loads the campaign of a step of the pilot, counted from 1, as Load
// does.
func (c *Campaign) LoadPilot(step int) (*Campaign, error) {
	name := strconv.Itoa(step)
	return load(filepath.Join(c.Dir, pilotFolder, name), c.files.sub(path.Join(pilotFolder, name)))
}

// pilotFolder holds the steps of a pilot, a folder of each.
const pilotFolder = "pilot"

// LeastRisePct is the rise in the pilot below which a control was not applied
// to a metric, in percent: the gate is not tried by what hardly moved.
const LeastRisePct = 4.0

// Number returns the value of a knob, the share of its text.
func (v PilotValue) Number() float64 {
	x, _ := scenarios.ParseShare(v.Text) // written by scenarios.Knob.Text
	return x
}

// FitPct returns by how many percent the metric that sets a knob rises with the
// values of a step, as all steps together say (both count from 0): the line
// through zero, where nothing is slowed down, with the least squares. A step
// alone is as noisy as its host, and the one that came closest did so by luck.
func FitPct(steps []PilotStep, step, knob int) float64 {
	return fitPct(steps, step, knob, func(s *PilotStep) (float64, bool) { return s.Values[knob].RisePct, true })
}

func fitPct(steps []PilotStep, step, knob int, rise func(*PilotStep) (float64, bool)) float64 {
	var vr, vv float64
	for i := range steps {
		if r, ok := rise(&steps[i]); ok && knob < len(steps[i].Values) {
			v := steps[i].Values[knob].Number()
			vr += v * r
			vv += v * v
		}
	}
	return vr / vv * steps[step].Values[knob].Number()
}

// Rise returns by how many percent a metric rises with the values of the chosen
// step, as all steps together say; ok is false if the pilot lacks the metric. Where
// the step itself measured no rise at all, that stands: a line through others does
// not make it one.
func (p *Pilot) Rise(phase, metric string) (pct float64, ok bool) {
	measured := func(s *PilotStep) (float64, bool) {
		for _, m := range s.Metrics {
			if m.Phase == phase && m.Metric == metric {
				return m.RisePct, true
			}
		}
		return 0, false
	}
	if p.Chosen < 1 || p.Chosen > len(p.Steps) {
		return 0, false
	}
	chosen := &p.Steps[p.Chosen-1]
	pct, ok = measured(chosen)
	if knob := chosen.follows(metric); ok && pct > 0 && knob >= 0 && chosen.Values[knob].Number() > 0 {
		pct = fitPct(p.Steps, p.Chosen-1, knob, measured)
	}
	return pct, ok
}

// follows is the knob that a metric rises with: the one set by the same kind of
// metric (TTFT by TTFT), else the first; -1 if nothing was set.
func (s *PilotStep) follows(metric string) int {
	kind, _, _ := strings.Cut(metric, "_")
	first := -1
	for i, v := range s.Values {
		if v.Metric != "" && strings.HasPrefix(v.Metric, kind+"_") {
			return i
		}
		if v.Metric != "" && first < 0 {
			first = i
		}
	}
	return first
}

// Applied reports whether the slowdown reached a metric.
func (p *Pilot) Applied(phase, metric string) bool {
	rise, ok := p.Rise(phase, metric)
	return ok && rise >= LeastRisePct
}

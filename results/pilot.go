package results

// Pilot is what was measured to set the slowdown of a positive control, before
// its campaign was planned. The runs are in the folder pilot of the run
// directory: one folder for each step, each a campaign of one block, or of two where the order matters.
type Pilot struct {
	// LowPct and HighPct are the rises between which the knobs' metrics were to
	// end, in percent.
	LowPct  float64     `json:"low_pct"`
	HighPct float64     `json:"high_pct"`
	Steps   []PilotStep `json:"steps"` // in running order
	// Chosen is the step whose values the campaign runs with, from 1.
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

// LeastRisePct is the rise in the pilot below which a control was not applied
// to a metric, in percent: the gate is not tried by what hardly moved.
const LeastRisePct = 4.0

// Rise returns by how many percent a metric rose in the chosen step.
func (p *Pilot) Rise(phase, metric string) (pct float64, ok bool) {
	if p.Chosen < 1 || p.Chosen > len(p.Steps) {
		return 0, false
	}
	for _, m := range p.Steps[p.Chosen-1].Metrics {
		if m.Phase == phase && m.Metric == metric {
			return m.RisePct, true
		}
	}
	return 0, false
}

// Applied reports whether the slowdown reached a metric.
func (p *Pilot) Applied(phase, metric string) bool {
	rise, ok := p.Rise(phase, metric)
	return ok && rise >= LeastRisePct
}

package scenarios

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// PatchControl is the revision that slows every step of a server down by a
// known share of it: the positive control. It has no recorder.
const PatchControl = "control-spin"

// What slows the candidate of a control down. Both variables are shares of a
// step's own span, the second one for steps with prefill tokens.
const (
	SpinVariable        = "VLLM_OPPROF_SPIN"
	SpinPrefillVariable = "VLLM_OPPROF_SPIN_PREFILL"
	// recordCost is the simulated engine's slowdown of a recording arm.
	recordCost = "record-cost"
)

// mostSlowdown bounds the share of a step that a control may add to it.
const mostSlowdown = 10

// Knob is one value of a control's candidate that makes it slower.
type Knob struct {
	Name   string  // environment variable, or option of the simulated engine
	Metric string  // what it is set by: tpot_p50, ttft_p50
	Value  float64 // share of a step's duration: 0.06 adds 6 %
}

// Knobs returns what slows the candidate down, with the values of the scenario.
// Only a scenario of purpose control has any.
func (s *Scenario) Knobs() []Knob {
	if s.Purpose != Control || len(s.Compare) == 0 {
		return nil
	}
	arm, _ := s.Arm(s.Compare[0].Candidate)
	by := s.Engine.Kind.Capabilities().slowdown
	var list []Knob
	for _, k := range []Knob{{Name: SpinVariable, Metric: "tpot_p50"}, {Name: SpinPrefillVariable, Metric: "ttft_p50"}} {
		if v, err := ParseShare(arm.Env[k.Name]); err == nil && by == bySpin {
			k.Value = v
			list = append(list, k)
		}
	}
	if v, err := ParseShare(arm.Args[recordCost]); err == nil && by == byRecordCost {
		list = append(list, Knob{Name: recordCost, Metric: "tpot_p50", Value: v})
	}
	return list
}

// WithKnobs returns a copy of the scenario in which every candidate has these
// values.
func (s *Scenario) WithKnobs(knobs []Knob) *Scenario {
	out := *s
	out.Arms = slices.Clone(s.Arms)
	for i := range out.Arms {
		a := &out.Arms[i]
		if !s.isCandidate(a.Name) {
			continue
		}
		a.Env, a.Args = maps.Clone(a.Env), maps.Clone(a.Args)
		for _, k := range knobs {
			if k.Name == recordCost {
				a.Args[k.Name] = k.Text()
			} else {
				a.Env[k.Name] = k.Text()
			}
		}
	}
	return &out
}

func (s *Scenario) isCandidate(arm string) bool {
	return slices.ContainsFunc(s.Compare, func(c Comparison) bool { return c.Candidate == arm })
}

// Text is the value as the server takes it: a variable holds the share, the
// option of the simulated engine a percentage.
func (k Knob) Text() string {
	if k.Name == recordCost {
		return strconv.FormatFloat(100*k.Value, 'g', 6, 64) + "%"
	}
	return strconv.FormatFloat(k.Value, 'g', 6, 64)
}

// ParseShare parses a share as servers take it: 0.06 or 6%.
func ParseShare(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(number, 64)
	if percent {
		v /= 100
	}
	return v, err
}

// checkControl holds a positive control to its form: a baseline that nothing
// slows down, candidates that are slowed down by what opbench control can set.
func checkControl(f *file, s *Scenario) {
	for _, name := range []string{SpinVariable, SpinPrefillVariable} {
		if _, set := s.Engine.Env[name]; set {
			f.rule("engine.env."+name, "it would slow all arms down: declare it in the candidate")
		}
	}
	if _, set := s.Engine.Args[recordCost]; set && s.Purpose == Control {
		f.rule("engine.args."+recordCost, "it would slow every recording arm down: declare it in the candidate")
	}
	for _, a := range s.Arms {
		checkSpin(f, s, a)
	}
	switch by := s.Engine.Kind.Capabilities().slowdown; {
	case s.Purpose != Control:
	case s.Engine.attached():
		f.rule("engine.kind", "a control slows its candidate down itself: it cannot do that to an attached endpoint")
	case by == bySpin:
		checkSpinControl(f, s)
	case by == byRecordCost:
		checkRecordCostControl(f, s)
	}
}

// checkSpin keeps the wait out of arms that it does not belong to, and its
// values to what a server takes.
func checkSpin(f *file, s *Scenario, a Arm) {
	for _, name := range []string{SpinVariable, SpinPrefillVariable} {
		text, set := a.Env[name]
		at := "arms." + a.Name + ".env." + name
		switch v, err := ParseShare(text); {
		case !set:
		case s.Purpose != Control:
			f.rule(at, "only a scenario of purpose control slows an arm down on purpose")
		case !s.isCandidate(a.Name):
			f.rule(at, "arm %s is a baseline, and nothing may slow that down: leave this out", a.Name)
		case err != nil || strings.HasSuffix(text, "%") || !(v > 0 && v <= mostSlowdown):
			f.rule(at, "want a share of a step's span, above 0 and at most %d, got %s", mostSlowdown, quote(text))
		}
	}
}

func checkSpinControl(f *file, s *Scenario) {
	for _, a := range s.Arms {
		path := "arms." + a.Name
		if a.Patch != PatchControl {
			f.rule(path+".patch", "all arms of a control run the patch %s: the baseline with its variables unset", PatchControl)
		}
		if a.Records() {
			f.rule(path+".env."+RecorderVariable, "the patch %s has no recorder: leave this out", PatchControl)
		}
		if _, set := a.Env[SpinVariable]; !set && s.isCandidate(a.Name) {
			f.rule(path, "the candidate of a control needs %s, the share of a step that it waits", SpinVariable)
		}
	}
}

func checkRecordCostControl(f *file, s *Scenario) {
	for _, a := range s.Arms {
		path := "arms." + a.Name
		text, set := a.Args[recordCost]
		v, err := ParseShare(text)
		switch {
		case !s.isCandidate(a.Name):
			if set {
				f.rule(path+".args."+recordCost, "arm %s is a baseline, and nothing may slow that down: leave this out", a.Name)
			}
		case !set || !a.Records():
			f.rule(path, "the candidate of a simulated control needs %s and %s: recording is what slows it down", recordCost, RecorderVariable)
		case err != nil || !strings.HasSuffix(text, "%") || !(v > 0 && v <= mostSlowdown):
			f.rule(path+".args."+recordCost, "want a share above 0%% and at most %d%%, got %s", 100*mostSlowdown, quote(text))
		}
	}
}

package accept

import (
	"fmt"
	"math"
	"strings"

	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/metrics"
	"github.com/aituner/opprof/results/validity"
	"github.com/aituner/opprof/scenarios"
)

// Examine computes again what is stored of every run and applies the run rules.
func Examine(c *results.Campaign) []*Run {
	limits := limitsOf(c.Plan)
	var runs []*Run
	for i := range c.Attempts {
		runs = append(runs, examineRun(c, &c.Attempts[i], limits))
	}
	return runs
}

// examineLost computes the numbers of aborted runs, in the order of the campaign's.
func examineLost(c *results.Campaign) []*Run {
	limits := limitsOf(c.Plan)
	var lost []*Run
	for i := range c.Lost {
		a := &Run{Attempt: &c.Lost[i]}
		if a.Run != nil {
			a.Values = phaseValues(a.Attempt, limits)
		}
		lost = append(lost, a)
	}
	return lost
}

func limitsOf(p *results.Plan) map[string]scenarios.Goodput {
	limits := map[string]scenarios.Goodput{}
	for _, phase := range p.Scenario.Phases {
		limits[phase.Name] = phase.Goodput
	}
	return limits
}

func examineRun(c *results.Campaign, stored *results.Attempt, limits map[string]scenarios.Goodput) *Run {
	a := &Run{Attempt: stored}
	if a.Damage != "" {
		a.add(view.ReasonDamagedRun, a.Damage)
		return a
	}
	a.Values = phaseValues(stored, limits)
	again, differ := a.recomputeSteps(c)
	run := *a.Run
	run.Steps = again
	for _, f := range validity.Run(c.Plan, &run, a.Requests, a.Identity) {
		found := FindingOf(f)
		found.Where = nil // it stands at the run
		a.Findings = append(a.Findings, Finding{Finding: found, Rule: f.Rule, Said: f.Said})
	}
	for _, f := range append(differ, differences(a)...) {
		a.add(f.Name, f.Detail)
	}
	a.Warnings = stepWarnings(again)
	return a
}

func (a *Run) add(name view.Reason, detail string) {
	a.Findings = append(a.Findings, Finding{Finding: view.Finding{Name: name, Detail: detail}})
}

// FindingOf words a finding of the rules for people.
func FindingOf(f validity.Finding) view.Finding {
	r := view.Finding{Name: view.Reason(f.Rule.Words()), Detail: f.Message}
	if f.Key != (results.Key{}) {
		r.Where = []string{f.Key.String()}
	}
	return r
}

// phaseValues computes the numbers of a run from its requests.
func phaseValues(a *results.Attempt, limits map[string]scenarios.Goodput) map[string]map[string]float64 {
	byPhase := RequestsByPhase(a)
	values := map[string]map[string]float64{}
	for _, p := range a.Run.Phases {
		values[p.Name], _ = metrics.Compute(metrics.Phase{Requests: byPhase[p.Name], Gaps: p.Gaps, Goodput: limits[p.Name]})
	}
	return values
}

// sameNumber allows for the last digits of a decimal representation only.
const sameNumber = 1e-9

// mostDifferences is how many numbers of a phase are named.
const mostDifferences = 2

// differences names, for every phase, what run.json says and its requests do not
// give. A metric that run.json lacks is no difference: the version that wrote it may
// not have known it, or it is not defined. What is shown is what was computed.
func differences(a *Run) []view.Finding {
	var found []view.Finding
	for _, p := range a.Run.Phases {
		var wrong []string
		for _, m := range scenarios.Metrics() {
			want, has := a.Values[p.Name][m.Name]
			got, says := p.Metrics[m.Name]
			if says && !(has && math.Abs(got-want) <= sameNumber*math.Abs(want)) {
				wrong = append(wrong, fmt.Sprintf("%s is %.9g in run.json, the requests give %s", m.Name, got, orNone(want, has)))
			}
		}
		if more := len(wrong) - mostDifferences; more > 0 {
			wrong = append(wrong[:mostDifferences], view.Plural(more, "more number differs", "more numbers differ"))
		}
		if wrong != nil {
			found = append(found, view.Finding{Name: view.ReasonRecomputation, Detail: p.Name + ": " + strings.Join(wrong, "; ")})
		}
	}
	return found
}

func orNone(x float64, present bool) string {
	if !present {
		return "none"
	}
	return fmt.Sprintf("%.9g", x)
}

package accept

import (
	"slices"

	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/validity"
)

// Examine computes again what is stored of every run and applies the run rules.
func Examine(c *results.Campaign) []*Run {
	unlike := map[results.Key][]validity.Finding{}
	for _, f := range validity.CompareWork(c.Plan, c.Attempts) {
		unlike[f.Key] = append(unlike[f.Key], f)
	}
	var runs []*Run
	for i := range c.Attempts {
		runs = append(runs, examineRun(c, &c.Attempts[i], unlike[c.Attempts[i].Key]))
	}
	checkCopies(&c.Plan.Scenario, runs)
	return runs
}

// examineLost computes the numbers of aborted runs, in the order of the campaign's.
func examineLost(c *results.Campaign) []*Run {
	var lost []*Run
	for i := range c.Lost {
		a := &Run{Attempt: &c.Lost[i]}
		if a.Run != nil {
			a.Values = valuesOf(giveAll(a.Attempt, &c.Plan.Scenario))
		}
		lost = append(lost, a)
	}
	return lost
}

// examineRun takes with it what other runs say of a run.
func examineRun(c *results.Campaign, stored *results.Attempt, unlike []validity.Finding) *Run {
	a := &Run{Attempt: stored}
	if a.Damage != "" {
		a.add(view.ReasonDamagedRun, a.Damage)
		return a
	}
	a.checkStamps(&c.Plan.Scenario)
	all := giveAll(stored, &c.Plan.Scenario)
	a.Values, a.Live = valuesOf(all), liveOf(all)
	again, differ := a.recomputeSteps(c)
	run := *a.Run
	run.Steps, run.Phases = again, believed(a.Run, all)
	for _, f := range slices.Concat(unlike, validity.Run(c.Plan, &run, a.Requests, a.Identity)) {
		a.take(f)
	}
	for _, f := range append(differ, differences(a, all)...) {
		a.add(f.Name, f.Detail)
	}
	a.Warnings = stepWarnings(again)
	return a
}

// take adds a finding of the rules.
func (a *Run) take(f validity.Finding) {
	found := FindingOf(f)
	found.Where = nil // it stands at the run
	a.Findings = append(a.Findings, Finding{Finding: found, Rule: f.Rule, Said: f.Said})
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

func valuesOf(all map[string]given) map[string]map[string]float64 {
	values := map[string]map[string]float64{}
	for phase, g := range all {
		values[phase] = g.values
	}
	return values
}

func liveOf(all map[string]given) map[string]Live {
	live := map[string]Live{}
	for phase, g := range all {
		live[phase] = g.live
	}
	return live
}

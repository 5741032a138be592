// Package evidence says what stands beside a verdict: other campaigns, the machine,
// what was recorded beside the requests, the points of the plots. Only the required
// A/A bears on the verdict.
package evidence

import (
	"fmt"
	"slices"
	"time"

	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// AA is the A/A beside a campaign that speaks for its set-up.
type AA struct {
	Name string
	Said Said
	age  time.Duration // how long before this campaign it began
	// Wanting says why its result, whatever it is, is none for this gate.
	Wanting string
}

// speaksFor reports whether another campaign is an A/A of the same requests to
// the same server.
func (n *neighbour) speaksFor(c *results.Campaign) bool {
	s := &n.plan.Scenario
	return s.Purpose == scenarios.AA && n.plan.WorkloadSHA256 == c.Plan.WorkloadSHA256 && EngineDifferences(s, &c.Plan.Scenario) == nil
}

// evidenceFor takes an A/A as the evidence. Where a PASS hangs on it, it is judged
// again from its files.
func (n *neighbour) evidenceFor(c *results.Campaign, judge func(dir string) Said) *AA {
	e := AA{Name: n.name, Said: n.said, age: c.Entries[0].Time.Sub(n.began), Wanting: n.wanting(c)}
	if c.Plan.Scenario.Gate.RequireAA {
		e.Said = judge(n.dir)
	}
	return &e
}

func (e *AA) String() string {
	s := fmt.Sprintf("%s, %s older (%s)", e.Said, age(e.age), e.Name)
	if e.Wanting != "" {
		s += ", but " + e.Wanting
	}
	return s
}

// age in the unit that a reader would use.
func age(d time.Duration) string {
	switch {
	case d < 2*time.Hour:
		return view.Plural(int(d.Minutes()), "minute", "minutes")
	case d < 48*time.Hour:
		return view.Plural(int(d.Hours()), "hour", "hours")
	}
	return view.Plural(int(d.Hours()/24), "day", "days")
}

// wanting says what an A/A lacks to stand behind this gate.
func (n *neighbour) wanting(c *results.Campaign) string {
	s, own := &n.plan.Scenario, &c.Plan.Scenario
	switch {
	case n.fingerprint != c.Entries[0].Fingerprint:
		return "on another host or other software"
	case s.Gate.Margin > own.Gate.Margin:
		return fmt.Sprintf("within %s %% only", view.Plain(100*s.Gate.Margin))
	case s.Gate.Confidence < own.Gate.Confidence:
		return fmt.Sprintf("at %s %% confidence only", view.Plain(100*s.Gate.Confidence))
	}
	for _, p := range own.Phases {
		i := slices.IndexFunc(s.Phases, func(x scenarios.Phase) bool { return x.Name == p.Name })
		for _, name := range p.Primary {
			if i < 0 || !slices.Contains(s.Phases[i].Primary, name) {
				return fmt.Sprintf("without %s of phase %s", name, p.Name)
			}
		}
	}
	return ""
}

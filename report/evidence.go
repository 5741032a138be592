package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// evidence is the A/A beside a campaign that speaks for its set-up.
type evidence struct {
	name   string
	result string
	age    time.Duration // how long before this campaign it began
	// wanting says why its result, whatever it is, is none for this gate.
	wanting string
}

// speaksFor reports whether another campaign is an A/A of the same requests to
// the same server.
func (b *builder) speaksFor(n *neighbour) bool {
	s := &n.plan.Scenario
	return s.Purpose == scenarios.AA && n.plan.WorkloadSHA256 == b.c.Plan.WorkloadSHA256 && engineDifferences(s, b.s) == nil
}

// consider takes an A/A as the evidence. Where a PASS hangs on it, it is judged
// again from its files.
func (b *builder) consider(n *neighbour) {
	e := evidence{name: n.name, result: n.result, age: b.c.Entries[0].Time.Sub(n.began), wanting: b.wanting(n)}
	if b.s.Gate.RequireAA {
		e.result = judgedAgain(n.dir, b.view.Tool)
	}
	b.evidence = &e
	b.view.AA = e.String()
}

func (e *evidence) String() string {
	s := fmt.Sprintf("%s, %s older (%s)", e.result, age(e.age), e.name)
	if e.wanting != "" {
		s += ", but " + e.wanting
	}
	return s
}

// age in the unit that a reader would use.
func age(d time.Duration) string {
	switch {
	case d < 2*time.Hour:
		return plural(int(d.Minutes()), "minute", "minutes")
	case d < 48*time.Hour:
		return plural(int(d.Hours()), "hour", "hours")
	}
	return plural(int(d.Hours()/24), "day", "days")
}

func judgedAgain(dir, tool string) string {
	c, err := results.Load(dir)
	if err != nil {
		return "not readable"
	}
	v, err := Build(c, tool)
	if err != nil {
		return "not judged"
	}
	return v.Result
}

// wanting says what an A/A lacks to stand behind this gate.
func (b *builder) wanting(n *neighbour) string {
	s := &n.plan.Scenario
	switch {
	case n.fingerprint != b.c.Entries[0].Fingerprint:
		return "on another host or other software"
	case s.Gate.Margin > b.s.Gate.Margin:
		return fmt.Sprintf("within %s %% only", plainNumber(100*s.Gate.Margin))
	case s.Gate.Confidence < b.s.Gate.Confidence:
		return fmt.Sprintf("at %s %% confidence only", plainNumber(100*s.Gate.Confidence))
	}
	for _, p := range b.s.Phases {
		i := slices.IndexFunc(s.Phases, func(x scenarios.Phase) bool { return x.Name == p.Name })
		for _, name := range p.Primary {
			if i < 0 || !slices.Contains(s.Phases[i].Primary, name) {
				return fmt.Sprintf("without %s of phase %s", name, p.Name)
			}
		}
	}
	return ""
}

// requireAA holds a campaign to its scenario's demand for a passed A/A: without
// one there is no verdict; one that could not show equality leaves no PASS. An
// A/A inside the campaign is judged with it.
func (b *builder) requireAA() {
	if !b.s.Gate.RequireAA || !b.gated() || slices.ContainsFunc(b.s.Compare, b.equalArms) {
		return
	}
	e := b.evidence
	missing := e == nil || e.wanting != ""
	var word string
	if !missing {
		word, _, _ = strings.Cut(e.result, "(")
	}
	switch {
	case word == string(stat.Pass):
	case word == string(stat.Inconclusive):
		b.aaOpen = true
	case word == string(stat.Invalid) || word == string(stat.Fail):
		b.invalid("A/A failed", "the scenario requires a passed A/A, the one beside the campaign says: %s", b.view.AA)
	default:
		b.invalid("A/A missing", "the scenario requires a passed A/A of this workload and server beside the campaign, found: %s", b.view.AA)
	}
}

// holdBack takes back a PASS behind which the required A/A does not stand.
func (b *builder) holdBack() {
	if v := b.view; b.aaOpen && v.Verdict == stat.Pass {
		v.Verdict, v.Result = stat.Inconclusive, "INCONCLUSIVE(A/A)"
	}
}

// withoutEqual leaves the comparisons of equal arms out, if there are others:
// they are evidence, not what was asked.
func withoutEqual(list []*Comparison) []*Comparison {
	others := slices.DeleteFunc(slices.Clone(list), func(c *Comparison) bool { return c.AA })
	if len(others) == 0 {
		return list
	}
	return others
}

package accept

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/gaps"
	"github.com/aituner/opprof/results/metrics"
	"github.com/aituner/opprof/scenarios"
)

// given is what the requests of a phase give, whatever run.json says.
type given struct {
	values                     map[string]float64
	undefined                  map[string]int // requests without a value, by metric
	live                       Live
	sendLate                   float64 // p99, s; 0 in a closed loop
	planned, finished, bungled int     // bungled: failed, timed or warm-up
}

// give computes the numbers of a phase from its requests.
func give(requests []results.Request, gaps gaps.Histogram, plan scenarios.Phase) given {
	g := given{live: Live{metrics.MeanLive(requests), metrics.MeanLiveWithDrain(requests)}}
	g.values, g.undefined = metrics.Compute(metrics.Phase{Requests: requests, Gaps: gaps, Goodput: plan.Goodput})
	if plan.Arrival.Kind != scenarios.ArrivalClosed { // nobody waits for a schedule there
		g.sendLate = metrics.SendLateP99(requests)
	}
	for i := range requests {
		r := &requests[i]
		switch {
		case !r.OK():
			g.bungled++
		case !r.Warmup:
			g.finished++
		}
		if !r.Warmup {
			g.planned++
		}
	}
	return g
}

// giveAll computes the numbers of every phase of a run, by its name.
func giveAll(a *results.Attempt, s *scenarios.Scenario) map[string]given {
	byPhase := RequestsByPhase(a)
	all := map[string]given{}
	for _, p := range a.Run.Phases {
		all[p.Name] = give(byPhase[p.Name], p.Gaps, planned(s, p.Name))
	}
	return all
}

// planned is a phase of the scenario; an empty one if it has none of that name.
func planned(s *scenarios.Scenario, name string) scenarios.Phase {
	if i := slices.IndexFunc(s.Phases, func(p scenarios.Phase) bool { return p.Name == name }); i >= 0 {
		return s.Phases[i]
	}
	return scenarios.Phase{}
}

// believed are the phases of a run for the rules: what can be computed is computed.
// The metrics are those of run.json, which must agree in any case.
func believed(run *results.Run, all map[string]given) []results.Phase {
	phases := slices.Clone(run.Phases)
	for i := range phases {
		p := &phases[i]
		g := all[p.Name]
		p.Undefined, p.MeanLive, p.Client.SendLateP99 = g.undefined, g.live.ToLastSend, g.sendLate
	}
	return phases
}

// sameNumber allows for the last digits of a decimal representation only.
const sameNumber = 1e-9

// near is false also for what is no number.
func near(got, want float64) bool { return math.Abs(got-want) <= sameNumber*math.Abs(want) }

// mostDifferences is how many numbers of a phase are named.
const mostDifferences = 2

// differences names, for every phase, what run.json says and its requests do not
// give.
func differences(a *Run, all map[string]given) []view.Finding {
	var found []view.Finding
	for i := range a.Run.Phases {
		p := &a.Run.Phases[i]
		g := all[p.Name]
		wrong := slices.Concat(metricsDiffer(p, g), countsDiffer(p, g))
		if more := len(wrong) - mostDifferences; more > 0 {
			wrong = append(wrong[:mostDifferences], view.Plural(more, "more number differs", "more numbers differ"))
		}
		if wrong != nil {
			found = append(found, view.NewFinding(view.ReasonRecomputation, "%s: %s", p.Name, strings.Join(wrong, "; ")))
		}
	}
	if why := boundsDiffer(a); why != "" {
		found = append(found, view.NewFinding(view.ReasonRecomputation, "%s", why))
	}
	return found
}

// metricsDiffer compares the metrics. One that run.json lacks is no difference: the
// version that wrote it may not have known it, or it is not defined. What is shown
// is what was computed. Requests without a value are counted where it has one, or
// says that some have none.
func metricsDiffer(p *results.Phase, g given) (wrong []string) {
	for _, m := range scenarios.Metrics() {
		want, has := g.values[m.Name]
		got, says := p.Metrics[m.Name]
		if says && !(has && near(got, want)) {
			wrong = append(wrong, fmt.Sprintf("%s is %.9g in run.json, the requests give %s", m.Name, got, orNone(want, has)))
		}
		if without, counted := p.Undefined[m.Name]; (says || counted) && without != g.undefined[m.Name] {
			wrong = append(wrong, fmt.Sprintf("%s is undefined for %s in run.json, for %d of the requests",
				m.Name, view.Plural(without, "request", "requests"), g.undefined[m.Name]))
		}
	}
	return wrong
}

// countsDiffer compares what stands beside the metrics.
func countsDiffer(p *results.Phase, g given) (wrong []string) {
	for _, n := range []struct {
		name      string
		says, has float64
	}{
		{"mean_live", p.MeanLive, g.live.ToLastSend},
		{"send_late_p99_s", p.Client.SendLateP99, g.sendLate},
		{"planned", float64(p.Planned), float64(g.planned + unsent(p, g))},
		{"finished", float64(p.Finished), float64(g.finished)},
		{"failed", float64(p.Failed), float64(g.bungled)},
	} {
		if !near(n.says, n.has) {
			wrong = append(wrong, fmt.Sprintf("%s is %.9g in run.json, the requests give %.9g", n.name, n.says, n.has))
		}
	}
	return wrong
}

// unsent is how many timed requests the run misses, where it says itself that some
// were not sent; that is a finding of its own.
func unsent(p *results.Phase, g given) int {
	if p.Unsent == 0 {
		return 0
	}
	return max(0, p.Planned-g.planned)
}

func orNone(x float64, present bool) string {
	if !present {
		return "none"
	}
	return fmt.Sprintf("%.9g", x)
}

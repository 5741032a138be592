package bench

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// threshold is one limit with what the published campaigns came to.
type threshold struct {
	what, limit, why string
	// worst reads, for one phase of one run, how much of the limit was used:
	// the value and the limit in the same unit. false: nothing to read.
	worst func(s *scenarios.Scenario, run *results.Run, p *results.Phase) (value, limit float64, ok bool)
	show  func(value float64) string
	// floor is the part of every value that says nothing about health.
	floor float64
	// none: a single one is too many, so there is no half of the limit.
	none bool
}

var thresholds = []threshold{
	{what: "probe lag, p99 of a phase", limit: "client.max_probe_lag_p99", why: "the client's own times are late by about as much, but for the 1 ms to which Go's poller rounds a timer", floor: 1e-3,
		worst: func(s *scenarios.Scenario, _ *results.Run, p *results.Phase) (float64, float64, bool) {
			return p.Client.ProbeLagP99, s.Client.MaxProbeLagP99.Seconds(), true
		}, show: milliseconds},
	{what: "sends late, p99 of an open-loop phase", limit: "the same", why: "a late send shifts the arrivals",
		worst: func(s *scenarios.Scenario, _ *results.Run, p *results.Phase) (float64, float64, bool) {
			return p.Client.SendLateP99, s.Client.MaxProbeLagP99.Seconds(), plannedScenario(s, p).Arrival.Kind != "closed"
		}, show: milliseconds},
	{what: "live streams below the stated, closed loop", limit: "5 %", why: "the load is not what it says; ramp, stragglers and redials take some",
		worst: func(s *scenarios.Scenario, _ *results.Run, p *results.Phase) (float64, float64, bool) {
			streams := float64(plannedScenario(s, p).Arrival.Streams)
			return 1 - p.MeanLive/streams, 0.05, plannedScenario(s, p).Arrival.Kind == "closed"
		}, show: share},
	{what: "requests without a value of a primary metric", limit: "1 %", why: "TPOT needs a second chunk; at 16 tokens and more it has one unless the client stood still",
		worst: func(s *scenarios.Scenario, _ *results.Run, p *results.Phase) (float64, float64, bool) {
			most := 0
			for _, m := range plannedScenario(s, p).Primary {
				most = max(most, p.Undefined[m])
			}
			return float64(most) / float64(p.Planned), 0.01, true
		}, show: share},
	{what: "wall clock against the monotonic clock", limit: "0.5 s", why: "phases are cut by wall time; synchronisation slews by 0.5 ms/s, so by 0.05 s in a run of 100 s",
		worst: func(_ *scenarios.Scenario, run *results.Run, p *results.Phase) (float64, float64, bool) {
			return math.Abs(run.ClockStep), 0.5, p.Dials > 0
		}, show: milliseconds},
	{what: "time from SIGINT to the end of the server", limit: "45 s", why: "vLLM waits 15 s for requests, then for its workers; what is killed later may lose records",
		worst: func(_ *scenarios.Scenario, run *results.Run, _ *results.Phase) (float64, float64, bool) {
			return run.Server.Stop.Seconds, 45, true
		}, show: func(x float64) string { return fmt.Sprintf("%.1f s", x) }},
	{what: "failed or unsent requests", limit: "none", why: "one makes the run INVALID", none: true,
		worst: func(_ *scenarios.Scenario, _ *results.Run, p *results.Phase) (float64, float64, bool) {
			return float64(p.Failed + p.Unsent), 0, true
		}, show: whole},
	{what: "kernels compiled in a timed part", limit: "none", why: "each stops the engine for seconds; the warm-up must cover all shapes", none: true,
		worst: func(_ *scenarios.Scenario, run *results.Run, p *results.Phase) (float64, float64, bool) {
			n := 0
			for _, l := range run.Server.LogFindings {
				if l.Kind == "jit" && p.TimedStartNS <= l.WallNS && l.WallNS <= p.TimedEndNS {
					n++
				}
			}
			return float64(n), 0, true
		}, show: whole},
	{what: "preemptions", limit: "both zero, or exact binomial p ≥ 0.001", why: "one comparison in a thousand of equal arms", none: true,
		worst: func(_ *scenarios.Scenario, _ *results.Run, p *results.Phase) (float64, float64, bool) {
			n, ok := p.Counters["vllm:num_preemptions_total"]
			return n, 0, ok
		}, show: whole},
	{what: "step records dropped", limit: "design.max_dropped, 0", why: "a dropped record is a step that nobody checked", none: true,
		worst: func(_ *scenarios.Scenario, run *results.Run, _ *results.Phase) (float64, float64, bool) {
			if run.Steps == nil {
				return 0, 0, false
			}
			return float64(run.Steps.Dropped), 0, true
		}, show: whole},
	{what: "records waiting for the recorder's writer", limit: "8192, the queue's capacity", why: "beyond it records are dropped",
		worst: func(_ *scenarios.Scenario, run *results.Run, _ *results.Phase) (float64, float64, bool) {
			if run.Steps == nil {
				return 0, 0, false
			}
			return float64(run.Steps.BacklogMax), 8192, true
		}, show: whole},
	{what: "cores used by a server beside other arms", limit: "0.1", why: "it slows them down",
		worst: func(_ *scenarios.Scenario, _ *results.Run, p *results.Phase) (float64, float64, bool) {
			used := 0.0
			for _, s := range p.IdleCPUSeconds {
				used += s
			}
			return used / p.IdleSeconds, 0.1, p.IdleSeconds > 0
		}, show: func(x float64) string { return fmt.Sprintf("%.3f", x) }},
	{what: "the client's CPU time over the timed part, per second", limit: "no limit: shown", why: "probe lag says what it costs",
		worst: func(_ *scenarios.Scenario, _ *results.Run, p *results.Phase) (float64, float64, bool) {
			return p.CPUSeconds["client"] / float64(p.TimedEndNS-p.TimedStartNS) * 1e9, math.Inf(1), len(p.Slices) == 0
		}, show: func(x float64) string { return fmt.Sprintf("%.2f cores", x) }},
	{what: "the client's GC pauses in the timed part", limit: "no limit: shown", why: "they are part of probe lag",
		worst: func(_ *scenarios.Scenario, _ *results.Run, p *results.Phase) (float64, float64, bool) {
			return p.Client.GCPauseSeconds, math.Inf(1), true
		}, show: milliseconds},
	{what: "connections replaced between two requests", limit: "no limit: shown", why: "it happens before the send and is part of no TTFT",
		worst: func(_ *scenarios.Scenario, _ *results.Run, p *results.Phase) (float64, float64, bool) {
			return float64(p.Redials), math.Inf(1), p.Dials > 0
		}, show: whole},
}

func milliseconds(x float64) string { return fmt.Sprintf("%.2f ms", 1e3*x) }
func share(x float64) string        { return fmt.Sprintf("%.2f %%", 100*x) }
func whole(x float64) string        { return fmt.Sprintf("%.0f", x) }

// plannedScenario is the plan of a measured phase.
func plannedScenario(s *scenarios.Scenario, p *results.Phase) scenarios.Phase {
	i := slices.IndexFunc(s.Phases, func(q scenarios.Phase) bool { return q.Name == p.Name })
	return s.Phases[i]
}

// peak is the run that came closest to a limit.
type peak struct {
	value, limit float64
	where        string
	seen         bool
}

// peaks reads every valid run of the published campaigns. Burn-in runs, which
// no rule about time judges, are left out.
func peaks(t *testing.T) []peak {
	t.Helper()
	out := make([]peak, len(thresholds))
	for _, dir := range publishedCampaigns(t) {
		c, err := results.Load(dir)
		require.NoError(t, err)
		for _, a := range c.Attempts {
			if a.Run == nil || !a.Valid || a.BurnIn {
				continue
			}
			for k := range a.Run.Phases {
				p := &a.Run.Phases[k]
				for i := range thresholds {
					out[i].take(thresholds[i].worst(&c.Plan.Scenario, a.Run, p))(fmt.Sprintf("%s %s", filepath.Base(dir), a.Key))
				}
			}
		}
	}
	return out
}

// take keeps the largest share of the limit, or the largest value where there is
// no limit; the returned function names it.
func (p *peak) take(value, limit float64, ok bool) func(where string) {
	larger := value > p.value
	if limit > 0 && !math.IsInf(limit, 1) {
		larger = value/limit > p.value/p.limit
	}
	if !ok || p.seen && !larger {
		return func(string) {}
	}
	p.value, p.limit, p.seen = value, limit, true
	return func(where string) { p.where = where }
}

const thresholdTable = "../harness/README.md"

// The limits and the worst healthy run beside each are what the published
// campaigns say, and healthy runs stay below half of every limit, floors left out.
func TestThresholds(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("| what | limit | worst of the published valid runs | why |\n|---|---|---|---|\n")
	for i, p := range peaks(t) {
		th := thresholds[i]
		seen := "not recorded in any"
		if p.seen {
			seen = th.show(p.value)
			if p.value != 0 {
				seen += " (" + p.where + ")"
			}
		}
		fmt.Fprintf(&rows, "| %s | %s | %s | %s |\n", th.what, th.limit, seen, th.why)
		if th.none {
			assert.Zero(t, p.value, th.what)
			continue
		}
		if !p.seen {
			continue
		}
		assert.Less(t, p.value-th.floor, (p.limit-th.floor)/2, "%s: %s of %v in %s", th.what, th.show(p.value), p.limit, p.where)
	}
	text, err := os.ReadFile(thresholdTable)
	require.NoError(t, err)
	table := regexp.MustCompile(`(?m)^\| what \| limit \|.*\n(\|.*\n)+`)
	require.Len(t, table.FindAll(text, -1), 1)
	if *update {
		text = table.ReplaceAllLiteral(text, []byte(rows.String()))
		require.NoError(t, os.WriteFile(thresholdTable, text, 0o644))
	}
	assert.Equal(t, rows.String(), string(table.Find(text)), "go test ./bench -run TestThresholds -update writes it")
}

// The worst run is found wherever it is, and no reading is no zero.
func TestPeak(t *testing.T) {
	var p peak
	p.take(3, 10, false)("a")
	assert.False(t, p.seen)
	p.take(3, 10, true)("b")
	p.take(4, 100, true)("c")
	assert.Equal(t, peak{3, 10, "b", true}, p, "the larger share of its limit")
	p.take(4, 10, true)("d")
	assert.Equal(t, "d", p.where)
	p = peak{}
	p.take(2, math.Inf(1), true)("e")
	p.take(3, math.Inf(1), true)("f")
	assert.Equal(t, "f", p.where)
}

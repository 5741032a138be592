package judge

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// lagRun is a run of one phase: five timed requests of 11 tokens in two seconds
// each, and a client that was late by so many seconds.
func lagRun(late float64) *accept.Run {
	run := &results.Run{Phases: []results.Phase{{Name: "p", Client: results.ClientHealth{ProbeLagMean: late}}}}
	a := &results.Attempt{Run: run}
	for i := range 5 {
		sent := int64(1+2*i) * 1e9
		a.Requests = append(a.Requests, results.Request{Phase: "p", SentNS: sent, FirstNS: sent + 5e8, LastNS: sent + 2e9,
			FirstTokens: 1, Chunks: 11, OutputTokens: 11})
	}
	values := map[string]float64{"ttft_p50": 0.5, "tpot_p50": 0.15, "gap_p50": 0.125, "e2e_p50": 2}
	return &accept.Run{Attempt: a, Values: map[string]map[string]float64{"p": values}}
}

// Half a second of lateness is as much of a metric as its kind says: of one gap
// four times as much as there is, of ten seconds of throughput a twentieth. A
// latency that were taken for a rate would never reach the limit.
func TestLagIsHeldAgainstTheMetricsKind(t *testing.T) {
	base, cand := lagRun(0), lagRun(0.5)
	for name, want := range map[string]float64{
		"ttft_p50": 1, "ttft_p95": 1, "tpot_p50": 0.5 / 1.5, "tpot_p95": 0.5 / 1.5, "gap_p50": 4, "itl_p99": 4, "e2e_p95": 0.25,
		"output_throughput": 0.05, "request_rate": 0.05,
	} {
		m, ok := scenarios.FindMetric(name)
		require.True(t, ok, name)
		scale, err := lagScale(m)
		require.NoError(t, err, name)
		bias, ok := lagBias(base, cand, "p", scale)
		require.True(t, ok, name)
		assert.InDelta(t, want, bias, 1e-12, name)
	}
}

// Whatever can be gated can be held against lateness.
func TestEveryGateableMetricHasALag(t *testing.T) {
	for _, m := range scenarios.Metrics() {
		if m.Gateable {
			_, err := lagScale(m)
			assert.NoError(t, err, m.Name)
		}
	}
}

// Metrics that lateness biases in the same way are asked about once.
func TestLagMetrics(t *testing.T) {
	var names []string
	for _, m := range lagMetrics([]string{"output_throughput", "tpot_p50", "tpot_p95", "ttft_p95", "request_rate"}) {
		names = append(names, lagName(m))
	}
	assert.Equal(t, []string{"throughput", "tpot", "ttft"}, names)
}

// What the table does not have is an error, never a rate by default: the
// comparison is INVALID.
func TestLagOfAnUnknownMetric(t *testing.T) {
	for _, name := range []string{"tpot_p99", "goodput"} {
		s := &scenarios.Scenario{Phases: []scenarios.Phase{{Name: "p", Primary: []string{name}}}}
		in := &accept.Accepted{Scenario: s, Blocks: []accept.Block{{Runs: map[string]*accept.Run{"off": lagRun(0), "on": lagRun(0)}}}}
		c := &view.Comparison{Baseline: "off", Candidate: "on"}
		assert.Empty(t, probeLag(in, c))
		require.Len(t, c.Invalid, 1, name)
		assert.Equal(t, view.ReasonProbeLag, c.Invalid[0].Name)
		assert.Contains(t, c.Invalid[0].Detail, `it is not known what the client's lateness does to "`+name+`"`)
	}
}

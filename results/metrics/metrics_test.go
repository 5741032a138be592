package metrics

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/gaps"
	"github.com/aituner/opprof/scenarios"
)

const ms = int64(1e6)

// request is a success sent at a time (ms), with its first token ttft ms later
// and then n-1 more, one every step ms.
func request(sent, ttft int64, n int, step int64) results.Request {
	first := sent + ttft
	last := first + step*int64(n-1)
	return results.Request{IntendedNS: sent * ms, SentNS: sent * ms, FirstNS: first * ms, LastNS: last * ms, EndNS: (last + 1) * ms,
		FirstTokens: 1, Chunks: n, WantTokens: n, OutputTokens: n, GapMedianNS: step * ms, GapMaxNS: step * ms}
}

// gapsOf are the gaps of requests whose chunks are evenly spaced.
func gapsOf(requests []results.Request) (g gaps.Histogram) {
	for _, r := range requests {
		g.Add(slices.Repeat([]int64{r.GapMedianNS}, r.Chunks-1)...)
	}
	return g
}

func TestComputeByHand(t *testing.T) {
	warm := request(10, 900, 50, 90)
	warm.Warmup = true
	requests := []results.Request{
		warm,
		request(1000, 20, 11, 4), // last token 1060
		request(1010, 40, 11, 6), // 1110
		request(1050, 60, 21, 8), // 1270
	}
	values, undefined := Compute(Phase{Requests: requests})
	assert.Empty(t, undefined)
	want := map[string]float64{
		"ttft_p50":          0.040,
		"ttft_p95":          0.040 + 0.9*0.020,
		"tpot_p50":          0.006,
		"tpot_p95":          0.006 + 0.9*0.002,
		"e2e_p50":           0.100, // of 60, 100, 220
		"e2e_p95":           0.100 + 0.9*0.120,
		"gap_p50":           0.006,
		"output_throughput": 43 / 0.270,
		"request_rate":      3 / 0.270,
	}
	require.Len(t, values, len(want), "nothing more: a closed loop has no intended times")
	for name, v := range want {
		assert.InDelta(t, v, values[name], 1e-12, name)
	}
}

func TestIntendedTimeOfAnOpenLoop(t *testing.T) {
	late := request(1000, 20, 11, 4)
	late.IntendedNS -= 30 * ms
	values, _ := Compute(Phase{Requests: []results.Request{late, request(2000, 20, 11, 4)}})
	assert.InDelta(t, 0.020, values["ttft_p50"], 1e-12, "late sends do not lengthen the sent TTFT")
	assert.InDelta(t, 0.035, values["ttft_intended_p50"], 1e-12)
	assert.InDelta(t, 0.0485, values["ttft_intended_p95"], 1e-12)
}

func TestFirstChunkOfSeveralTokens(t *testing.T) {
	r := request(1000, 20, 11, 4)
	r.FirstTokens, r.Chunks, r.LastNS = 3, 3, r.FirstNS+32*ms
	got, ok := TPOT(&r)
	assert.True(t, ok)
	assert.InDelta(t, 0.004, got, 1e-12, "32 ms for the 8 tokens after the first chunk")
}

func TestUndefinedIsCountedAndAbsent(t *testing.T) {
	one := request(1000, 20, 1, 0)
	all := request(1000, 20, 11, 4)
	all.FirstTokens, all.Chunks, all.LastNS = 11, 1, all.FirstNS
	values, undefined := Compute(Phase{Requests: []results.Request{one, all}})
	for _, name := range []string{"tpot_p50", "tpot_p95", "gap_p50"} {
		assert.NotContains(t, values, name)
		assert.Equal(t, 2, undefined[name], name)
	}
	assert.NotContains(t, undefined, "ttft_p50")
	values, undefined = Compute(Phase{Requests: []results.Request{one, request(1000, 20, 11, 4)}})
	assert.InDelta(t, 0.004, values["tpot_p95"], 1e-12)
	assert.Equal(t, 1, undefined["tpot_p95"])
}

func TestFailuresEnterNoLatency(t *testing.T) {
	good := request(1000, 20, 11, 4)
	bad := request(900, 5000, 11, 400)
	bad.Error = "no usage"
	refused := results.Request{Error: "dial: refused", WantTokens: 11}
	values, undefined := Compute(Phase{Requests: []results.Request{good, bad, refused}})
	assert.Empty(t, undefined)
	assert.InDelta(t, 0.020, values["ttft_p95"], 1e-12)
	assert.InDelta(t, 0.060, values["e2e_p95"], 1e-12)
	// the time runs from 0.9 s to the failed request's last token at 9.9 s
	assert.InDelta(t, 11/9.0, values["output_throughput"], 1e-12)
	assert.InDelta(t, 1/9.0, values["request_rate"], 1e-12)
}

func TestNothingIsAbsentNotZero(t *testing.T) {
	warm := request(1000, 20, 11, 4)
	warm.Warmup = true
	for name, requests := range map[string][]results.Request{
		"none": nil, "warm-up only": {warm}, "failures only": {{Error: "x", SentNS: ms, FirstNS: 2 * ms, LastNS: 3 * ms, OutputTokens: 2}},
	} {
		values, undefined := Compute(Phase{Requests: requests})
		assert.Empty(t, values, name)
		assert.Empty(t, undefined, name)
	}
}

// TestQuantile compares with R 4: quantile(x, p), type 7.
func TestQuantile(t *testing.T) {
	ten := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for p, want := range map[float64]float64{0: 1, 0.25: 3.25, 0.5: 5.5, 0.95: 9.55, 0.99: 9.91, 1: 10} {
		assert.InDelta(t, want, Quantile(ten, p), 1e-12)
	}
	assert.InDelta(t, 14.5, Quantile([]float64{1, 4, 10, 20, 100}, 0.5+0.45/4), 1e-12)
	assert.Equal(t, 3.0, Quantile([]float64{3}, 0.95))
	assert.True(t, math.IsNaN(Quantile(nil, 0.5)))
	assert.True(t, math.IsNaN(Quantile(ten, 1.1)))
	assert.True(t, math.IsNaN(Quantile(ten, math.NaN())))
}

// A request that misses one limit does not count, nor does one that failed; a
// late send is part of what its user waited.
func TestGoodput(t *testing.T) {
	warm := request(0, 900, 50, 90)
	warm.Warmup = true
	late := request(1100, 90, 11, 4)
	late.IntendedNS -= 20 * ms
	failed := request(1200, 10, 11, 4)
	failed.Error = "no usage"
	requests := []results.Request{
		warm, request(1000, 100, 11, 5), request(1000, 101, 11, 4), request(1000, 100, 11, 6), late, failed, request(1000, 50, 1, 0),
		request(1000, 20, 2, 5), {Error: "dial: refused"},
	}
	for _, c := range []struct {
		ttft, tpot time.Duration
		met        float64
	}{
		{100500 * time.Microsecond, 5500 * time.Microsecond, 3},
		{100500 * time.Microsecond, 0, 4},
		{0, 5500 * time.Microsecond, 5},
		{time.Millisecond, 0, 0},
		{time.Hour, time.Hour, 6},
	} {
		values, _ := Compute(Phase{Requests: requests, Goodput: scenarios.Goodput{TTFT: c.ttft, TPOT: c.tpot}})
		require.Contains(t, values, "goodput")
		assert.InDelta(t, 100*c.met/8, values["goodput"], 1e-12, "%v", c)
	}
	values, _ := Compute(Phase{Requests: requests})
	assert.NotContains(t, values, "goodput", "no limits")
	values, _ = Compute(Phase{Requests: requests[:1], Goodput: scenarios.Goodput{TTFT: time.Hour}})
	assert.NotContains(t, values, "goodput", "no timed request")
}

// All gaps of the phase count alike: the slow request has two of 202, so the 99 %
// quantile is that of the others, which it would not be over requests. Those of
// warm-up and failed requests are in no histogram.
func TestITLByHand(t *testing.T) {
	requests := []results.Request{request(1000, 20, 101, 4), request(2000, 20, 101, 4), request(3000, 20, 3, 8)}
	requests[2].GapMaxNS = 11 * ms
	var gaps gaps.Histogram
	gaps.Add(slices.Repeat([]int64{4 * ms}, 200)...)
	gaps.Add(5*ms, 11*ms)
	warm, failed := request(10, 20, 50, 90), request(20, 20, 50, 90)
	warm.Warmup, failed.Error = true, "no usage"
	all := append([]results.Request{warm, failed}, requests...)
	values, undefined := Compute(Phase{Requests: all, Gaps: gaps})
	assert.NotContains(t, undefined, "itl_p99")
	assert.InEpsilon(t, 0.004, values["itl_p99"], 1e-3, "202 gaps: ranks 198 and 199 of 0 to 201")
	assert.InEpsilon(t, 0.011, gaps.Quantile(1)/1e9, 1e-3)

	gaps.Add(30 * ms)
	values, _ = Compute(Phase{Requests: all, Gaps: gaps})
	assert.NotContains(t, values, "itl_p99", "a gap that no request had")
	values, _ = Compute(Phase{Requests: all})
	assert.NotContains(t, values, "itl_p99", "an older client kept none: absent, never 0")
	assert.Contains(t, values, "gap_p50")
	one := []results.Request{request(1000, 20, 1, 0)}
	values, _ = Compute(Phase{Requests: one, Gaps: gapsOf(one)})
	assert.NotContains(t, values, "itl_p99", "no request had two chunks")
}

// TestDirection makes a run worse and looks whether each metric moves in the
// direction that its kind declares: a row of the table with a wrong kind fails.
func TestDirection(t *testing.T) {
	run := func(slower int64) map[string]float64 {
		a, b := request(1000, 20+slower, 11, 4+slower), request(1100, 30+slower, 11, 4+slower)
		b.IntendedNS -= ms
		both := []results.Request{a, b}
		limits := scenarios.Goodput{TTFT: 32 * time.Millisecond}
		values, _ := Compute(Phase{Requests: both, Gaps: gapsOf(both), Goodput: limits})
		return values
	}
	fast, slow := run(0), run(3)
	for _, m := range scenarios.Metrics() {
		require.Contains(t, fast, m.Name, "every listed metric is computed")
		assert.Equal(t, m.HigherIsBetter(), slow[m.Name] < fast[m.Name], m.Name)
		assert.NotEqual(t, fast[m.Name], slow[m.Name], m.Name)
	}
	assert.Len(t, fast, len(scenarios.Metrics()), "every computed metric is listed")
}

// The table and the formulas are one list: a row without a formula would never
// have a value, a formula without a row would never be asked.
func TestEveryMetricHasOneFormula(t *testing.T) {
	listed := map[string]bool{}
	for _, m := range scenarios.Metrics() {
		assert.False(t, listed[m.Name], "%s stands twice in the table", m.Name)
		listed[m.Name] = true
		f, ok := formulas[m.Name]
		require.True(t, ok, "%s has no formula", m.Name)
		ways := slices.DeleteFunc([]bool{f.of != nil, f.gaps, f.whole != nil}, func(has bool) bool { return !has })
		assert.Len(t, ways, 1, "%s is of requests, of gaps or of the whole phase", m.Name)
		if f.of != nil || f.gaps {
			assert.Equal(t, scenarios.Latency, m.Kind, m.Name)
		}
		assert.Equal(t, f.of == nil, OfRequest(m.Name) == nil, m.Name)
	}
	for name := range formulas {
		assert.True(t, listed[name], "%s is not in the table", name)
	}
	assert.Nil(t, OfRequest("unheard_p50"))
}

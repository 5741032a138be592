package judge

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/metrics"
)

// noisyRequests have times to first token of 100 ms, with noise per request,
// times a factor of the run.
func noisyRequests(rng *rand.Rand, perRequest, factor float64) []results.Request {
	var all []results.Request
	for i := range 60 {
		ttft := 1e8 * factor * (1 + perRequest*rng.NormFloat64())
		all = append(all, results.Request{Phase: "wide", Index: i, SentNS: 1, FirstNS: 1 + int64(ttft), Chunks: 2})
	}
	return all
}

// noiseOf is what the report says of campaigns with such noise.
func noiseOf(t *testing.T, perRequest, perRun float64) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	in := &accept.Accepted{Campaign: &results.Campaign{Plan: &results.Plan{Hash: "00ff"}}}
	var d []float64
	for range 8 {
		runs := map[string]*accept.Run{}
		var p50 []float64
		for _, arm := range []string{"off", "on"} {
			requests := noisyRequests(rng, perRequest, 1+perRun*rng.NormFloat64())
			values, _ := metrics.Compute(metrics.Phase{Requests: requests})
			p50 = append(p50, values["ttft_p50"])
			runs[arm] = &accept.Run{Attempt: &results.Attempt{Requests: requests}}
		}
		in.Blocks = append(in.Blocks, accept.Block{Runs: runs})
		one, err := stat.LogRatio(p50[0], p50[1], stat.LowerIsBetter)
		require.NoError(t, err)
		d = append(d, one)
	}
	e, err := stat.Analyze(d, stat.Options{})
	require.NoError(t, err)
	return noise(in, &view.Comparison{Baseline: "off", Candidate: "on"}, "wide", &measured{Metric: &view.Metric{Name: "ttft_p50"}, estimate: e})
}

func TestNoiseSource(t *testing.T) {
	assert.Contains(t, noiseOf(t, 0.01, 0.05), "mostly between runs")
	assert.Contains(t, noiseOf(t, 0.20, 0.001), "mostly within runs")
}

func TestNoiseOfRatesIsNotStated(t *testing.T) {
	in := &accept.Accepted{Campaign: &results.Campaign{Plan: &results.Plan{}}}
	for _, name := range []string{"output_throughput", "request_rate", "goodput", "unheard_p50"} {
		assert.Empty(t, noise(in, &view.Comparison{}, "wide", &measured{Metric: &view.Metric{Name: name}, estimate: stat.Estimate{SD: 1}}), name)
	}
}

package report

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/metrics"
)

// noiseResamples of the requests of every block: enough to tell halves apart.
const noiseResamples = 100

// noise says whether the spread of a latency's effects comes from within the
// runs or from between them. The requests of a phase are resampled, the same
// ones in both arms; what spread that leaves is the runs' own (Kalibera and
// Jones, ISMM 2013: repeat where the variance arises). "" for a rate, which is
// no property of single requests.
func (b *builder) noise(c *Comparison, phase string, m *Metric) string {
	of, q := requestValue(m.Name)
	if of == nil || m.estimate.SD == 0 {
		return ""
	}
	rng := rand.New(rand.NewPCG(seedOf(b.c.Plan.Hash), seedOf(phase+m.Name)))
	within := 0.0
	for i := range b.blocks {
		runs := b.blocks[i].runs
		base, cand := sameRequests(runs[c.Baseline].Requests, runs[c.Candidate].Requests, phase, of)
		if len(base) == 0 {
			return ""
		}
		within += resampledVariance(base, cand, q, rng) / float64(len(b.blocks))
	}
	if within > m.estimate.SD*m.estimate.SD/2 {
		return "mostly within runs: longer phases help"
	}
	return "mostly between runs: more blocks or a quieter host help"
}

// requestValue is the number of one request behind a latency metric, and the
// quantile that is taken of it.
func requestValue(metric string) (of func(*results.Request) (float64, bool), q float64) {
	name, quantile, _ := strings.Cut(metric, "_")
	q = map[string]float64{"p50": 0.5, "p95": 0.95}[quantile]
	switch {
	case q == 0:
		return nil, 0
	case name == "ttft":
		return metrics.TTFT, q
	case name == "tpot":
		return metrics.TPOT, q
	}
	return nil, 0
}

// sameRequests pairs the values of the timed requests that both runs have.
func sameRequests(a, b []results.Request, phase string, of func(*results.Request) (float64, bool)) (x, y []float64) {
	values := map[int]float64{}
	for i := range a {
		if r := &a[i]; r.Phase == phase && !r.Warmup && r.OK() {
			if v, ok := of(r); ok {
				values[r.Index] = v
			}
		}
	}
	for i := range b {
		r := &b[i]
		v, both := values[r.Index]
		if !both || r.Phase != phase || r.Warmup || !r.OK() {
			continue
		}
		if w, ok := of(r); ok {
			x, y = append(x, v), append(y, w)
		}
	}
	return x, y
}

// resampledVariance of the log ratio of two quantiles.
func resampledVariance(base, cand []float64, q float64, rng *rand.Rand) float64 {
	x, y := make([]float64, len(base)), make([]float64, len(base))
	var sum, squares float64
	for range noiseResamples {
		for i := range x {
			k := rng.IntN(len(base))
			x[i], y[i] = base[k], cand[k]
		}
		slices.Sort(x)
		slices.Sort(y)
		d, err := stat.LogRatio(metrics.Quantile(x, q), metrics.Quantile(y, q), stat.LowerIsBetter)
		if err != nil {
			return math.Inf(1) // a time of 0: the clock, not the runs
		}
		sum += d
		squares += d * d
	}
	n := float64(noiseResamples)
	return max(0, (squares-sum*sum/n)/(n-1))
}

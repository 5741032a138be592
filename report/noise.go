package report

import (
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/metrics"
	"github.com/aituner/opprof/scenarios"
)

// noiseResamples of the requests of every block: enough to tell halves apart.
const noiseResamples = 100

// noise says whether the spread of a latency's effects comes from within the
// runs or from between them. The requests of a phase are resampled, the same
// ones in both arms; what spread that leaves is the runs' own (Kalibera and
// Jones, ISMM 2013: repeat where the variance arises). "" for a rate, which is
// no property of single requests.
func (b *builder) noise(c *Comparison, phase string, m *Metric) string {
	of, q := requestTime(m.Name)
	if of == nil || m.estimate.SD == 0 {
		return ""
	}
	within := make([]float64, 0, len(b.blocks))
	for i := range b.blocks {
		runs := b.blocks[i].runs
		base, cand := sameRequests(runs[c.Baseline].Requests, runs[c.Candidate].Requests, phase, of)
		v, err := stat.WithinVariance(base, cand, func(sorted []float64) float64 { return metrics.Quantile(sorted, q) },
			noiseResamples, seedOf(b.c.Plan.Hash+phase+m.Name+b.blocks[i].plan.Name()))
		if err != nil {
			return "" // a time of 0: the clock, not the runs
		}
		within = append(within, v)
	}
	split, err := stat.SplitVariance(m.estimate.SD, within)
	if err != nil {
		return ""
	}
	if split.MostlyWithin() {
		return "mostly within runs: longer phases help"
	}
	return "mostly between runs: more blocks or a quieter host help"
}

// requestTime is the time of one request behind a latency metric, nil where there
// is none, and the quantile that is taken of it.
func requestTime(metric string) (of func(*results.Request) (float64, bool), q float64) {
	m, _ := scenarios.FindMetric(metric)
	return metrics.OfRequest(m.Name), m.Quantile
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

package judge

import (
	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
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
func noise(in *accept.Accepted, c *view.Comparison, phase string, m *measured) string {
	of, q := requestTime(m.Name)
	if of == nil || m.estimate.SD == 0 {
		return ""
	}
	within := make([]float64, 0, len(in.Blocks))
	for i := range in.Blocks {
		runs := in.Blocks[i].Runs
		base, cand := accept.SameRequests(runs[c.Baseline].Requests, runs[c.Candidate].Requests, phase, of)
		v, err := stat.WithinVariance(base, cand, func(sorted []float64) float64 { return metrics.Quantile(sorted, q) },
			noiseResamples, seedOf(in.Campaign.Plan.Hash+phase+m.Name+in.Blocks[i].Plan.Name()))
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

// Package metrics turns request records into the numbers of a run. It is the
// only definition of ttft, tpot, throughput and their quantiles: a formula for
// each metric of the table in package scenarios.
//
// The unit of analysis is the run: one number per metric and phase, taken over
// all timed requests. A request that failed never enters a latency, and a
// metric that is not defined is absent, never 0.
package metrics

import (
	"slices"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/gaps"
	"github.com/aituner/opprof/scenarios"
)

// formula defines one metric of the table: the quantile of a time over requests,
// the quantile over all gaps of the phase, or another number of it as a whole.
type formula struct {
	of    latency
	open  bool // only for an open loop
	gaps  bool
	whole func(s *sample) (value float64, ok bool)
}

// formulas has one for each metric of scenarios.Metrics.
var formulas = map[string]formula{
	"ttft_p50":          {of: TTFT},
	"ttft_p95":          {of: TTFT},
	"tpot_p50":          {of: TPOT},
	"tpot_p95":          {of: TPOT},
	"output_throughput": {whole: (*sample).tokenRate},
	"e2e_p50":           {of: EndToEnd},
	"e2e_p95":           {of: EndToEnd},
	"gap_p50":           {of: gap},
	"itl_p99":           {gaps: true},
	"ttft_intended_p50": {of: ttftIntended, open: true},
	"ttft_intended_p95": {of: ttftIntended, open: true},
	"request_rate":      {whole: (*sample).requestRate},
	"goodput":           {whole: (*sample).goodput},
}

// OfRequest is the time of one request, in seconds, whose quantile a metric is;
// nil for a metric that is no quantile over requests.
func OfRequest(metric string) func(r *results.Request) (seconds float64, ok bool) {
	return formulas[metric].of
}

// Phase is what the numbers of one phase are computed from.
type Phase struct {
	Requests []results.Request // of the phase, warm-up included
	Gaps     gaps.Histogram    // of run.json, or as measured
	Goodput  scenarios.Goodput // the limits of its scenario; none: no goodput
}

// Compute returns the metrics of one phase from its request records; warm-up
// requests are passed over. values is in the units of the table. undefined
// counts, by metric, successful timed requests without a value. Metrics that
// can't be computed are in neither map. Times from the intended time are given
// for an open loop only, which shows in an intended time that is not the send
// time.
func Compute(p Phase) (values map[string]float64, undefined map[string]int) {
	values, undefined = map[string]float64{}, map[string]int{}
	s := sample{timed: timedOnly(p.Requests), gaps: p.Gaps, limits: p.Goodput}
	s.good = slices.DeleteFunc(slices.Clone(s.timed), func(r *results.Request) bool { return !r.OK() })
	s.seconds = TimedSeconds(p.Requests)
	open := openLoop(s.timed)
	for _, m := range scenarios.Metrics() {
		f := formulas[m.Name]
		if f.open && !open {
			continue
		}
		value, missing, ok := f.value(&s, m.Quantile)
		if missing > 0 {
			undefined[m.Name] = missing
		}
		if ok {
			values[m.Name] = value
		}
	}
	return values, undefined
}

// value applies the formula; missing counts requests that it is not defined for.
func (f formula) value(s *sample, quantile float64) (value float64, missing int, ok bool) {
	if f.gaps {
		value, ok = s.gapQuantile(quantile)
		return value, 0, ok
	}
	if f.whole != nil {
		value, ok = f.whole(s)
		return value, 0, ok
	}
	sorted := collect(s.good, f.of)
	return Quantile(sorted, quantile), len(s.good) - len(sorted), len(sorted) > 0
}

func openLoop(timed []*results.Request) bool {
	return slices.ContainsFunc(timed, func(r *results.Request) bool { return r.IntendedNS != r.SentNS })
}

// collect returns the defined values in ascending order.
func collect(requests []*results.Request, of latency) []float64 {
	values := make([]float64, 0, len(requests))
	for _, r := range requests {
		if v, ok := of(r); ok {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	return values
}

// Package metrics turns request records into the numbers of a run. It is the
// only definition of ttft, tpot, throughput and their quantiles.
//
// The unit of analysis is the run: one number per metric and phase, taken over
// all timed requests. A request that failed never enters a latency, and a
// metric that is not defined is absent, never 0.
package metrics

// Metric describes one number of a run.
type Metric struct {
	Name  string // as in scenario files and run.json
	Label string // for people: "TTFT p95"
	Unit  string // "s", "tok/s", "req/s", "%"
	// HigherIsBetter is the direction: false for times, true for rates.
	HigherIsBetter bool
	// Primary metrics may be named in a phase's primary list.
	Primary bool
}

// all lists the metrics in the order of reports.
var all = []Metric{
	{Name: "ttft_p50", Label: "TTFT p50", Unit: "s", Primary: true},
	{Name: "ttft_p95", Label: "TTFT p95", Unit: "s", Primary: true},
	{Name: "tpot_p50", Label: "TPOT p50", Unit: "s", Primary: true},
	{Name: "tpot_p95", Label: "TPOT p95", Unit: "s", Primary: true},
	{Name: "output_throughput", Label: "output throughput", Unit: "tok/s", HigherIsBetter: true, Primary: true},
	{Name: "e2e_p50", Label: "end to end p50", Unit: "s"},
	{Name: "e2e_p95", Label: "end to end p95", Unit: "s"},
	{Name: "gap_p50", Label: "chunk gap p50", Unit: "s"},
	{Name: "ttft_intended_p50", Label: "TTFT from intended time p50", Unit: "s"},
	{Name: "ttft_intended_p95", Label: "TTFT from intended time p95", Unit: "s"},
	{Name: "request_rate", Label: "request rate", Unit: "req/s", HigherIsBetter: true},
	{Name: "goodput", Label: "goodput", Unit: "%", HigherIsBetter: true},
}

// All returns the metrics in the order of reports.
func All() []Metric { return append([]Metric(nil), all...) }

// Find returns the metric of that name.
func Find(name string) (Metric, bool) {
	for _, m := range all {
		if m.Name == name {
			return m, true
		}
	}
	return Metric{}, false
}

package scenarios

import "slices"

// MetricKind says what a metric is, and so which way is worse.
type MetricKind string

// The kinds of metrics.
const (
	Latency    MetricKind = "latency"    // seconds; more is worse
	Throughput MetricKind = "throughput" // per second of the timed part; less is worse
	Share      MetricKind = "share"      // percent of the requests; less is worse
)

// Span is the part of a request's time that a latency is about.
type Span string

// The spans. Package results/metrics defines what begins and ends them.
const (
	TTFT         Span = "ttft"          // send to first token
	TTFTIntended Span = "ttft_intended" // intended send to first token
	TPOT         Span = "tpot"          // first to last token, a token's part of it
	EndToEnd     Span = "e2e"           // send to last token
	Gap          Span = "gap"           // a chunk to the next one
)

// Metric is a row of the table of metrics: all that is known about one number of
// a run but its formula, which is in package results/metrics.
type Metric struct {
	Name  string // as in scenario files and run.json
	Label string // for people: "TTFT p95"
	Unit  string // "s", "tok/s", "req/s", "%"
	Kind  MetricKind
	// Of is the span of a latency, Quantile (0 to 1) what is taken of its values.
	// Both are zero for other kinds.
	Of       Span
	Quantile float64
	// Gateable metrics may be named in a phase's primary list.
	Gateable bool
	// Core metrics are the five that the acceptance rule names: a report says
	// which of them nothing was decided about.
	Core bool
}

// metricTable has the metrics in the order of reports.
var metricTable = []Metric{
	{Name: "ttft_p50", Label: "TTFT p50", Unit: "s", Kind: Latency, Of: TTFT, Quantile: 0.50, Gateable: true, Core: true},
	{Name: "ttft_p95", Label: "TTFT p95", Unit: "s", Kind: Latency, Of: TTFT, Quantile: 0.95, Gateable: true, Core: true},
	{Name: "tpot_p50", Label: "TPOT p50", Unit: "s", Kind: Latency, Of: TPOT, Quantile: 0.50, Gateable: true, Core: true},
	{Name: "tpot_p95", Label: "TPOT p95", Unit: "s", Kind: Latency, Of: TPOT, Quantile: 0.95, Gateable: true, Core: true},
	{Name: "output_throughput", Label: "output throughput", Unit: "tok/s", Kind: Throughput, Gateable: true, Core: true},
	{Name: "e2e_p50", Label: "end to end p50", Unit: "s", Kind: Latency, Of: EndToEnd, Quantile: 0.50},
	{Name: "e2e_p95", Label: "end to end p95", Unit: "s", Kind: Latency, Of: EndToEnd, Quantile: 0.95},
	{Name: "gap_p50", Label: "chunk gap p50", Unit: "s", Kind: Latency, Of: Gap, Quantile: 0.50},
	{Name: "itl_p99", Label: "ITL p99", Unit: "s", Kind: Latency, Of: Gap, Quantile: 0.99},
	{Name: "ttft_intended_p50", Label: "TTFT from intended time p50", Unit: "s", Kind: Latency,
		Of: TTFTIntended, Quantile: 0.50},
	{Name: "ttft_intended_p95", Label: "TTFT from intended time p95", Unit: "s", Kind: Latency,
		Of: TTFTIntended, Quantile: 0.95},
	{Name: "request_rate", Label: "request rate", Unit: "req/s", Kind: Throughput},
	{Name: "goodput", Label: "goodput", Unit: "%", Kind: Share},
}

// Metrics returns the metrics in the order of reports.
func Metrics() []Metric { return append([]Metric(nil), metricTable...) }

// FindMetric returns the metric of that name. A caller that gets false has a name
// of another version or a typing mistake: there is no metric to fall back to.
func FindMetric(name string) (Metric, bool) {
	return firstMetric(func(m Metric) bool { return m.Name == name })
}

// MedianOf returns the metric that is the median of a span.
func MedianOf(of Span) (Metric, bool) {
	return firstMetric(func(m Metric) bool { return m.Kind == Latency && m.Of == of && m.Quantile == 0.5 })
}

func firstMetric(wanted func(Metric) bool) (Metric, bool) {
	for _, m := range metricTable {
		if wanted(m) {
			return m, true
		}
	}
	return Metric{}, false
}

// HigherIsBetter is the direction: false for times, true for rates and shares.
func (m Metric) HigherIsBetter() bool { return m.Kind != Latency }

// gateable are the names that a primary list may have.
func gateable() []string {
	may := slices.DeleteFunc(Metrics(), func(m Metric) bool { return !m.Gateable })
	return each(may, func(m Metric) string { return m.Name })
}

// UnknownPrimary finds a primary metric that the table does not have or does not
// let a gate use: a plan of another version can name one, and nothing here could
// judge it.
func (s *Scenario) UnknownPrimary() (name string, found bool) {
	for _, p := range s.Phases {
		for _, name := range p.Primary {
			if m, known := FindMetric(name); !known || !m.Gateable {
				return name, true
			}
		}
	}
	return "", false
}

// NotGated returns the core metrics that are primary in no phase: the report must
// say that nothing was decided about them.
func (s *Scenario) NotGated() []Metric {
	primary := map[string]bool{}
	for _, p := range s.Phases {
		for _, name := range p.Primary {
			primary[name] = true
		}
	}
	return slices.DeleteFunc(Metrics(), func(m Metric) bool { return !m.Core || primary[m.Name] })
}

package metrics

import (
	"math"
	"slices"

	"github.com/aituner/opprof/results"
)

// latency defines a time of one request, in seconds; ok is false where it is
// not defined.
type latency func(r *results.Request) (seconds float64, ok bool)

// quantiles are the metrics that are quantiles of a latency over requests.
var quantiles = []struct {
	name string
	p    float64
	of   latency
	open bool // only for an open loop
}{
	{"ttft_p50", 0.50, TTFT, false},
	{"ttft_p95", 0.95, TTFT, false},
	{"tpot_p50", 0.50, TPOT, false},
	{"tpot_p95", 0.95, TPOT, false},
	{"e2e_p50", 0.50, EndToEnd, false},
	{"e2e_p95", 0.95, EndToEnd, false},
	{"gap_p50", 0.50, gap, false},
	{"ttft_intended_p50", 0.50, ttftIntended, true},
	{"ttft_intended_p95", 0.95, ttftIntended, true},
}

// TTFT is the time to first token: request sent to the read of the first chunk
// with a token, in seconds.
func TTFT(r *results.Request) (seconds float64, ok bool) {
	return span(r.SentNS, r.FirstNS, 1), r.FirstNS > 0
}

// TPOT is the time per output token in seconds: (last - first)/(n - k), k being
// the tokens in the first chunk. It is not defined if n <= k.
func TPOT(r *results.Request) (seconds float64, ok bool) {
	rest := r.OutputTokens - r.FirstTokens
	if r.FirstNS <= 0 || r.FirstTokens < 1 || rest < 1 {
		return 0, false
	}
	return span(r.FirstNS, r.LastNS, rest), true
}

// EndToEnd is the time from send to the last token, in seconds. The end of the
// stream would add the server's bookkeeping.
func EndToEnd(r *results.Request) (seconds float64, ok bool) {
	return span(r.SentNS, r.LastNS, 1), r.LastNS > 0
}

// ttftIntended counts from the time at which the schedule wanted the request
// sent, so that a late client can't hide its lateness.
func ttftIntended(r *results.Request) (float64, bool) {
	return span(r.IntendedNS, r.FirstNS, 1), r.FirstNS > 0
}

// gap is the median time between two chunks; it needs two chunks.
func gap(r *results.Request) (float64, bool) {
	return span(0, r.GapMedianNS, 1), r.Chunks > 1
}

func span(from, to int64, parts int) float64 {
	return float64(to-from) / 1e9 / float64(parts)
}

// Compute returns the metrics of one phase from its request records; warm-up
// requests are passed over. values is in the units of All. undefined counts, by
// metric, successful timed requests without a value. Metrics that can't be
// computed are in neither map. Times from the intended time are given for an
// open loop only, which shows in an intended time that is not the send time.
func Compute(requests []results.Request) (values map[string]float64, undefined map[string]int) {
	values, undefined = map[string]float64{}, map[string]int{}
	timed := timedOnly(requests)
	good := slices.DeleteFunc(slices.Clone(timed), func(r *results.Request) bool { return !r.OK() })
	open := openLoop(timed)
	for _, q := range quantiles {
		if q.open && !open {
			continue
		}
		sorted := collect(good, q.of)
		if missing := len(good) - len(sorted); missing > 0 {
			undefined[q.name] = missing
		}
		if len(sorted) > 0 {
			values[q.name] = Quantile(sorted, q.p)
		}
	}
	rates(values, timed, good)
	return values, undefined
}

func timedOnly(requests []results.Request) []*results.Request {
	var timed []*results.Request
	for i := range requests {
		if !requests[i].Warmup {
			timed = append(timed, &requests[i])
		}
	}
	return timed
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

// rates sets throughput and request rate: successful timed requests over the
// timed seconds. These include requests that failed, their tokens do not count.
func rates(values map[string]float64, timed, good []*results.Request) {
	tokens := 0
	for _, r := range good {
		tokens += r.OutputTokens
	}
	seconds := timedSeconds(timed)
	if seconds <= 0 || tokens == 0 {
		return
	}
	values["output_throughput"] = float64(tokens) / seconds
	values["request_rate"] = float64(len(good)) / seconds
}

// TimedSeconds is how long the timed part of a phase lasted: from the first
// timed send to the read of the last timed token, for interleaved arms summed
// over the slices. 0: no token arrived.
func TimedSeconds(requests []results.Request) float64 { return timedSeconds(timedOnly(requests)) }

func timedSeconds(timed []*results.Request) float64 {
	type bounds struct{ first, last int64 }
	parts := map[int]bounds{} // by slice
	for _, r := range timed {
		if r.SentNS == 0 {
			continue
		}
		b, seen := parts[r.Slice]
		if !seen || r.SentNS < b.first {
			b.first = r.SentNS
		}
		b.last = max(b.last, r.LastNS)
		parts[r.Slice] = b
	}
	total := int64(0) // whole nanoseconds: the sum has no order
	for _, b := range parts {
		total += max(0, b.last-b.first)
	}
	return span(0, total, 1)
}

// Quantile is the p-quantile (0 to 1) of ascending values by linear
// interpolation between order statistics at h = (n-1)p: type 7 of Hyndman and
// Fan (The American Statistician 50, 1996), the default of R and numpy. It is
// NaN for an empty slice.
func Quantile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 || math.IsNaN(p) || p < 0 || p > 1 {
		return math.NaN()
	}
	h := float64(len(sorted)-1) * p
	low := int(math.Floor(h))
	if low == len(sorted)-1 {
		return sorted[low]
	}
	return sorted[low] + float64((h-float64(low))*(sorted[low+1]-sorted[low]))
}

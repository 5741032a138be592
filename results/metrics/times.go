package metrics

import "github.com/aituner/opprof/results"

// latency defines a time of one request, in seconds; ok is false where it is
// not defined.
type latency func(r *results.Request) (seconds float64, ok bool)

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

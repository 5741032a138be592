package metrics

import (
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// sample is a phase as formulas see it.
type sample struct {
	timed, good []*results.Request // good: those of timed that succeeded
	seconds     float64            // TimedSeconds
	limits      scenarios.Goodput
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

// tokenRate counts the tokens of successful timed requests over the timed
// seconds. These include requests that failed, their tokens do not count.
func (s *sample) tokenRate() (perSecond float64, ok bool) {
	tokens := s.tokens()
	return float64(tokens) / s.seconds, tokens > 0 && s.seconds > 0
}

// requestRate counts these requests themselves, where they gave any token.
func (s *sample) requestRate() (perSecond float64, ok bool) {
	return float64(len(s.good)) / s.seconds, s.tokens() > 0 && s.seconds > 0
}

func (s *sample) tokens() (n int) {
	for _, r := range s.good {
		n += r.OutputTokens
	}
	return n
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

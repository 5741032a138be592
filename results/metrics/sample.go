package metrics

import (
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/gaps"
	"github.com/aituner/opprof/scenarios"
)

// sample is a phase as formulas see it.
type sample struct {
	timed, good []*results.Request // good: those of timed that succeeded
	seconds     float64            // TimedSeconds
	gaps        gaps.Histogram
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

// gapQuantile is in seconds. Requests keep how many gaps they had, their sum and
// the largest: a histogram that does not fit them is of other gaps, and without
// one, as in runs of older clients, there is no value.
func (s *sample) gapQuantile(p float64) (seconds float64, ok bool) {
	var count int
	var sum, largest int64
	for _, r := range s.good {
		if r.Chunks > 1 {
			count, sum, largest = count+r.Chunks-1, sum+r.LastNS-r.FirstNS, max(largest, r.GapMaxNS)
		}
	}
	return s.gaps.Quantile(p) / 1e9, count > 0 && s.gaps.Fits(count, sum, largest)
}

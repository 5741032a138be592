package metrics

import (
	"time"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// goodput is the share of timed requests, in percent, that meet every limit. A
// failed request meets none. The time to first token counts from the intended
// time, which is the send time in a closed loop; an output without a time per
// token meets that limit. ok is false without limits or timed requests.
//
// The measure is that of Zhong et al., DistServe (OSDI 2024), as a share.
func (s *sample) goodput() (percent float64, ok bool) {
	if s.limits == (scenarios.Goodput{}) || len(s.timed) == 0 {
		return 0, false
	}
	met := 0
	for _, r := range s.timed {
		if r.OK() && within(r, ttftIntended, s.limits.TTFT) && within(r, TPOT, s.limits.TPOT) {
			met++
		}
	}
	return 100 * float64(met) / float64(len(s.timed)), true
}

func within(r *results.Request, of latency, limit time.Duration) bool {
	seconds, defined := of(r)
	return limit == 0 || !defined || seconds <= limit.Seconds()
}

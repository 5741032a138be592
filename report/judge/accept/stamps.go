package accept

import (
	"fmt"
	"slices"
	"time"

	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// longGap is the length from which the client lists a gap, ns.
const longGap = int64(50 * time.Millisecond)

// checkStamps finds requests whose times cannot have been measured: the client takes
// them in order from one clock that never goes back.
func (a *Run) checkStamps(s *scenarios.Scenario) {
	for _, phase := range phasesOf(a.Requests) {
		closed := planned(s, phase).Arrival.Kind == scenarios.ArrivalClosed
		n, all, first := 0, 0, ""
		for i := range a.Requests {
			r := &a.Requests[i]
			if r.Phase != phase {
				continue
			}
			all++
			if why := impossible(r, closed); why != "" {
				if n++; n == 1 {
					first = fmt.Sprintf("request %d %s", r.Index, why)
				}
			}
		}
		if n > 0 {
			a.add(view.ReasonDamaged, fmt.Sprintf("%d of %s of phase %s have times that no client measures, the first: %s; "+
				"get the original files, or measure again", n, view.Plural(all, "request", "requests"), phase, first))
		}
	}
}

// phasesOf are the phases of requests in order of appearance, identity pass included.
func phasesOf(requests []results.Request) (names []string) {
	for i := range requests {
		if name := requests[i].Phase; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// impossible says which two times of a request contradict each other, or "". A
// request that failed may lack some, of a schedule only an open loop has one.
func impossible(r *results.Request, closed bool) string {
	switch {
	case min(r.IntendedNS, r.SentNS, r.FirstNS, r.LastNS, r.EndNS) < 0:
		return "has a time before the run began"
	case r.OK() && min(r.SentNS, r.FirstNS, r.LastNS, r.EndNS) == 0:
		return "succeeded without a time of its send, of its tokens or of its end"
	case r.FirstNS > 0 && r.FirstNS < r.SentNS:
		return fmt.Sprintf("has its first token %s before its send", ns(r.SentNS-r.FirstNS))
	case r.LastNS < r.FirstNS:
		return fmt.Sprintf("has its last token %s before its first", ns(r.FirstNS-r.LastNS))
	case r.EndNS < max(r.SentNS, r.LastNS):
		return fmt.Sprintf("ended %s before its send or its last token", ns(max(r.SentNS, r.LastNS)-r.EndNS))
	case r.SentNS > 0 && r.SentNS < r.IntendedNS:
		return fmt.Sprintf("was sent %s before its time", ns(r.IntendedNS-r.SentNS))
	case closed && r.SentNS > 0 && r.SentNS != r.IntendedNS:
		return fmt.Sprintf("of a closed loop was sent %s after its time", ns(r.SentNS-r.IntendedNS))
	}
	return impossibleGap(r)
}

// impossibleGap does so for the gaps between the chunks of a request.
func impossibleGap(r *results.Request) string {
	longest := int64(0)
	for _, g := range r.LongGaps {
		if g[1] < g[0] {
			return fmt.Sprintf("has a gap that ends %s before it begins", ns(g[0]-g[1]))
		}
		longest = max(longest, g[1]-g[0])
	}
	switch {
	case min(r.GapMedianNS, r.GapMaxNS) < 0:
		return "has a negative gap between its chunks"
	case r.GapMedianNS > r.GapMaxNS:
		return fmt.Sprintf("has a median gap of %s and none above %s", ns(r.GapMedianNS), ns(r.GapMaxNS))
	case r.GapMaxNS > r.LastNS-r.FirstNS:
		return fmt.Sprintf("has a gap of %s within %s", ns(r.GapMaxNS), ns(r.LastNS-r.FirstNS))
	case r.GapMaxNS >= longGap && longest < r.GapMaxNS:
		return fmt.Sprintf("has a gap of %s that is not in its list of long ones", ns(r.GapMaxNS))
	}
	return ""
}

func ns(n int64) string { return time.Duration(n).String() }

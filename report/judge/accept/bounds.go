package accept

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/metrics"
)

// oneClock is by how much the wall clock may leave the monotonic one within a run
// that does not say so: what the rule wall-clock-step allows.
const oneClock = 500 * time.Millisecond

// boundsDiffer holds the wall times that run.json gives for its phases against the
// sends and tokens of the requests, which are on the monotonic clock: step records
// and lines of the log are put into phases by them. The two clocks lie equally far
// apart in all of them, and no phase leaves its run.
func boundsDiffer(a *Run) string {
	allowed := oneClock + time.Duration(math.Abs(a.Run.ClockStep)*1e9)
	byPhase := RequestsByPhase(a.Attempt)
	var clock int64 // how far the wall clock is from the other
	for i := range a.Run.Phases {
		p := &a.Run.Phases[i]
		if early := time.Duration(a.Run.Start.UnixNano() - p.WarmupStartNS); p.WarmupStartNS != 0 && early > allowed {
			return fmt.Sprintf("%s: its first send in run.json is %v before the start of the run", p.Name, early)
		}
		if late := time.Duration(p.TimedEndNS - a.Run.End.UnixNano()); late > allowed {
			return fmt.Sprintf("%s: its last token in run.json is %v after the end of the run", p.Name, late)
		}
		for _, b := range boundsOf(p, byPhase[p.Name]) {
			clock = cmp.Or(clock, b.wall-b.stamp)
			if off := time.Duration(b.wall - b.stamp - clock); off.Abs() > allowed && !b.never() {
				return fmt.Sprintf("%s: the wall time of the %s in run.json is %v from where the requests have it",
					p.Name, b.what, off)
			}
		}
	}
	return ""
}

// bound is one moment of a phase on both clocks, ns; 0: never reached.
type bound struct {
	what        string
	wall, stamp int64
}

// never: neither the record nor the requests have it.
func (b bound) never() bool { return b.wall == 0 && b.stamp == 0 }

func boundsOf(p *results.Phase, requests []results.Request) []bound {
	var first, timed, last int64
	for i := range requests {
		if r := &requests[i]; r.SentNS > 0 && (first == 0 || r.SentNS < first) {
			first = r.SentNS
		}
	}
	for _, w := range metrics.Windows(requests) {
		if timed == 0 || w.First < timed {
			timed = w.First
		}
		last = max(last, w.LastToken)
	}
	return []bound{
		{"first send", p.WarmupStartNS, first}, {"first timed send", p.TimedStartNS, timed},
		{"last timed token", p.TimedEndNS, last},
	}
}

package accept

import (
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
	allowed := oneClock.Nanoseconds() + int64(math.Abs(a.Run.ClockStep)*1e9)
	byPhase := RequestsByPhase(a.Attempt)
	var reference int64
	for _, p := range a.Run.Phases {
		if early := a.Run.Start.UnixNano() - p.WarmupStartNS; p.WarmupStartNS != 0 && early > allowed {
			return fmt.Sprintf("%s: its first send in run.json is %v before the start of the run", p.Name, time.Duration(early))
		}
		if late := p.TimedEndNS - a.Run.End.UnixNano(); late > allowed {
			return fmt.Sprintf("%s: its last token in run.json is %v after the end of the run", p.Name, time.Duration(late))
		}
		for _, b := range boundsOf(&p, byPhase[p.Name]) {
			if b.stamp == 0 && b.wall == 0 {
				continue
			}
			apart := b.wall - b.stamp
			if reference == 0 {
				reference = apart
			}
			if off := apart - reference; off > allowed || off < -allowed {
				return fmt.Sprintf("%s: the wall time of the %s in run.json is %v from where the requests have it", p.Name, b.what, time.Duration(off))
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
		{"first send", p.WarmupStartNS, first}, {"first timed send", p.TimedStartNS, timed}, {"last timed token", p.TimedEndNS, last},
	}
}

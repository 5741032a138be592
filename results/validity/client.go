package validity

import (
	"math"
	"time"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

const (
	maxUndefined   = 0.01 // share of requests without a value of a primary metric
	minConcurrency = 0.95 // of the stated streams, mean over the timed phase
)

// primaries: each primary metric is a positive number that nearly all requests
// contribute to.
func primaries(s *subject) {
	s.phases(func(plan scenarios.Phase, got *results.Phase) {
		for _, metric := range plan.Primary {
			v, ok := got.Metrics[metric]
			undefined := got.Undefined[metric]
			switch {
			case !ok:
				s.add(finding(rulePrimaryMissing, CauseClient, "%s of phase %s has no value; outputs need at least 16 tokens, in more than one chunk",
					metric, plan.Name).in(plan.Name).of(metric))
			case !(v > 0) || math.IsInf(v, 1): // also true for NaN
				s.add(finding(rulePrimaryMissing, CauseClient, "%s of phase %s is %v and must be a positive number; repeat the block",
					metric, plan.Name, v).in(plan.Name).of(metric))
			case float64(undefined) > maxUndefined*float64(got.Planned):
				s.add(finding(rulePrimaryUndefined, CauseClient, "%s of phase %s is undefined for %d of %d requests, whose tokens came in one chunk; at most 1 %% may be undefined: give the client or the engine more CPU",
					metric, plan.Name, undefined, got.Planned).in(plan.Name).of(metric))
			}
		}
	})
}

// probeLag: a client that is late itself measures its own lateness.
func probeLag(s *subject) {
	limit := s.scenario.Client.MaxProbeLagP99
	s.phases(func(plan scenarios.Phase, got *results.Phase) {
		switch c := &got.Client; {
		case c.Probes == 0:
			s.add(finding(ruleProbeLag, CauseClient, "the client's lateness was not probed in phase %s; repeat the block", plan.Name).in(plan.Name))
		case !(seconds(c.ProbeLagP99) <= limit):
			s.add(finding(ruleProbeLag, CauseClient, "the client's probe timer was %v late (p99) in phase %s, the limit is %v: give the client a free core",
				seconds(c.ProbeLagP99), plan.Name, limit).in(plan.Name))
		}
	})
}

// sendLateness: in an open loop a late send shifts the arrivals.
func sendLateness(s *subject) {
	limit := s.scenario.Client.MaxProbeLagP99
	s.phases(func(plan scenarios.Phase, got *results.Phase) {
		if late := seconds(got.Client.SendLateP99); plan.Arrival.Kind != scenarios.ArrivalClosed && late > limit {
			s.add(finding(ruleSendLate, CauseClient, "requests of phase %s were sent %v late (p99), the limit is %v: give the client a free core",
				plan.Name, late, limit).in(plan.Name))
		}
	})
}

func seconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(time.Microsecond)
}

// concurrency: a closed loop keeps the stated number of streams busy.
func concurrency(s *subject) {
	s.phases(func(plan scenarios.Phase, got *results.Phase) {
		if want := plan.Arrival.Streams; plan.Arrival.Kind == scenarios.ArrivalClosed && !(got.MeanLive >= minConcurrency*float64(want)) {
			s.add(finding(ruleConcurrency, CauseClient, "phase %s kept %.2f of %s busy on average and must keep at least 95 %% busy: plan more requests, or a warm-up longer than the ramp",
				plan.Name, got.MeanLive, counted(want, "stream", "streams")).in(plan.Name))
		}
	})
}

package load

import (
	"slices"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/gaps"
	"github.com/aituner/opprof/results/metrics"
	"github.com/aituner/opprof/scenarios"
)

// Result is what happened.
type Result struct {
	// Requests holds the requests that were started, in order of their index.
	Requests []results.Request
	// Wall clock, ns since the epoch: first send, first timed send, read of
	// the last timed token. 0 where it was not reached.
	WarmupStartNS, TimedStartNS, TimedEndNS int64
	Planned, Finished                       int     // timed requests; finished: successes
	Failed, Unsent                          int     // timed or warm-up
	MeanLive                                float64 // metrics.MeanLive
	Client                                  results.ClientHealth
	// Slices are the parts with a number of their own, without their position.
	Slices []results.Slice
	gaps   gaps.Histogram // of the finished timed requests
	// Dials counts connections opened, Redials those that replaced one which
	// was closed or too old between two requests. Neither is part of a TTFT.
	Dials, Redials int
	// Stopped says why the run ended before its last request, empty if it did
	// not: the context's cause, a server that refuses connections, or too many
	// failures.
	Stopped string
}

// Result puts together what the parts that were sent have left.
func (r *Session) Result() Result {
	all := r.spec.Workload.Requests
	res := Result{Planned: len(all) - r.spec.Workload.Warmup()}
	for k := range all {
		if !r.started[k] {
			res.Unsent++
			continue
		}
		res.add(r.records[k], r.sent[k])
	}
	if r.stopped != nil && res.Unsent+res.Failed > 0 {
		res.Stopped = r.stopped.Error()
	}
	res.Dials, res.Redials = r.pool.dials()
	r.health(&res)
	res.Client.KernelStamps = r.pool.stamped()
	return res
}

func (res *Result) add(record results.Request, s sent) {
	res.Requests = append(res.Requests, record)
	switch {
	case !record.OK():
		res.Failed++
	case !record.Warmup:
		res.Finished++
		res.gaps.Add(s.gaps...)
	}
	res.WarmupStartNS = earlier(res.WarmupStartNS, s.wall)
	if !record.Warmup {
		res.TimedStartNS = earlier(res.TimedStartNS, s.wall)
		res.TimedEndNS = max(res.TimedEndNS, s.last)
	}
	if record.Slice > 0 {
		res.slice(record.Slice, s)
	}
}

func (res *Result) slice(number int, s sent) {
	i := slices.IndexFunc(res.Slices, func(one results.Slice) bool { return one.Number == number })
	if i < 0 {
		i = len(res.Slices)
		res.Slices = append(res.Slices, results.Slice{Number: number})
	}
	one := &res.Slices[i]
	one.Requests++
	one.StartNS, one.EndNS = earlier(one.StartNS, s.wall), max(one.EndNS, s.last)
}

// earlier is the smaller of two times, where 0 is none.
func earlier(a, b int64) int64 {
	if a == 0 || (b != 0 && b < a) {
		return b
	}
	return a
}

// health fills in what depends on the bounds of the timed part.
func (r *Session) health(res *Result) {
	parts := metrics.Windows(res.Requests)
	if len(parts) == 0 {
		return
	}
	res.MeanLive = metrics.MeanLive(res.Requests)
	probeHealth(r.probes, parts, &res.Client)
	if r.spec.Workload.Open {
		res.Client.SendLateP99 = metrics.SendLateP99(res.Requests)
	}
	res.Client.GCPauses = int(r.pauses.cycles)
	res.Client.GCPauseSeconds = r.pauses.paused.Seconds()
}

// Phase is the part of a run's record that the client knows: everything but CPU
// seconds and the server's counters.
func (res *Result) Phase(plan scenarios.Phase) results.Phase {
	values, undefined := metrics.Compute(metrics.Phase{Requests: res.Requests, Gaps: res.gaps, Goodput: plan.Goodput})
	return results.Phase{
		Name:          plan.Name,
		WarmupStartNS: res.WarmupStartNS,
		TimedStartNS:  res.TimedStartNS,
		TimedEndNS:    res.TimedEndNS,
		Planned:       res.Planned,
		Finished:      res.Finished,
		Failed:        res.Failed,
		Unsent:        res.Unsent,
		Metrics:       values,
		Undefined:     undefined,
		Gaps:          res.gaps,
		MeanLive:      res.MeanLive,
		Client:        res.Client,
		Slices:        res.Slices,
	}
}

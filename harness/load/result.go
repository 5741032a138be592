package load

import (
	"context"
	"math"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/metrics"
	"github.com/aituner/opprof/scenarios"
)

// result puts together what the streams left.
func (r *runner) result(ctx context.Context, samples []lateness) Result {
	all := r.spec.Workload.Requests
	res := Result{Planned: len(all) - r.spec.Workload.Warmup()}
	for k := range all {
		if !r.started[k] {
			res.Unsent++
			continue
		}
		res.add(r.records[k], r.sent[k])
	}
	if ctx.Err() != nil && res.Unsent+res.Failed > 0 {
		res.Stopped = context.Cause(ctx).Error()
	}
	res.Dials, res.Redials = r.pool.dials()
	r.health(&res, samples)
	return res
}

func (res *Result) add(record results.Request, s sent) {
	res.Requests = append(res.Requests, record)
	switch {
	case !record.OK():
		res.Failed++
	case !record.Warmup:
		res.Finished++
	}
	res.WarmupStartNS = earlier(res.WarmupStartNS, s.wall)
	if !record.Warmup {
		res.TimedStartNS = earlier(res.TimedStartNS, s.wall)
		res.TimedEndNS = max(res.TimedEndNS, s.last)
	}
}

// earlier is the smaller of two times, where 0 is none.
func earlier(a, b int64) int64 {
	if a == 0 || (b != 0 && b < a) {
		return b
	}
	return a
}

// health fills in what depends on the bounds of the timed part.
func (r *runner) health(res *Result, samples []lateness) {
	first, lastSend, last := timedBounds(res.Requests)
	if first == 0 {
		return
	}
	res.MeanLive = meanLive(res.Requests, first, lastSend)
	probeHealth(samples, first, last, &res.Client)
	if r.spec.Workload.Open {
		res.Client.SendLateP99 = sendLateness(res.Requests)
	}
	now := readGC()
	res.Client.GCPauses = int(now.cycles - r.gc.cycles)
	res.Client.GCPauseSeconds = (now.paused - r.gc.paused).Seconds()
}

// timedBounds are the first and the last timed send and the last timed end, ns
// since the origin; 0 if nothing was sent.
func timedBounds(requests []results.Request) (first, lastSend, last int64) {
	for i := range requests {
		r := &requests[i]
		if r.Warmup || r.SentNS == 0 {
			continue
		}
		first = earlier(first, r.SentNS)
		lastSend, last = max(lastSend, r.SentNS), max(last, r.EndNS)
	}
	return first, lastSend, last
}

// meanLive is the mean number of requests in flight, warm-up included, between
// two times; if they are equal, the number in flight then.
func meanLive(requests []results.Request, from, to int64) float64 {
	if from == to {
		to++
	}
	live := 0.0
	for i := range requests {
		r := &requests[i]
		if r.SentNS > 0 {
			live += math.Max(0, float64(min(r.EndNS, to)-max(r.SentNS, from)))
		}
	}
	return live / float64(to-from)
}

// Phase is the part of a run's record that the client knows: everything but CPU
// seconds and the server's counters.
func (res *Result) Phase(plan scenarios.Phase) results.Phase {
	values, undefined := metrics.Compute(res.Requests)
	if share, ok := metrics.Goodput(res.Requests, plan.Goodput); ok {
		values["goodput"] = share
	}
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
		MeanLive:      res.MeanLive,
		Client:        res.Client,
	}
}

// Package load sends the requests of a workload to a server and records what
// came back and when.
//
// The client is built for low lag: one goroutine per stream reads its own
// connection, time stamps are taken when the socket read returns and before the
// bytes are looked at, all request bytes are built beforehand, and only the
// monotonic clock is used for durations. See README.md for definitions and for
// what is refused.
package load

import (
	"context"
	"fmt"
	"time"

	"github.com/aituner/opprof/harness/workload"
	"github.com/aituner/opprof/scenarios"
)

// maxFailures is the number of failed requests after which a run stops: one is
// enough to make it INVALID, some more show a pattern.
const maxFailures = 16

// Spec is one phase on one server.
type Spec struct {
	Target   Target
	Workload workload.Workload
	Arrival  scenarios.Arrival
	// OnTimed, if set, is called in a goroutine of its own when a Send sends its
	// first timed request. Send returns after it has returned.
	OnTimed func()
}

// Run sends the workload of one phase without a break. The returned error is for
// a spec that can't be run or a server that can't be reached before the first
// send; what goes wrong later is in the records and in Stopped. When the context
// ends, requests in flight fail and the remaining ones count as unsent.
func Run(ctx context.Context, spec Spec) (Result, error) {
	s, err := Open(ctx, spec)
	if err != nil {
		return Result{}, err
	}
	defer s.Close()
	s.Send(ctx, Part{To: len(spec.Workload.Requests)})
	return s.Result(), nil
}

// closedLoop starts the streams evenly over the ramp: stream i after
// i/streams of it; in a slice all at once. A stream sends the next request of the list as soon as its
// last one ended; warm-up and timed requests follow each other without a drain.
func (r *Session) closedLoop(ctx context.Context) {
	streams := len(r.pool.idle)
	r.next.Store(int64(r.From))
	for i, l := range r.pool.idle {
		wait := r.spec.Arrival.Ramp * time.Duration(i) / time.Duration(streams)
		if r.Slice > 0 {
			wait = 0
		}
		r.work.Go(func() {
			if !sleep(ctx, wait) {
				return
			}
			for ctx.Err() == nil {
				k := int(r.next.Add(1)) - 1
				if k >= r.To {
					return
				}
				r.send(ctx, l, k, i)
			}
		})
	}
}

// openLoop sends each request at its intended time, whatever the earlier ones
// do.
func (r *Session) openLoop(ctx context.Context) {
	requests := r.spec.Workload.Requests
	start := time.Now().Add(-requests[r.From].Offset)
	if r.From == 0 {
		start = time.Now()
	}
	for k := r.From; k < r.To; k++ {
		intended := start.Add(requests[k].Offset)
		if !sleep(ctx, time.Until(intended)) {
			return
		}
		r.records[k].IntendedNS = int64(intended.Sub(r.spec.Target.Origin))
		r.work.Go(func() {
			l := r.pool.take()
			r.send(ctx, l, k, 0)
			r.pool.put(l)
		})
	}
}

// send sends request k over a connection and judges the outcome.
func (r *Session) send(ctx context.Context, l *link, k, stream int) {
	request := r.spec.Workload.Requests[k]
	record := &r.records[k]
	record.Phase, record.Index, record.Warmup = r.spec.Workload.Phase, request.Index, request.Warmup
	record.Stream, record.WantTokens, record.CachedTokens, record.Slice = stream, request.MaxTokens, -1, r.Slice
	if err := l.ready(ctx); err != nil {
		r.refused(ctx, k, err)
		return
	}
	r.started[k] = true
	if !request.Warmup {
		r.timed.Do(r.timedStarts)
	}
	r.sent[k] = l.exchange(ctx, r.spec.Target, r.messages[k], record)
	if !r.spec.Workload.Open {
		record.IntendedNS = record.SentNS
	}
	if !record.OK() && r.failures.Add(1) == maxFailures {
		r.stop(fmt.Errorf("stopped after %d failed requests, the last: %s", maxFailures, record.Error))
	}
}

// refused ends the run: a server that takes no connections is gone, and
// hammering it helps nobody. A dial that the end of the load cut short leaves
// its request unsent.
func (r *Session) refused(ctx context.Context, k int, err error) {
	if ctx.Err() != nil {
		return
	}
	r.started[k] = true
	r.records[k].Error = err.Error()
	r.records[k].EndNS = int64(time.Since(r.spec.Target.Origin))
	r.stop(fmt.Errorf("stopped: the server takes no connections: %w", err))
}

func (r *Session) timedStarts() {
	r.hooks.Go(func() {
		r.gc = readGC()
		if r.spec.OnTimed != nil {
			r.spec.OnTimed()
		}
	})
}

// sleep waits and reports whether the context is still alive.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

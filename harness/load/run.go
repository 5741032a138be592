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
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aituner/opprof/harness/workload"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// maxFailures is the number of failed requests after which a run stops: one is
// enough to make it INVALID, some more show a pattern.
const maxFailures = 16

// Spec is one phase to run.
type Spec struct {
	Target   Target
	Workload workload.Workload
	Arrival  scenarios.Arrival
	// OnTimed, if set, is called once in a goroutine of its own when the first
	// timed request is sent. Run returns after it has returned.
	OnTimed func()
}

// Result is what happened.
type Result struct {
	// Requests holds the requests that were started, in order of their index.
	Requests []results.Request
	// Wall clock, ns since the epoch: first send, first timed send, read of
	// the last timed token. 0 where it was not reached.
	WarmupStartNS, TimedStartNS, TimedEndNS int64
	Planned, Finished                       int // timed requests; finished: successes
	Failed, Unsent                          int // timed or warm-up
	// MeanLive is the mean number of streams in flight between the first and
	// the last timed send. The drain that follows is left out: no load holds
	// its concurrency there.
	MeanLive float64
	Client   results.ClientHealth
	// Dials counts connections opened, Redials those that replaced one which
	// was closed or too old between two requests. Neither is part of a TTFT.
	Dials, Redials int
	// Stopped says why the run ended before its last request, empty if it did
	// not: the context's cause, a server that refuses connections, or too many
	// failures.
	Stopped string
}

// Run sends the workload of one phase. The returned error is for a spec that
// can't be run or a server that can't be reached before the first send; what
// goes wrong later is in the records and in Stopped. When the context ends,
// requests in flight fail and the remaining ones count as unsent.
func Run(ctx context.Context, spec Spec) (Result, error) {
	r, err := newRunner(spec)
	if err != nil {
		return Result{}, err
	}
	defer r.closeLinks()
	ctx, r.stop = context.WithCancelCause(ctx)
	defer r.stop(nil)
	send := r.closedLoop
	connections := min(spec.Arrival.Streams, len(spec.Workload.Requests))
	if spec.Workload.Open {
		send, connections = r.openLoop, r.firstConnections()
	}
	if err := r.connect(ctx, connections); err != nil {
		return Result{}, err
	}
	runtime.GC() // the garbage of the preparation is not collected in the timed part
	probe := startProbe(spec.Target.Origin)
	send(ctx)
	r.work.Wait()
	r.hooks.Wait()
	return r.result(ctx, probe.stop()), nil
}

// runner is the state of one Run.
type runner struct {
	spec     Spec
	messages []message
	records  []results.Request // by index
	sent     []sent            // by index
	started  []bool            // by index: the request was taken up
	next     atomic.Int64
	failures atomic.Int64
	stop     context.CancelCauseFunc
	timed    sync.Once
	gc       gcPauses // at the start of the timed part
	work     sync.WaitGroup
	hooks    sync.WaitGroup
	pool     pool
}

func newRunner(spec Spec) (*runner, error) {
	if err := spec.Target.check(); err != nil {
		return nil, err
	}
	n := len(spec.Workload.Requests)
	if n == spec.Workload.Warmup() {
		return nil, fmt.Errorf("load: phase %s has no timed request", spec.Workload.Phase)
	}
	if !spec.Workload.Open && spec.Arrival.Streams < 1 {
		return nil, fmt.Errorf("load: phase %s: a closed loop needs at least one stream", spec.Workload.Phase)
	}
	return &runner{
		spec:     spec,
		messages: spec.Target.messages(spec.Workload.Requests),
		records:  make([]results.Request, n),
		sent:     make([]sent, n),
		started:  make([]bool, n),
		pool:     pool{target: spec.Target},
	}, nil
}

// connect opens the first connections, a few at a time.
func (r *runner) connect(ctx context.Context, n int) error {
	links := make([]*link, n)
	errs := make([]error, n)
	slots := make(chan struct{}, 16)
	var dialling sync.WaitGroup
	for i := range n {
		links[i] = r.pool.open()
		slots <- struct{}{}
		dialling.Go(func() {
			errs[i] = links[i].ready(ctx)
			<-slots
		})
	}
	dialling.Wait()
	r.pool.idle = links
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("load: %d connections before phase %s: %w", n, r.spec.Workload.Phase, err)
	}
	return nil
}

// closedLoop starts the streams evenly over the ramp: stream i after
// i/streams of it. A stream sends the next request of the list as soon as its
// last one ended; warm-up and timed requests follow each other without a drain.
func (r *runner) closedLoop(ctx context.Context) {
	streams := len(r.pool.idle)
	for i, l := range r.pool.idle {
		wait := r.spec.Arrival.Ramp * time.Duration(i) / time.Duration(streams)
		r.work.Go(func() {
			if !sleep(ctx, wait) {
				return
			}
			for ctx.Err() == nil {
				k := int(r.next.Add(1)) - 1
				if k >= len(r.messages) {
					return
				}
				r.send(ctx, l, k, i)
			}
		})
	}
}

// openLoop sends each request at its intended time, whatever the earlier ones
// do.
func (r *runner) openLoop(ctx context.Context) {
	start := time.Now()
	for k, request := range r.spec.Workload.Requests {
		intended := start.Add(request.Offset)
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

// firstConnections is what an open loop opens before it starts: one for each
// request of two seconds, 8 to 256. It dials more when none is idle. A trace has
// no stated rate, only that of its times.
func (r *runner) firstConnections() int {
	all, rate := r.spec.Workload.Requests, r.spec.Arrival.Rate
	if last := all[len(all)-1].Offset.Seconds(); rate == 0 && last > 0 {
		rate = float64(len(all)) / last
	}
	return min(int(min(max(2*rate, 8), 256)), len(all))
}

// send sends request k over a connection and judges the outcome.
func (r *runner) send(ctx context.Context, l *link, k, stream int) {
	request := r.spec.Workload.Requests[k]
	record := &r.records[k]
	record.Phase, record.Index, record.Warmup = r.spec.Workload.Phase, request.Index, request.Warmup
	record.Stream, record.WantTokens, record.CachedTokens = stream, request.MaxTokens, -1
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
func (r *runner) refused(ctx context.Context, k int, err error) {
	if ctx.Err() != nil {
		return
	}
	r.started[k] = true
	r.records[k].Error = err.Error()
	r.records[k].EndNS = int64(time.Since(r.spec.Target.Origin))
	r.stop(fmt.Errorf("stopped: the server takes no connections: %w", err))
}

func (r *runner) timedStarts() {
	r.hooks.Go(func() {
		r.gc = readGC()
		if r.spec.OnTimed != nil {
			r.spec.OnTimed()
		}
	})
}

func (r *runner) closeLinks() {
	for _, l := range r.pool.all {
		l.drop()
	}
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

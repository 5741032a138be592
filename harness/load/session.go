package load

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/aituner/opprof/results"
)

// Part is a range of the workload's requests that is sent in one go.
type Part struct {
	From, To int // indices: From is the first, To follows the last
	Slice    int // number of the slice, noted in the records; 0: the phase is not cut
}

// Session is the client of one phase on one server. Its requests are sent part
// by part, so that the arms of a block can take turns.
type Session struct {
	spec     Spec
	messages []message
	records  []results.Request // by index
	sent     []sent            // by index
	started  []bool            // by index: the request was taken up
	next     atomic.Int64
	failures atomic.Int64
	pool     pool
	probes   []lateness
	pauses   gcPauses // within the timed parts
	stopped  error    // why nothing more is sent
	part              // the one that is being sent
}

// part is the state of one Send.
type part struct {
	Part
	stop  context.CancelCauseFunc
	timed sync.Once
	gc    gcPauses // at its first timed send
	work  sync.WaitGroup
	hooks sync.WaitGroup
}

// Open connects to the server.
func Open(ctx context.Context, spec Spec) (*Session, error) {
	r, err := newSession(spec)
	if err != nil {
		return nil, err
	}
	connections := min(spec.Arrival.Streams, len(spec.Workload.Requests))
	if spec.Workload.Open {
		connections = r.firstConnections()
	}
	if err := r.connect(ctx, connections); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Send sends a part of the workload and waits for its end. After a part that
// was stopped nothing is sent any more.
func (r *Session) Send(ctx context.Context, p Part) {
	if r.stopped != nil {
		return
	}
	r.part = part{Part: p}
	ctx, r.stop = context.WithCancelCause(ctx)
	defer r.stop(nil)
	runtime.GC() // earlier garbage is not collected in the timed part
	probe := startProbe(r.spec.Target.Origin)
	if r.spec.Workload.Open {
		r.openLoop(ctx)
	} else {
		r.closedLoop(ctx)
	}
	r.work.Wait()
	r.hooks.Wait()
	r.probes = append(r.probes, probe.stop()...)
	if r.gc != (gcPauses{}) {
		now := readGC()
		r.pauses.cycles += now.cycles - r.gc.cycles
		r.pauses.paused += now.paused - r.gc.paused
	}
	if ctx.Err() != nil {
		r.stopped = context.Cause(ctx)
	}
}

// Close closes the connections.
func (r *Session) Close() {
	for _, l := range r.pool.all {
		l.drop()
	}
}

func newSession(spec Spec) (*Session, error) {
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
	return &Session{
		spec:     spec,
		messages: spec.Target.messages(spec.Workload.Requests),
		records:  make([]results.Request, n),
		sent:     make([]sent, n),
		started:  make([]bool, n),
		pool:     pool{target: spec.Target},
	}, nil
}

// connect opens the first connections, a few at a time.
func (r *Session) connect(ctx context.Context, n int) error {
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

// firstConnections is what an open loop opens before it starts: one for each
// request of two seconds, 8 to 256. It dials more when none is idle. A trace has
// no stated rate, only that of its times.
func (r *Session) firstConnections() int {
	all, rate := r.spec.Workload.Requests, r.spec.Arrival.Rate
	if last := all[len(all)-1].Offset.Seconds(); rate == 0 && last > 0 {
		rate = float64(len(all)) / last
	}
	return min(int(min(max(2*rate, 8), 256)), len(all))
}

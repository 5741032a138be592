package harness

import (
	"context"
	"errors"
	"time"

	"github.com/aituner/opprof/harness/engine"
	"github.com/aituner/opprof/results"
)

// clockStep is by how many seconds the wall clock moved more than the monotonic
// clock between two readings of the wall clock.
func clockStep(begin, end time.Time, elapsed time.Duration) float64 {
	return (end.Sub(begin) - elapsed).Seconds()
}

// gpuLook observes the GPUs during one phase; nil observes nothing.
type gpuLook struct {
	gpus    *engine.GPUs
	watch   *engine.GPUWatch
	foreign []results.GPUProcess
	errs    []error
}

// watchGPUs lists foreign processes and begins to sample.
func (r *run) watchGPUs(ctx context.Context) *gpuLook {
	gpus := r.server.GPUs()
	if gpus == nil {
		return nil
	}
	l := &gpuLook{gpus: gpus}
	l.list(ctx, "before")
	var err error
	l.watch, err = gpus.Watch()
	l.errs = append(l.errs, err)
	return l
}

func (l *gpuLook) list(ctx context.Context, when string) {
	found, err := l.gpus.Foreign(ctx, when)
	l.foreign = append(l.foreign, found...)
	l.errs = append(l.errs, err)
}

// into ends the observation and notes what was seen. A GPU that cannot be looked
// at is no reason to end a run: the record says so.
func (l *gpuLook) into(ctx context.Context, record *results.Phase) {
	if l == nil {
		return
	}
	if l.watch != nil {
		var err error
		record.GPU, err = l.watch.Stop(record.TimedStartNS, record.TimedEndNS)
		l.errs = append(l.errs, err)
	}
	l.list(ctx, "after")
	record.ForeignGPU = l.foreign
	if err := errors.Join(l.errs...); err != nil {
		record.GPUProblem = err.Error()
	}
}

package harness

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/aituner/opprof/harness/load"
	"github.com/aituner/opprof/harness/workload"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// together is a block whose arms are served at the same time and take turns,
// slice by slice: a host that drifts within minutes then slows all of them.
type together struct {
	*campaign
	block results.Block
	runs  []*run // in the block's order
}

// measure carries out all runs of the block. The findings are in the order of
// the runs.
func (t *together) measure(ctx context.Context) ([][]results.Cause, error) {
	for _, r := range t.runs { // one after the other: a start disturbs the next
		r.start(ctx)
	}
	t.introduce()
	for i, ph := range t.plan.Scenario.Phases {
		t.phase(ctx, ph, t.work.phases[i])
	}
	for _, r := range t.runs {
		if r.serving() {
			r.outputs(ctx)
		}
	}
	t.finish()
	var findings [][]results.Cause
	for _, r := range t.runs {
		found, err := r.conclude()
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", r.key, err)
		}
		findings = append(findings, found)
	}
	return findings, nil
}

// finish stops the servers at the same time: nothing is measured any more, and
// each takes seconds.
func (t *together) finish() {
	var all sync.WaitGroup
	for _, r := range t.runs {
		if r.server != nil {
			r.doing("stopping server")
			all.Go(r.stop)
		}
	}
	all.Wait()
}

// introduce tells each server which processes beside it are not foreign.
func (t *together) introduce() {
	for _, r := range t.runs {
		for _, other := range t.runs {
			if other != r && other.server != nil && r.server != nil {
				r.server.GPUs().Beside(other.record.Server.PID)
			}
		}
	}
}

// phase sends the warm-up of each arm, then the slices in turn. An arm that
// fails drops out, the others go on: whose fault it is shows only beside them.
func (t *together) phase(ctx context.Context, ph scenarios.Phase, w workload.Workload) {
	arms := t.openPhases(ctx, ph, w)
	warmup := w.Warmup()
	var pace time.Duration // per request, mean over the arms
	for _, p := range arms {
		t.settle(ctx, p.run, "phase "+ph.Name+", warm-up")
		begin := time.Now()
		p.session.Send(ctx, load.Part{To: warmup})
		pace += time.Since(begin) / time.Duration(max(1, warmup)*len(arms))
	}
	parts := cut(w, ph.Arrival.Streams, pace, t.plan.Scenario.Design.Interleave.Slice)
	turns := turns(t.plan.Hash, results.Key{Block: t.block.Name(), Attempt: t.runs[0].key.Attempt, Arm: ph.Name}, len(parts))
	for i, part := range parts {
		order := slices.Clone(arms)
		if turns[i] {
			slices.Reverse(order)
		}
		for pos, p := range order {
			t.settle(ctx, p.run, fmt.Sprintf("phase %s, slice %d of %d", ph.Name, part.Slice, len(parts)))
			p.position[part.Slice] = pos
			t.send(ctx, arms, p, part)
		}
	}
	for _, p := range arms {
		p.close(ctx)
	}
	for _, p := range arms {
		p.run.keep()
	}
}

func (t *together) openPhases(ctx context.Context, ph scenarios.Phase, w workload.Workload) []*openPhase {
	var arms []*openPhase
	for _, r := range t.runs {
		if !r.serving() {
			continue
		}
		p, err := r.open(ctx, ph, w, nil)
		if err != nil {
			r.fail(r.blame(), fmt.Errorf("phase %s: %w", ph.Name, err))
			continue
		}
		arms = append(arms, p)
	}
	return arms
}

// settle waits until the server that was busy before has come to rest.
func (t *together) settle(ctx context.Context, r *run, what string) {
	r.doing(what)
	select {
	case <-ctx.Done():
	case <-time.After(t.plan.Scenario.Design.Interleave.Settle):
	}
}

// send sends one slice to one arm and notes what every server used meanwhile.
func (t *together) send(ctx context.Context, arms []*openPhase, active *openPhase, part load.Part) {
	before := make([]map[string]float64, len(arms))
	for i, p := range arms {
		before[i] = p.run.cpuSeconds()
	}
	begin := time.Now()
	active.session.Send(ctx, part)
	seconds := time.Since(begin).Seconds()
	for i, p := range arms {
		used := difference(p.run.cpuSeconds(), before[i])
		if p == active {
			p.cpu = sum(p.cpu, used)
			continue
		}
		delete(used, "client") // it worked for the active arm
		p.idle, p.idleFor = sum(p.idle, used), p.idleFor+seconds
	}
}

func sum(a, b map[string]float64) map[string]float64 {
	out := map[string]float64{}
	for _, m := range []map[string]float64{a, b} {
		for k, v := range m {
			out[k] += v
		}
	}
	return out
}

// cut divides the timed requests into an even number of slices, the same for
// all arms. pace is the time per request of the warm-up; under an open loop the
// schedule says how long the requests take. A slice of a closed loop keeps each
// stream busy for several requests, whatever the aimed-at length.
func cut(w workload.Workload, streams int, pace, length time.Duration) []load.Part {
	first := w.Warmup()
	timed := w.Requests[first:]
	lasts := pace * time.Duration(len(timed))
	most := len(timed) / max(1, 4*streams)
	if w.Open {
		lasts, most = timed[len(timed)-1].Offset-timed[0].Offset, len(timed)
	}
	pairs := int((lasts + length) / (2 * length)) // rounded
	n := 2 * max(1, min(pairs, most/2))
	var parts []load.Part
	from := 0
	for i := range n {
		to := (i + 1) * len(timed) / n
		if w.Open && i < n-1 {
			until := timed[0].Offset + lasts*time.Duration(i+1)/time.Duration(n)
			to = slices.IndexFunc(timed, func(r workload.Request) bool { return r.Offset >= until })
		}
		if to > from { // a stretch of the schedule may be empty
			parts = append(parts, load.Part{From: first + from, To: first + to, Slice: len(parts) + 1})
			from = to
		}
	}
	return parts
}

// turns says for each slice whether the arms take turns in reverse. Two
// neighbouring slices are ABBA or BAAB, drawn from the plan hash.
func turns(planHash string, key results.Key, n int) []bool {
	sum := sha256.Sum256([]byte(planHash + " " + key.Dir() + " turns"))
	rng := rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16])))
	out := make([]bool, n)
	for i := 0; i < n; i += 2 {
		out[i] = rng.IntN(2) == 0
		if i+1 < n {
			out[i+1] = !out[i]
		}
	}
	return out
}

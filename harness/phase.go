package harness

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/aituner/opprof/harness/engine"
	"github.com/aituner/opprof/harness/load"
	"github.com/aituner/opprof/harness/workload"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// phase drives one phase without a break.
func (r *run) phase(ctx context.Context, ph scenarios.Phase, w workload.Workload) {
	r.doing("phase " + ph.Name)
	var mu sync.Mutex
	var before map[string]float64
	p, err := r.open(ctx, ph, w, func() {
		at := r.cpuSeconds()
		mu.Lock()
		before = at
		mu.Unlock()
	})
	if err != nil {
		r.fail(r.blame(), fmt.Errorf("phase %s: %w", ph.Name, err))
		return
	}
	p.session.Send(ctx, load.Part{To: len(w.Requests)})
	p.cpu = difference(r.cpuSeconds(), before)
	p.close(ctx)
}

// openPhase is one phase of one run while its requests are sent.
type openPhase struct {
	run     *run
	plan    scenarios.Phase
	session *load.Session
	before  engine.Scrape
	gpus    *gpuLook
	// CPU seconds by role: of the timed parts, and of the server while the
	// slices of other arms were sent.
	cpu, idle map[string]float64
	idleFor   float64     // seconds of these slices
	position  map[int]int // of a slice among the arms, by its number
}

// open looks at the server and connects to it.
func (r *run) open(ctx context.Context, ph scenarios.Phase, w workload.Workload, onTimed func()) (*openPhase, error) {
	r.prove(ph.Name + ":before")
	before, err := engine.Metrics(ctx, r.server)
	if err != nil {
		return nil, err
	}
	r.record.Server.KVBlocks = before.KVBlocks
	s, err := load.Open(ctx, load.Spec{Target: r.target, Workload: w, Arrival: ph.Arrival, OnTimed: onTimed})
	if err != nil {
		return nil, err
	}
	return &openPhase{run: r, plan: ph, session: s, before: before, gpus: r.watchGPUs(ctx), position: map[int]int{}}, nil
}

// close ends the phase: its record and its requests are the run's from now on.
func (p *openPhase) close(ctx context.Context) {
	r := p.run
	p.session.Close()
	res := p.session.Result()
	record := res.Phase(p.plan)
	for i := range record.Slices {
		record.Slices[i].Position = p.position[record.Slices[i].Number]
	}
	p.gpus.into(ctx, &record)
	record.GPUProblem = r.private(record.GPUProblem)
	r.prove(p.plan.Name + ":after")
	record.Dials, record.Redials = res.Dials, res.Redials
	record.CPUSeconds, record.IdleCPUSeconds, record.IdleSeconds = p.cpu, p.idle, p.idleFor
	r.requests = append(r.requests, res.Requests...)
	if err := p.after(ctx, res.Stopped, &record); err != nil {
		r.fail(r.blame(), fmt.Errorf("phase %s: %w", p.plan.Name, err))
	}
	r.record.Phases = append(r.record.Phases, record)
}

// after says what kept the phase from its end, or else what the server counted.
func (p *openPhase) after(ctx context.Context, stopped string, record *results.Phase) error {
	state, dead := p.run.server.Exited()
	if stopped != "" && !dead {
		state, dead = p.run.gone()
	}
	if dead {
		return fmt.Errorf("the server ended by itself (%s)", state)
	}
	if stopped != "" {
		return errors.New(stopped)
	}
	after, err := engine.Metrics(ctx, p.run.server)
	record.Counters, record.Gauges = difference(after.Counters, p.before.Counters), edges(p.before.Gauges, after.Gauges)
	return err
}

// cpuSeconds of the server's roles and of this process.
func (r *run) cpuSeconds() map[string]float64 {
	out := map[string]float64{"client": ownCPUSeconds()}
	for role, s := range r.server.CPUSeconds() {
		out[role] = s
	}
	return out
}

func difference(after, before map[string]float64) map[string]float64 {
	out := map[string]float64{}
	for k, v := range after {
		out[k] = v - before[k]
	}
	return out
}

// edges pairs the gauges before and after a phase.
func edges(before, after map[string]float64) map[string][2]float64 {
	out := map[string][2]float64{}
	for k, v := range after {
		out[k] = [2]float64{before[k], v}
	}
	return out
}

package harness

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/aituner/opprof/harness/engine"
	"github.com/aituner/opprof/harness/load"
	"github.com/aituner/opprof/harness/workload"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/validity"
	"github.com/aituner/opprof/scenarios"
)

// run is one fresh server start of one arm, through all phases.
type run struct {
	*campaign
	block results.Block
	key   results.Key
	dir   string
	pos   int

	arm      scenarios.Arm
	server   engine.Server
	target   load.Target
	record   results.Run
	requests []results.Request
	identity *results.Identity
}

// measure carries the run out and writes its files. What went wrong with the
// server or the load is in the record and in the findings (the rules that make
// the run INVALID); the error is for what the machine or the files refuse.
func (r *run) measure(ctx context.Context) ([]string, error) {
	r.arm, _ = r.plan.Scenario.Arm(r.key.Arm)
	begin := time.Now()
	r.record = results.Run{Schema: results.Schema, Kind: "run", Key: r.key, BurnIn: r.block.BurnIn,
		Position: r.pos, Start: begin.UTC()}
	r.doing("starting server")
	server, err := r.Engine.Start(ctx, r.spec())
	if err != nil {
		class := "engine"
		if errors.Is(err, engine.ErrForeign) {
			class = "host"
		}
		r.fail(class, fmt.Errorf("start the server: %w", err))
	} else {
		r.server = server
		r.serve(ctx)
		r.finish()
	}
	end := time.Now()
	r.record.End, r.record.ClockStep = end.UTC(), clockStep(begin.Round(0), end.Round(0), end.Sub(begin))
	if err := r.save(); err != nil {
		return nil, err
	}
	var findings []string
	for _, f := range validity.Run(r.plan, &r.record, r.requests, r.identity) {
		findings = append(findings, f.Rule+": "+f.Message)
	}
	return findings, nil
}

func (r *run) spec() engine.Spec {
	nonce := r.plan.Scenario.Engine.Model
	if r.plan.Scenario.Engine.Kind != scenarios.EngineAttach {
		nonce = newNonce()
	}
	dir, err := filepath.Abs(r.dir)
	if err != nil {
		dir = r.dir
	}
	return engine.Spec{Engine: r.plan.Scenario.Engine, Arm: r.arm, RunDir: dir, Nonce: nonce, Seed: startSeed(r.plan, r.key)}
}

func newNonce() string {
	var b [6]byte
	rand.Read(b[:]) // never fails
	return "opbench-" + hex.EncodeToString(b[:])
}

// fail notes the first thing that went wrong and whose fault it is.
func (r *run) fail(class string, err error) {
	if r.record.Failure == "" {
		r.record.Failure, r.record.FailureClass = r.private(err.Error()), class
	}
}

func (r *run) doing(what string) {
	r.status.Run = fmt.Sprintf("block %s %s", r.key.Block, r.key.Arm)
	if r.key.Attempt > 1 {
		r.status.Run += fmt.Sprintf(" (attempt %d)", r.key.Attempt)
	}
	r.status.Doing = what
	r.observe()
}

// serve drives all phases and the identity pass.
func (r *run) serve(ctx context.Context) {
	r.record.Server = r.server.Info()
	r.prove("ready")
	r.target = load.Target{
		Dial: r.server.Dial, Host: "127.0.0.1", Model: r.record.Server.Model,
		Timeout: r.plan.Scenario.Client.RequestTimeout, Origin: time.Now().Add(-time.Millisecond),
	}
	if r.arm.Records() && r.plan.Scenario.Engine.Kind != scenarios.EngineAttach {
		if err := engine.AwaitHeader(ctx, filepath.Join(r.dir, "steps")); err != nil {
			r.fail("recorder", err)
			return
		}
	}
	for i, ph := range r.plan.Scenario.Phases {
		r.doing("phase " + ph.Name)
		if err := r.phase(ctx, ph, r.work.phases[i]); err != nil {
			r.fail(r.blame(), fmt.Errorf("phase %s: %w", ph.Name, err))
			return
		}
	}
	r.doing("identity pass")
	if err := r.outputs(ctx); err != nil {
		r.fail(r.blame(), err)
	}
}

// blame is the engine if its process is gone, else the harness: failed
// requests of a live server are judged one by one.
func (r *run) blame() string {
	if _, dead := r.server.Exited(); dead {
		return "engine"
	}
	return "harness"
}

func (r *run) phase(ctx context.Context, ph scenarios.Phase, w workload.Workload) error {
	r.prove(ph.Name + ":before")
	before, err := engine.Metrics(ctx, r.server)
	if err != nil {
		return err
	}
	r.record.Server.KVBlocks = before.KVBlocks
	gpus := r.watchGPUs(ctx)
	var mu sync.Mutex
	var cpu map[string]float64
	res, err := load.Run(ctx, load.Spec{Target: r.target, Workload: w, Arrival: ph.Arrival, OnTimed: func() {
		at := r.cpuSeconds()
		mu.Lock()
		cpu = at
		mu.Unlock()
	}})
	end := r.cpuSeconds()
	record := res.Phase(ph)
	gpus.into(ctx, &record)
	record.GPUProblem = r.private(record.GPUProblem)
	if err != nil {
		return err
	}
	r.prove(ph.Name + ":after")
	record.Dials, record.Redials = res.Dials, res.Redials
	record.CPUSeconds = difference(end, cpu)
	r.requests = append(r.requests, res.Requests...)
	if state, dead := r.server.Exited(); dead {
		err = fmt.Errorf("the server ended by itself (%s)", state)
	} else if res.Stopped != "" {
		err = errors.New(res.Stopped)
	} else {
		var after engine.Scrape
		after, err = engine.Metrics(ctx, r.server)
		record.Counters, record.Gauges = difference(after.Counters, before.Counters), edges(before.Gauges, after.Gauges)
	}
	r.record.Phases = append(r.record.Phases, record)
	return err
}

func (r *run) prove(when string) {
	if r.plan.Scenario.Engine.Kind != scenarios.EngineAttach {
		r.record.Server.Proofs = append(r.record.Server.Proofs, r.server.Prove(when))
	}
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

// outputs is the identity pass: prompts one at a time on the same server.
func (r *run) outputs(ctx context.Context) error {
	if len(r.work.identity) == 0 {
		return nil
	}
	tokens, requests, err := load.Sequential(ctx, r.target, r.work.identity)
	r.requests = append(r.requests, requests...)
	if err != nil {
		return err
	}
	r.identity = &results.Identity{Schema: results.Schema, Kind: "identity", Tokens: tokens}
	for i := range tokens {
		r.identity.Prompts = append(r.identity.Prompts, i)
	}
	r.record.Identity = summarize(tokens)
	return nil
}

// finish stops the server and reads what it left.
func (r *run) finish() {
	r.doing("stopping server")
	if state, dead := r.server.Exited(); dead {
		r.fail("engine", fmt.Errorf("the server ended by itself (%s)", state))
	}
	stop := r.server.Stop()
	seenAlive := r.record.Server
	r.record.Server = r.server.Info()
	r.record.Server.Proofs, r.record.Server.KVBlocks, r.record.Server.Stop = seenAlive.Proofs, seenAlive.KVBlocks, stop
	for _, l := range r.server.LogFindings() {
		l.Text = r.private(l.Text)
		r.record.Server.LogFindings = append(r.record.Server.LogFindings, l)
	}
	for k, v := range r.record.Server.Backends {
		r.record.Server.Backends[k] = r.private(v)
	}
	seen := map[string]bool{}
	for i := range r.requests {
		if f := r.requests[i].Fingerprint; f != "" && !seen[f] {
			seen[f] = true
			r.record.Server.Fingerprints = append(r.record.Server.Fingerprints, f)
		}
	}
}

// save writes the run's files; SHA256SUMS comes last and is the caller's.
func (r *run) save() error {
	r.doing("checking records")
	if err := r.readSteps(); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(r.dir, "server.pid")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := r.keepLog(); err != nil {
		return err
	}
	if r.identity != nil {
		if err := results.WriteJSON(filepath.Join(r.dir, "outputs.json"), r.identity); err != nil {
			return err
		}
	}
	if err := results.WriteRequests(filepath.Join(r.dir, "requests.jsonl.zst"), r.requests); err != nil {
		return err
	}
	if err := results.WriteJSON(filepath.Join(r.dir, "environment.json"), r.env); err != nil {
		return err
	}
	return results.WriteJSON(filepath.Join(r.dir, "run.json"), r.record)
}

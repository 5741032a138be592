package harness

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/aituner/opprof/harness/engine"
	"github.com/aituner/opprof/harness/load"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/steps"
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
	begin    time.Time
	server   engine.Server // nil: it did not start
	target   load.Target
	record   results.Run
	requests []results.Request
	identity *results.Identity
}

// measure carries the run out and writes its files. What went wrong with the
// server or the load is in the record and in the findings (the rules that make
// the run INVALID); the error is for what the machine or the files refuse.
func (r *run) measure(ctx context.Context) ([]results.Cause, error) {
	r.start(ctx)
	for i, ph := range r.plan.Scenario.Phases {
		if r.serving() {
			r.phase(ctx, ph, r.work.phases[i])
			r.keep()
		}
	}
	if r.serving() {
		r.outputs(ctx)
	}
	r.finish()
	return r.conclude()
}

// serving reports whether the server is up and nothing has gone wrong yet.
func (r *run) serving() bool { return r.server != nil && r.record.Failure == "" }

// start begins the record and the server.
func (r *run) start(ctx context.Context) {
	r.arm, _ = r.plan.Scenario.Arm(r.key.Arm)
	r.begin = time.Now()
	r.record = results.Run{Schema: results.Schema, Kind: "run", Key: r.key, BurnIn: r.block.BurnIn,
		Position: r.pos, Start: r.begin.UTC()}
	r.doing("starting server")
	server, err := r.opt.Engine.Start(ctx, r.spec())
	if err != nil {
		class := results.FailureEngine
		if errors.Is(err, engine.ErrForeign) {
			class = results.FailureHost
		}
		r.fail(class, fmt.Errorf("start the server: %w", err))
		return
	}
	r.server = server
	r.meet(ctx)
}

// conclude ends the record, writes the files and judges the run.
func (r *run) conclude() ([]results.Cause, error) {
	end := time.Now()
	r.record.End, r.record.ClockStep = end.UTC(), clockStep(r.begin.Round(0), end.Round(0), end.Sub(r.begin))
	if err := r.save(); err != nil {
		return nil, err
	}
	var findings []results.Cause
	for _, f := range validity.Run(r.plan, &r.record, r.requests, r.identity) {
		findings = append(findings, results.Cause{Rule: string(f.Rule), Message: f.Message})
	}
	return findings, nil
}

func (r *run) spec() engine.Spec {
	nonce := r.plan.Scenario.Engine.Model
	if r.starts() {
		nonce = newNonce()
	}
	dir, err := filepath.Abs(r.dir)
	if err != nil {
		dir = r.dir
	}
	return engine.Spec{Engine: r.plan.Scenario.Engine, Arm: r.arm, RunDir: dir, Nonce: nonce, Seed: startSeed(r.plan, r.key)}
}

// starts reports whether the server is the harness's own.
func (r *run) starts() bool { return r.plan.Scenario.Engine.Kind.Capabilities().Starts }

func newNonce() string {
	var b [6]byte
	rand.Read(b[:]) // never fails
	return "opbench-" + hex.EncodeToString(b[:])
}

// fail notes the first thing that went wrong and whose fault it is.
func (r *run) fail(class results.FailureClass, err error) {
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

// meet proves that the server is the one that was started, and in an arm that
// records that it does.
func (r *run) meet(ctx context.Context) {
	r.record.Server = r.server.Info()
	r.prove("ready")
	r.target = load.Target{
		Dial: r.server.Dial, Host: r.server.Host(), Model: r.record.Server.Model,
		Timeout: r.plan.Scenario.Client.RequestTimeout, Origin: time.Now().Add(-time.Millisecond),
	}
	if r.arm.Records() && r.starts() {
		if err := engine.AwaitHeader(ctx, filepath.Join(r.dir, steps.Folder)); err != nil {
			r.fail(results.FailureRecorder, err)
		}
	}
}

// blame is the engine if its process is gone, else the harness: failed
// requests of a live server are judged one by one.
func (r *run) blame() results.FailureClass {
	if _, dead := r.gone(); dead {
		return results.FailureEngine
	}
	return results.FailureHarness
}

// gone asks a server that gave cause for it whether it has ended. The sockets of
// a killed process are closed before it can be waited for, so one that seems to
// be alive is asked again for a second.
func (r *run) gone() (state string, dead bool) {
	for range 20 {
		if state, dead = r.server.Exited(); dead {
			return state, true
		}
		time.Sleep(50 * time.Millisecond)
	}
	return "", false
}

func (r *run) prove(when string) {
	if r.starts() {
		r.record.Server.Proofs = append(r.record.Server.Proofs, r.server.Prove(when))
	}
}

// outputs is the identity pass: prompts one at a time on the same server.
func (r *run) outputs(ctx context.Context) {
	if len(r.work.identity) == 0 {
		return
	}
	r.doing("identity pass")
	tokens, requests, err := load.Sequential(ctx, r.target, r.work.identity)
	r.requests = append(r.requests, requests...)
	if err != nil {
		r.fail(r.blame(), err)
		return
	}
	r.identity = &results.Identity{Schema: results.Schema, Kind: "identity", Tokens: tokens, PromptsSHA256: identityHash(r.work.identity)}
	for i := range tokens {
		r.identity.Prompts = append(r.identity.Prompts, i)
	}
	r.record.Identity = summarize(tokens)
}

// finish stops the server, if there is one, and reads what it left.
func (r *run) finish() {
	if r.server == nil {
		return
	}
	r.doing("stopping server")
	r.stop()
}

// stop ends the server and touches nothing but this run.
func (r *run) stop() {
	if state, dead := r.server.Exited(); dead {
		r.fail(results.FailureEngine, fmt.Errorf("the server ended by itself (%s)", state))
	}
	stop := r.server.Stop()
	seenAlive := r.record.Server
	r.record.Server = r.server.Info()
	r.record.Server.Proofs, r.record.Server.KVBlocks, r.record.Server.Stop = seenAlive.Proofs, seenAlive.KVBlocks, stop
	for _, l := range r.server.LogFindings() {
		l.Text = r.private(l.Text)
		r.record.Server.LogFindings = append(r.record.Server.LogFindings, l)
	}
	r.hidePaths()
	seen := map[string]bool{}
	for i := range r.requests {
		if f := r.requests[i].Fingerprint; f != "" && !seen[f] {
			seen[f] = true
			r.record.Server.Fingerprints = append(r.record.Server.Fingerprints, f)
		}
	}
}

// save writes the run's files; the seal comes last and is the caller's.
func (r *run) save() error {
	r.doing("checking records")
	if err := r.readSteps(); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(r.dir, results.ServerPIDFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := keepLog(r.dir, r.opt.Private); err != nil {
		return err
	}
	return r.write()
}

func (r *run) write() error {
	return results.SaveRun(r.dir, &results.Attempt{
		Run: &r.record, Requests: r.requests, Identity: r.identity, Environment: &r.env,
	})
}

// keep writes what there is at the end of a phase: if the harness is killed later, the
// phases that had ended are still known. A disk that refuses it refuses the end of the
// run too, which says so.
func (r *run) keep() {
	if r.record.Failure == "" {
		r.hidePaths()
		_ = r.write()
	}
}

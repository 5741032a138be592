package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// gather is how long a step stays open for requests before it is scheduled; it
// is part of the step's duration. On a virtual clock, all requests of one
// instant get in, whichever goroutine ran first: the same input then gives the
// same steps.
const gather = 100 * time.Microsecond

// ErrKilled is returned by Run when the fault kill-after struck and
// Config.Exit, unlike an exit, came back.
var ErrKilled = errors.New("simulated engine: killed by the fault kill-after")

// exitKilled is the exit code of a process that SIGKILL ended.
const exitKilled = 137

// Engine is one start of the simulated engine: New, Handler and Run together,
// Close after Run has returned.
type Engine struct {
	cfg         Config
	faults      Faults
	voice       voice
	pace        *pace
	rec         *recorder // nil: not recording
	fingerprint string
	born        time.Time
	arrived     atomic.Int64
	wake        chan struct{}
	stopped     chan struct{} // closed when Run returns

	mu     sync.Mutex
	sched  scheduler
	owed   bool // a request ended since the last step: vLLM makes one more
	next   int64
	totals totals
	killed bool
}

// totals are the counters behind /metrics.
type totals struct {
	prompt, output, finished   int64
	preemptions, queries, hits int64
}

// New checks the settings and opens the record file if there is to be one.
// Inside a testing/synctest bubble it must be called in the bubble.
func New(cfg Config, faults Faults) (*Engine, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Log == nil {
		cfg.Log = io.Discard
	}
	own := fingerprint(cfg)
	faults.spoil(&cfg)
	e := &Engine{
		cfg: cfg, faults: faults, fingerprint: own, born: time.Now(),
		wake: make(chan struct{}, 1), stopped: make(chan struct{}),
		sched: scheduler{maxSeqs: cfg.MaxNumSeqs, maxTokens: cfg.MaxNumBatchedTokens, kv: newKVCache(&cfg)},
	}
	e.voice = voice{vocab: cfg.VocabSize, faults: &e.faults, salt: rand.Uint64}
	recording := cfg.RecordDir != "" && !faults.has(faultNoRecords)
	e.pace = newPace(cfg, &e.faults, recording)
	if recording {
		rec, err := openRecorder(&e.cfg, &e.faults, e.born)
		if err != nil {
			return nil, err
		}
		e.rec = rec
	}
	fmt.Fprintf(cfg.Log, "INFO simulated engine: proves nothing about vLLM; model %s, recording %t\n", cfg.Model, recording)
	if faults.has(faultCompileCache) {
		fmt.Fprintln(cfg.Log, "INFO Using cache directory: {cache}/of-its-own/rank_0_0 for vLLM's torch.compile")
	}
	return e, nil
}

// fingerprint depends on the settings alone, as vLLM's does on its flags: equal
// for all starts with equal flags. Faults hide from it.
func fingerprint(cfg Config) string {
	cfg.Model, cfg.RecordDir, cfg.Seed, cfg.Log, cfg.Exit = "", "", 0, nil, nil
	h := uint64(0)
	for _, b := range fmt.Appendf(nil, "%+v", cfg) {
		h = chain(h, int(b))
	}
	return fmt.Sprintf("simulated-%08x", uint32(h))
}

// Run makes steps until ctx ends, and sleeps while there is nothing to do.
// Requests that are open when it returns are cut off. It may be called once.
// An error is a record that could not be written, or ErrKilled.
func (e *Engine) Run(ctx context.Context) error {
	defer close(e.stopped)
	var end time.Time // deadline of the step before, zero after a pause
	for {
		idle, ok := e.await(ctx)
		if !ok {
			return nil
		}
		if e.stall(ctx) || idle {
			end = time.Time{}
		}
		opened := time.Now()
		if !sleepUntil(ctx, opened.Add(gather)) {
			return nil
		}
		st := e.begin()
		if len(st.shares) > 0 {
			end = deadline(end, opened, e.pace.duration(st))
			if !sleepUntil(ctx, end) {
				return nil
			}
		}
		if err := e.finish(st); err != nil {
			return err
		}
	}
}

// await returns when a step is due; idle: it had to wait for it.
func (e *Engine) await(ctx context.Context) (idle, ok bool) {
	for !e.due() {
		idle = true
		select {
		case <-e.wake:
		case <-ctx.Done():
			return idle, false
		}
	}
	return idle, ctx.Err() == nil
}

func (e *Engine) due() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.owed || len(e.sched.running)+len(e.sched.waiting) > 0
}

// stall commits the faults that stop the engine and reports whether it did.
func (e *Engine) stall(ctx context.Context) bool {
	pause := e.faults.pause(e.next)
	if pause > 0 {
		sleepUntil(ctx, time.Now().Add(pause))
	}
	return pause > 0
}

func (e *Engine) begin() *step {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sched.evictOne = e.faults.hits(faultPreempt, e.next+1)
	st := e.sched.schedule()
	st.index, st.submit = e.next, time.Now()
	e.next++
	e.owed = false
	e.totals.preemptions += int64(st.preemptions)
	e.totals.queries += st.prefix.queries
	e.totals.hits += st.prefix.hits
	return st
}

// finish ends a step: the burst, the record, the faults that show in the log.
func (e *Engine) finish(st *step) error {
	st.ready = time.Now()
	if !e.burst(st) {
		if e.cfg.Exit != nil {
			e.cfg.Exit(exitKilled)
		}
		return ErrKilled
	}
	e.logFaults(st)
	if e.rec == nil {
		return nil
	}
	return e.rec.record(st, time.Now())
}

// burst gives one token to every request whose known tokens are all computed.
// False: the fault kill-after struck, the rest of the burst is lost.
func (e *Engine) burst(st *step) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, sh := range st.shares {
		if !sh.ends || sh.req.gone {
			continue
		}
		e.emit(sh.req)
		if f, on := e.faults.set[faultKillAfter]; on && e.totals.output >= f.n {
			e.killed = true
			return false
		}
	}
	return true
}

func (e *Engine) emit(r *request) {
	ev := event{token: e.voice.token(r.hash, r.output), cached: r.cached}
	r.output++
	e.totals.output++
	ev.last = r.output == r.limit && r.failAt == 0
	r.events <- ev // never blocks: there is room for every token
	if r.failAt > 0 && r.output >= r.failAt {
		r.events <- event{failed: true}
		e.drop(r)
	}
	if ev.last {
		e.totals.finished++
		e.totals.prompt += int64(len(r.prompt))
		e.drop(r)
	}
}

// drop removes a request; the lock is held.
func (e *Engine) drop(r *request) {
	r.gone, e.owed = true, true
	e.sched.remove(r)
}

// abort takes a request out whose client is gone; finished ones are untouched.
func (e *Engine) abort(r *request) {
	e.mu.Lock()
	if !r.gone {
		e.drop(r)
	}
	e.mu.Unlock()
	e.nudge()
}

// submit queues a request.
func (e *Engine) submit(number int64, prompt []int, want int) *request {
	r := &request{
		id: fmt.Sprintf("cmpl-%016x", mix(uint64(number))), prompt: prompt,
		hash: e.voice.open(prompt), limit: want, arrived: time.Now(),
	}
	if e.faults.hits(faultShortOutput, number) {
		r.limit = max(1, want-1)
	}
	if e.faults.hits(faultOneToken, number) {
		r.limit = 1
	}
	if f, on := e.faults.set[faultErrorAfterTokens]; on && number%errorEvery == 0 {
		r.failAt = int(min(f.n, int64(r.limit)))
	}
	r.events = make(chan event, r.limit+1)
	r.hashes = e.sched.kv.hashes(prompt)
	e.mu.Lock()
	e.sched.enqueue(r)
	e.mu.Unlock()
	e.nudge()
	return r
}

func (e *Engine) nudge() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// logFaults prints what a sick engine would. The text after the JIT line's
// kernel name and the traceback's frames are not vLLM's.
func (e *Engine) logFaults(st *step) {
	if e.faults.hits(faultLateJIT, st.index+1) {
		fmt.Fprintln(e.cfg.Log, "WARNING Triton kernel JIT compilation during inference: fused_moe_kernel. (fault of the simulated engine)")
	}
	if e.faults.has(faultTraceback) && st.index == midRun {
		fmt.Fprint(e.cfg.Log, "ERROR opprof recorder failed\nTraceback (most recent call last):\n"+
			"  File \"vllm/v1/opprof.py\", line 1, in finalize\nRuntimeError: fault of the simulated engine\n")
	}
	if e.faults.has(faultEngineError) && st.index == midRun {
		fmt.Fprintln(e.cfg.Log, "ERROR EngineCore encountered a fatal error. (fault of the simulated engine)")
	}
	if e.faults.has(faultProfiler) && st.index == midRun {
		fmt.Fprintln(e.cfg.Log, "INFO Starting profiler... (fault of the simulated engine)")
	}
}

// Close writes what is left of the records and the footer. Call it after Run
// has returned. A killed engine writes nothing more.
func (e *Engine) Close() error {
	switch {
	case e.rec == nil:
		return nil
	case e.killed:
		return e.rec.file.Close()
	}
	return e.rec.close()
}

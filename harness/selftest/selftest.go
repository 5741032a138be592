// Package selftest measures the client of package load against a server whose
// truth is known: a step server that writes one chunk to every live stream in
// one burst per step, as an engine with continuous batching does, and keeps the
// time of every write. Both stamp on the host's monotonic clock, so what the
// client says about a request is compared with what happened to that request.
//
// See README.md for what is compared, and peers/ for other clients against the
// same server.
package selftest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aituner/opprof/harness/load"
	"github.com/aituner/opprof/harness/workload"
	"github.com/aituner/opprof/scenarios"
)

// PromptTokens is the length of every prompt of a trial.
const PromptTokens = 32

// Trial is one number of streams to measure.
type Trial struct {
	Streams   int
	PerStream int // timed requests per stream; one more per stream warms up
	Tokens    int // per response, at least 2
	Step      time.Duration
	// Together starts all streams at once. They then stay in step: all
	// requests of a wave end in one burst and the next ones are sent at the
	// same moment, the hardest case. Else the streams start evenly over the
	// length of one request.
	Together bool
}

// Check says what is wrong with a trial, before anything is started.
func (t Trial) Check() error {
	total := t.Streams * (t.PerStream + 1)
	switch {
	case t.Streams < 1 || t.PerStream < 1:
		return fmt.Errorf("%d streams with %d requests each: both must be at least 1", t.Streams, t.PerStream)
	case t.Tokens < 2 || t.Tokens > maxTokens:
		return fmt.Errorf("%d tokens per request: use 2 to %d, a time per token needs two", t.Tokens, maxTokens)
	case t.Step <= 0:
		return fmt.Errorf("step %v: it must be positive", t.Step)
	case t.Streams >= maxTag || t.PerStream >= maxTag || total > maxTag:
		return fmt.Errorf("%d streams with %d requests each: more than %d requests can't be told apart", t.Streams, t.PerStream, maxTag)
	}
	return nil
}

// Measure runs a trial against the step server at an address (host:port), which
// serves the model and no other client meanwhile.
func Measure(ctx context.Context, address, model string, t Trial) (Point, error) {
	if err := t.Check(); err != nil {
		return Point{}, err
	}
	saw, err := observe(ctx, address, model, t)
	if err != nil {
		return Point{}, fmt.Errorf("%s: %w", streams(t.Streams), err)
	}
	return summarize(t, saw)
}

// observed is what both sides saw of a trial.
type observed struct {
	load   load.Result
	truth  *Truth
	origin origin
	used   float64 // CPU seconds of this process
}

func observe(ctx context.Context, address, model string, t Trial) (saw observed, err error) {
	if err := clearTruth(ctx, address); err != nil {
		return saw, err
	}
	saw.origin = readOrigin()
	spec := t.spec(load.Target{Dial: load.TCP(address), Host: address, Model: model, Origin: saw.origin.client})
	before := cpuSeconds()
	saw.load, err = load.Run(ctx, spec)
	saw.used = cpuSeconds() - before
	if err != nil {
		return saw, err
	}
	if saw.load.Stopped != "" {
		return saw, errors.New(saw.load.Stopped)
	}
	saw.truth, err = fetchTruth(ctx, address)
	return saw, err
}

// spec is a closed loop whose prompts carry the index of their request.
func (t Trial) spec(target load.Target) load.Spec {
	length := time.Duration(t.Tokens) * t.Step
	target.Timeout = 20*length + time.Minute // a server behind its steps is a finding, not a failure
	warm := t.Streams
	w := workload.Workload{Phase: "selftest"}
	for i := range warm + t.Streams*t.PerStream {
		w.Requests = append(w.Requests, workload.Request{
			Index: i, Prompt: taggedPrompt(i, PromptTokens), MaxTokens: t.Tokens, Warmup: i < warm,
		})
	}
	arrival := scenarios.Arrival{Kind: scenarios.ArrivalClosed, Streams: t.Streams}
	if !t.Together {
		arrival.Ramp = length
	}
	return load.Spec{Target: target, Workload: w, Arrival: arrival}
}

func streams(n int) string {
	if n == 1 {
		return "1 stream"
	}
	return fmt.Sprintf("%d streams", n)
}

package steps

import (
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// Options is what is known about a run beside its step files.
type Options struct {
	Phases []Phase // timed phases, in time order
	// Client is what the requests sent to this server explain; nil if unknown.
	Client *ClientTokens
	// TensorParallel is the server's tensor-parallel size, 0 if unknown. Above
	// 1 a normal stop may lose the footer.
	TensorParallel int
	// StepTime gets every step time that enters a quantile of a phase, in seconds;
	// phase is an index of Phases. It may be nil.
	StepTime func(phase int, seconds float64)
}

// Phase is a timed phase in wall time, ns since the epoch, both ends included.
type Phase struct {
	Name           string
	StartNS, EndNS int64
}

// ClientTokens sums over all requests sent to one server, warm-up and identity
// pass included: prompt - cached, and output - 1.
type ClientTokens struct {
	Prefill, Decode int64
}

// OptionsOf is what the records of a run are checked against, right after it and
// in every report: the phases whose timed part began, the tensor-parallel size of
// its arm, and what its requests explain.
func OptionsOf(s *scenarios.Scenario, run *results.Run, requests []results.Request) Options {
	arm, _ := s.Arm(run.Key.Arm)
	opt := Options{TensorParallel: s.TensorParallel(arm)}
	for _, p := range run.Phases {
		if p.TimedStartNS > 0 {
			opt.Phases = append(opt.Phases, Phase{Name: p.Name, StartNS: p.TimedStartNS, EndNS: p.TimedEndNS})
		}
	}
	if run.Failure == "" {
		opt.Client = clientTokens(requests)
	}
	return opt
}

// clientTokens is nil where a request failed or was cut: nobody knows what the
// server computed for it, and the recorder is not to blame for the difference.
// Where the server did not say how many prompt tokens were cached, none were: with
// prefix caching on that is INVALID by a rule of its own.
func clientTokens(requests []results.Request) *ClientTokens {
	var t ClientTokens
	for i := range requests {
		q := &requests[i]
		if !q.OK() {
			return nil
		}
		t.Prefill += int64(q.PromptTokens - max(0, q.CachedTokens))
		t.Decode += int64(max(0, q.OutputTokens-1))
	}
	return &t
}

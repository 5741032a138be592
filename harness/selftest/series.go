package selftest

import (
	"context"
	"io"

	"github.com/aituner/opprof/results"
)

// Series is a trial with several numbers of streams, one after the other.
type Series struct {
	Trial   Trial // without streams
	Streams []int
	// ServerCPU and ClientCPU are the cores that the two processes are bound to,
	// -1: not bound.
	ServerCPU, ClientCPU int
}

// Check finds wrong numbers before anything is started.
func (s *Series) Check() error {
	for _, t := range s.trials() {
		if err := t.Check(); err != nil {
			return err
		}
	}
	return nil
}

func (s *Series) trials() []Trial {
	var all []Trial
	for _, n := range s.Streams {
		t := s.Trial
		t.Streams = n
		all = append(all, t)
	}
	return all
}

// ChooseCPUs chooses the cores that were not named: the first one allowed for the
// server, unless it runs already, the second for the client. A machine with one
// core binds nothing.
func (s *Series) ChooseCPUs(attached bool) error {
	cpus, err := CPUs()
	if err != nil || len(cpus) < 2 {
		return err
	}
	if s.ServerCPU < 0 && !attached {
		s.ServerCPU = cpus[0]
	}
	if s.ClientCPU < 0 {
		s.ClientCPU = cpus[1]
	}
	return nil
}

// Measure binds this process to its core and runs every trial. A
// row is written to text as soon as it is there; version is that of this client. The
// report holds what was measured up to an error.
func (s *Series) Measure(ctx context.Context, address, model, version string, text io.Writer) (*Report, error) {
	r := &Report{Schema: results.Schema, Kind: "selftest", Version: version, StepSeconds: s.Trial.Step.Seconds(),
		PromptTokens: PromptTokens, Tokens: s.Trial.Tokens, PerStream: s.Trial.PerStream, Together: s.Trial.Together,
		ServerCPU: s.ServerCPU, ClientCPU: s.ClientCPU}
	if s.ClientCPU >= 0 {
		if err := Pin(s.ClientCPU); err != nil {
			return r, err
		}
	}
	if err := r.WriteHead(text); err != nil {
		return r, err
	}
	for _, t := range s.trials() {
		p, err := Measure(ctx, address, model, t)
		if err != nil {
			return r, err
		}
		r.Points = append(r.Points, p)
		if err := r.WriteRow(text, p); err != nil {
			return r, err
		}
	}
	return r, nil
}

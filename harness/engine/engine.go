// Package engine brings servers under test to life and ends them: a vllm
// process, the simulated engine, or an endpoint that someone else started.
//
// Every started server runs in its own process group, writes its own log, and
// is proved to be ours: a fresh port, a nonce as the served model name, and
// exactly one listening socket that belongs to the group.
package engine

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// Spec is one server start.
type Spec struct {
	Engine scenarios.Engine
	Arm    scenarios.Arm
	// RunDir is the absolute directory of the run: log and step records.
	RunDir string
	// Nonce is the served model name of this start.
	Nonce string
	// Seed differs per start and arm; only the simulated engine uses it.
	Seed uint64
}

// Server is a server under test that has answered.
type Server interface {
	// Dial opens a connection to the server.
	Dial(ctx context.Context) (net.Conn, error)
	// Host is the Host header of its requests: a gateway may choose by it.
	Host() string
	// Info is what is known about the server; Proofs and Stop are left empty.
	Info() results.Server
	// Prove looks at the listening sockets. when names the moment.
	Prove(when string) results.Proof
	// CPUSeconds since the start, by process role.
	CPUSeconds() map[string]float64
	// LogFindings are the lines of the log that matter so far.
	LogFindings() []results.LogLine
	// GPUs looks at the GPUs of the host; nil where that says nothing about the
	// server, or there are none.
	GPUs() *GPUs
	// Exited reports whether the server has ended without being asked to.
	Exited() (string, bool)
	// Stop ends the server: SIGINT, bounded wait, SIGKILL of its group.
	Stop() results.Stop
}

// Config holds what servers need from the machine.
type Config struct {
	// Environ is the environment that servers inherit, as in os.Environ.
	Environ []string
	// WorkDir holds link trees and the fixed import path (kind vllm).
	WorkDir string
	// Self is the path of the opbench binary (kind sim).
	Self string
	// ReadyTimeout bounds a start; StopTimeout a graceful stop.
	ReadyTimeout, StopTimeout time.Duration
	// fixedPort, if not 0, is every server's: tests start one where a left-over
	// server listens. Otherwise each start gets a free port.
	fixedPort int
}

// Engine starts servers of one kind.
type Engine interface {
	// Start starts a server and waits until it answers. The error says what
	// the server's log ended with.
	Start(ctx context.Context, spec Spec) (Server, error)
	// Describe is what identifies the software under test, for the
	// environment record: versions of vllm, torch, python.
	Describe(ctx context.Context) (map[string]string, error)
	// Close releases what the engine holds (locks, never servers).
	Close() error
}

// New returns the engine of a scenario. It prepares what all starts share and
// fails early if something is missing.
func New(ctx context.Context, s *scenarios.Scenario, cfg Config) (Engine, error) {
	if cfg.ReadyTimeout == 0 {
		cfg.ReadyTimeout = 15 * time.Minute
	}
	if cfg.StopTimeout == 0 {
		cfg.StopTimeout = 45 * time.Second
	}
	switch s.Engine.Kind {
	case scenarios.EngineVLLM:
		return newVLLM(ctx, s, cfg)
	case scenarios.EngineSim:
		return &simEngine{cfg}, nil
	case scenarios.EngineAttach:
		return attachEngine{}, nil
	}
	return nil, fmt.Errorf("engine kind %q is unknown", s.Engine.Kind)
}

// Package enginetest is an engine for tests: the simulated one, in the process of
// the test.
package enginetest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/aituner/opprof/harness/engine"
	"github.com/aituner/opprof/harness/internal/pipe"
	"github.com/aituner/opprof/harness/sim"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/steps"
	"github.com/aituner/opprof/scenarios"
)

// InProcess starts the simulated engine in this process, over connections in
// memory. Inside a testing/synctest bubble a whole campaign then runs on the
// bubble's virtual clock and writes a run directory without waiting.
type InProcess struct {
	// Sabotage returns faults for one start, in the text form of
	// `opbench sim serve --fault`; nil commits none.
	Sabotage func(spec engine.Spec) []string
}

// Describe marks the software as simulated.
func (*InProcess) Describe(context.Context) (map[string]string, error) {
	return map[string]string{"engine": "simulated"}, nil
}

// Close does nothing: every server is ended by its Stop.
func (*InProcess) Close() error { return nil }

// Start starts one simulated server with the scenario's arguments.
func (e *InProcess) Start(_ context.Context, spec engine.Spec) (engine.Server, error) {
	args := engine.LongOptions(scenario(spec).ArmArgs(spec.Arm))
	cfg, faults, err := e.settings(spec, args)
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(spec.RunDir, results.ServerLogFile))
	if err != nil {
		return nil, fmt.Errorf("start simulated engine: %w", err)
	}
	s := &inProcess{log: log, idle: faults.IdleTimeout(), done: make(chan struct{})}
	cfg.Log = io.MultiWriter(log, &s.seen)
	if s.engine, err = sim.New(cfg, faults); err != nil {
		log.Close()
		return nil, fmt.Errorf("start simulated engine: %w", err)
	}
	s.info = results.Server{Engine: scenarios.EngineSim, Simulated: true, Patch: spec.Arm.Patch, Model: spec.Nonce,
		Command: append([]string{"opbench", "sim", "serve"}, args...), Env: scenario(spec).ArmEnv(spec.Arm),
		Versions: map[string]string{"engine": "simulated"}, Backends: engine.ReadBackends(log.Name())}
	s.serve()
	return s, nil
}

func scenario(spec engine.Spec) *scenarios.Scenario { return &scenarios.Scenario{Engine: spec.Engine} }

// settings reads options as opbench sim serve does.
func (e *InProcess) settings(spec engine.Spec, args []string) (sim.Config, sim.Faults, error) {
	cfg := sim.DefaultConfig()
	var faults sim.Faults
	fs := pflag.NewFlagSet("sim serve", pflag.ContinueOnError)
	cfg.Flags(fs)
	faults.Flags(fs)
	if e.Sabotage != nil {
		for _, f := range e.Sabotage(spec) {
			args = append(slices.Clip(args), "--fault", f)
		}
	}
	err := fs.Parse(args)
	cfg.Model = spec.Nonce
	cfg.RecordDir = strings.ReplaceAll(scenario(spec).ArmEnv(spec.Arm)[scenarios.RecorderVariable], scenarios.RunDirToken, spec.RunDir)
	if faults.Unasked() {
		cfg.RecordDir = filepath.Join(spec.RunDir, steps.Folder)
	}
	if !fs.Changed("seed") {
		cfg.Seed = spec.Seed
	}
	return cfg, faults, err
}

// inProcess is a simulated server in this process.
type inProcess struct {
	engine *sim.Engine
	pipe   *pipe.Listener
	http   *http.Server
	cancel context.CancelFunc
	log    *os.File
	idle   time.Duration // idle connections are closed after it; 0: never
	seen   engine.Log
	info   results.Server
	done   chan struct{} // closed when the engine's loop has ended
	ended  error
}

func (s *inProcess) serve() {
	s.pipe = pipe.Listen()
	s.http = &http.Server{Handler: s.engine.Handler(), IdleTimeout: s.idle}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	go func() {
		s.ended = s.engine.Run(ctx)
		s.http.Close()
		close(s.done)
	}()
	go s.http.Serve(s.pipe)
}

func (s *inProcess) Host() string { return "127.0.0.1" }

func (s *inProcess) Dial(ctx context.Context) (net.Conn, error) { return s.pipe.Dial(ctx, "", "") }
func (s *inProcess) Info() results.Server                       { return s.info }
func (s *inProcess) LogFindings() []results.LogLine             { return s.seen.Findings() }
func (s *inProcess) GPUs() *engine.GPUs                         { return nil }
func (s *inProcess) CPUSeconds() map[string]float64             { return map[string]float64{} }

// Prove says what is true of a listener in memory: there is one and it is ours.
func (s *inProcess) Prove(when string) results.Proof {
	return results.Proof{When: when, Listeners: 1, Ours: 1}
}

func (s *inProcess) Exited() (string, bool) {
	select {
	case <-s.done:
		return fmt.Sprintf("simulated: %v", s.ended), true
	default:
		return "", false
	}
}

func (s *inProcess) Stop() results.Stop {
	begin := time.Now()
	_, dead := s.Exited()
	s.cancel()
	<-s.done
	err := s.engine.Close()
	s.log.Close()
	return results.Stop{Requested: !dead, Graceful: !dead && err == nil, Seconds: time.Since(begin).Seconds()}
}

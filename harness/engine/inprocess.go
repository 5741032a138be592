package engine

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

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
	Sabotage func(spec Spec) []string
}

// Describe marks the software as simulated.
func (*InProcess) Describe(context.Context) (map[string]string, error) {
	return map[string]string{"engine": "simulated"}, nil
}

// Close does nothing: every server is ended by its Stop.
func (*InProcess) Close() error { return nil }

// Start starts one simulated server with the scenario's arguments.
func (e *InProcess) Start(_ context.Context, spec Spec) (Server, error) {
	cfg, faults, err := e.settings(spec)
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(spec.RunDir, results.ServerLogFile))
	if err != nil {
		return nil, fmt.Errorf("start simulated engine: %w", err)
	}
	s := &inProcess{log: log, idle: faults.IdleTimeout(), done: make(chan struct{}), tail: &logTail{}}
	cfg.Log = io.MultiWriter(log, lineWriter{s.tail})
	if s.engine, err = sim.New(cfg, faults); err != nil {
		log.Close()
		return nil, fmt.Errorf("start simulated engine: %w", err)
	}
	s.info = results.Server{Engine: scenarios.EngineSim, Simulated: true, Patch: spec.Arm.Patch, Model: spec.Nonce,
		Command: append([]string{"opbench", "sim", "serve"}, longOptions(spec.args())...), Env: envTokens(recorderEnv(spec), spec, ""),
		Versions: map[string]string{"engine": "simulated"}, Backends: readBackends(log.Name())}
	s.serve()
	return s, nil
}

func recorderEnv(spec Spec) map[string]string {
	env := map[string]string{}
	addEnv(env, spec)
	return env
}

func (e *InProcess) settings(spec Spec) (sim.Config, sim.Faults, error) {
	cfg := sim.DefaultConfig()
	var faults sim.Faults
	fs := pflag.NewFlagSet("sim serve", pflag.ContinueOnError)
	cfg.Flags(fs)
	faults.Flags(fs)
	args := longOptions(spec.args())
	if e.Sabotage != nil {
		for _, f := range e.Sabotage(spec) {
			args = append(args, "--fault", f)
		}
	}
	err := fs.Parse(args)
	cfg.Model, cfg.RecordDir = spec.Nonce, recorderEnv(spec)[scenarios.RecorderVariable]
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
	pipe   *sim.PipeListener
	http   *http.Server
	cancel context.CancelFunc
	log    *os.File
	idle   time.Duration // idle connections are closed after it; 0: never
	tail   *logTail
	info   results.Server
	done   chan struct{} // closed when the engine's loop has ended
	ended  error
}

func (s *inProcess) serve() {
	s.pipe = sim.NewPipeListener()
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

func (s *inProcess) Dial(ctx context.Context) (net.Conn, error) { return s.pipe.Dial(ctx, "", "") }
func (s *inProcess) Info() results.Server                       { return s.info }
func (s *inProcess) LogFindings() []results.LogLine             { return s.tail.findings() }
func (s *inProcess) GPUs() *GPUs                                { return nil }
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

// lineWriter hands whole writes, which are lines, to the rules of a log.
type lineWriter struct{ tail *logTail }

func (w lineWriter) Write(p []byte) (int, error) {
	for _, l := range strings.Split(strings.TrimSuffix(string(p), "\n"), "\n") {
		w.tail.line(l)
	}
	return len(p), nil
}

package engine

import (
	"context"
	"maps"
	"path/filepath"
	"strconv"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// simEngine starts `opbench sim serve` as a child process.
type simEngine struct{ cfg Config }

func (e *simEngine) Close() error { return nil }

func (e *simEngine) Describe(context.Context) (map[string]string, error) {
	return map[string]string{"engine": "simulated"}, nil
}

func (e *simEngine) Start(ctx context.Context, spec Spec) (Server, error) {
	port, err := e.cfg.port()
	if err != nil {
		return nil, err
	}
	args := map[string]string{"seed": strconv.FormatUint(spec.Seed, 10)}
	maps.Copy(args, spec.args())
	argv := append([]string{"sim", "serve", "--host", "127.0.0.1", "--port", strconv.Itoa(port),
		"--served-model-name", spec.Nonce}, LongOptions(args)...)
	env := map[string]string{nonceVariable: spec.Nonce}
	addEnv(env, spec)
	p, err := launch(e.cfg, command{path: e.cfg.Self, args: argv, env: overlay(e.cfg.Environ, env), dir: spec.RunDir}, spec, port)
	if err != nil {
		return nil, err
	}
	p.role = func(bool, string) string { return "server" }
	p.info = results.Server{
		Engine: scenarios.EngineSim, Simulated: true, Patch: spec.Arm.Patch, Model: spec.Nonce, Port: port, PID: p.pid,
		Command: tokens(append([]string{"opbench"}, argv...), spec, port, ""), Env: envTokens(env, spec, ""),
		Versions: map[string]string{"engine": "simulated"},
	}
	if err := p.settle(ctx, spec); err != nil {
		return nil, err
	}
	p.info.Backends = ReadBackends(filepath.Join(spec.RunDir, results.ServerLogFile))
	return p, nil
}

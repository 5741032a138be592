package engine

import (
	"context"
	"fmt"
	"net"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// attachEngine measures endpoints that someone else started, one per arm.
// Restarts cannot be controlled, and the report says so.
type attachEngine struct{}

func (attachEngine) Close() error { return nil }

func (attachEngine) Describe(context.Context) (map[string]string, error) {
	return map[string]string{}, nil
}

func (attachEngine) Start(ctx context.Context, spec Spec) (Server, error) {
	addr, err := scenarios.Endpoint(spec.Arm.URL)
	if err != nil {
		return nil, fmt.Errorf("url %q: %w", spec.Arm.URL, err)
	}
	a := &attached{addr: addr}
	models, err := servedModels(ctx, a)
	if err != nil {
		return nil, fmt.Errorf("%s does not answer: %w", spec.Arm.URL, err)
	}
	for _, m := range models {
		if m == spec.Engine.Model {
			a.info = results.Server{Engine: scenarios.EngineAttach, Patch: spec.Arm.Patch, Model: m}
			return a, nil
		}
	}
	return nil, fmt.Errorf("%s serves %q, not engine.model %q", spec.Arm.URL, models, spec.Engine.Model)
}

type attached struct {
	addr string
	info results.Server
}

func (a *attached) Dial(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", a.addr)
}

func (a *attached) Host() string                    { return a.addr }
func (a *attached) Info() results.Server            { return a.info }
func (a *attached) Prove(when string) results.Proof { return results.Proof{When: when} }
func (a *attached) CPUSeconds() map[string]float64  { return nil }
func (a *attached) LogFindings() []results.LogLine  { return nil }
func (a *attached) GPUs() *GPUs                     { return nil }
func (a *attached) Exited() (string, bool)          { return "", false }
func (a *attached) Stop() results.Stop              { return results.Stop{Graceful: true} }

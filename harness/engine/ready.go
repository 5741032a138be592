package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/steps"
)

// settle waits until the started server answers, proves that it is ours, and
// applies the scenario's CPU scheduling. On failure the server is ended.
func (p *process) settle(ctx context.Context, spec Spec) error {
	err := p.ready(ctx, spec)
	if err == nil && len(spec.Engine.Schedule) > 0 {
		var set map[string]string
		if set, err = p.applySchedule(spec.Engine.Schedule); err == nil {
			p.info.Schedule = set
		}
	}
	if err == nil {
		p.info.ReadyIn = time.Since(p.start).Seconds()
		return nil
	}
	p.Stop()
	return err
}

// ErrForeign marks a server that answered but is not the one just started, or
// one that shares its port.
var ErrForeign = errors.New("foreign server")

func (p *process) ready(ctx context.Context, spec Spec) error {
	ctx, cancel := context.WithTimeout(ctx, p.cfg.ReadyTimeout)
	defer cancel()
	logPath := filepath.Join(spec.RunDir, results.ServerLogFile)
	for {
		if state, dead := p.Exited(); dead {
			return fmt.Errorf("the server ended before it answered (%s); its log ends with:\n%s", state, lastLines(logPath, 12))
		}
		err := p.answers(ctx, spec.Nonce)
		if err == nil || errors.Is(err, ErrForeign) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the server did not answer within %s (last: %v); its log ends with:\n%s",
				time.Since(p.start).Round(time.Second), err, lastLines(logPath, 12))
		case <-time.After(250 * time.Millisecond):
		}
	}
}

// answers asks for the served models and accepts only our nonce from a socket
// that only our process group listens on.
func (p *process) answers(ctx context.Context, nonce string) error {
	proof := p.Prove("ready")
	if proof.Listeners > proof.Ours {
		return fmt.Errorf("%w: %s: end that process first", ErrForeign, proof.Detail)
	}
	models, err := servedModels(ctx, p)
	if err != nil {
		return err
	}
	for _, m := range models {
		if m == nonce {
			return nil
		}
	}
	return fmt.Errorf("%w: port %d serves %q, the server just started was told to serve %q", ErrForeign, p.port, models, nonce)
}

func servedModels(ctx context.Context, s Server) ([]string, error) {
	body, err := get(ctx, s, "/v1/models")
	if err != nil {
		return nil, err
	}
	var list struct{ Data []struct{ ID string } }
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, fmt.Errorf("GET /v1/models: %w", err)
	}
	var names []string
	for _, m := range list.Data {
		names = append(names, m.ID)
	}
	return names, nil
}

// get fetches a small document from a server over a connection of its own.
func get(ctx context.Context, s Server, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	conn, err := s.Dial(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.Host()+path, nil)
	if err != nil {
		return nil, err
	}
	tr := &http.Transport{DialContext: dialOnce(conn), DisableKeepAlives: true}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 8<<20))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s", path, resp.Status)
	}
	return body, err
}

// headerWait bounds how long a recorder may take to write its header line
// after the server has answered.
const headerWait = 10 * time.Second

// AwaitHeader waits until a recording arm's header line of this start exists.
func AwaitHeader(ctx context.Context, stepsDir string) error {
	ctx, cancel := context.WithTimeout(ctx, headerWait)
	defer cancel()
	for {
		names, _ := filepath.Glob(filepath.Join(stepsDir, "*.jsonl"))
		packed, _ := filepath.Glob(filepath.Join(stepsDir, "*"+steps.PackedExt))
		for _, n := range append(names, packed...) {
			if data, err := os.ReadFile(n); err == nil && strings.Contains(firstLine(string(data)), `"header"`) {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("no recorder header in %s within %s of the server's first answer: the arm does not record", stepsDir, headerWait)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// firstLine is the header line of a step file, which of a packed one comes
// behind 16 bytes.
func firstLine(s string) string {
	if rest, packed := strings.CutPrefix(s, "OPPROF3\n"); packed {
		s = rest[min(len(rest), 8):]
	}
	line, _, whole := strings.Cut(s, "\n")
	if !whole {
		return ""
	}
	return line
}

// Metrics reads what a server's /metrics says that explains a run.
func Metrics(ctx context.Context, s Server) (Scrape, error) {
	body, err := get(ctx, s, "/metrics")
	if err != nil {
		return Scrape{}, fmt.Errorf("read /metrics: %w", err)
	}
	return parseMetrics(body, s.Info().Engine.Capabilities().Metrics)
}

package bench

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/harness/sim"
)

const attachScenario = `
scenario: attached
purpose: correctness
about: two endpoints that somebody else started
engine: {kind: attach, model: somebodys-model}
arms:
  old: {patch: none, url: "http://%s"}
  new: {patch: none, url: "http://%s"}
phases:
  - name: one
    source: {kind: synthetic, requests: 4, prompt_tokens: 8, output_tokens: 8, seed: 1, vocab_size: 500}
    arrival: {kind: closed, streams: 2}
    warmup: {requests: 2}
design: {blocks: 1, seed: 1, cooldown: 0s}
identity: {prompts: 8, prompt_tokens: 8, output_tokens: 8, min_distinct: 3, expect: equal}
`

// endpoint is a server that the harness did not start.
func endpoint(t *testing.T, faults ...string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	cfg := sim.DefaultConfig()
	cfg.Model = "somebodys-model"
	var f sim.Faults
	require.NoError(t, f.Set(strings.Join(faults, ",")))
	signals := make(chan os.Signal, 1)
	done := make(chan error, 1)
	a := &app{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}, signals: signals}
	go func() { done <- a.serveSim(l, cfg, f) }()
	t.Cleanup(func() {
		signals <- os.Interrupt
		assert.NoError(t, <-done)
		close(signals)
	})
	return l.Addr().String()
}

// Attached endpoints are measured as they are, and the report says that nobody
// controlled their restarts.
func TestAttachedEndpoints(t *testing.T) {
	for _, c := range []struct {
		name   string
		faults []string
		code   int
		want   string
	}{
		{"equal outputs", nil, 0, "PASS(checks)"},
		{"one flips a token", []string{"flip-token=2"}, 10, "FAIL(identity)"},
	} {
		dir := t.TempDir()
		text := fmt.Sprintf(attachScenario, endpoint(t), endpoint(t, c.faults...))
		path := filepath.Join(dir, "attached.yaml")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		var out, progress bytes.Buffer
		a := &app{stdout: &out, stderr: &progress, cache: dir}
		code := a.main([]string{"run", "-o", filepath.Join(dir, "runs"), path})
		assert.Equal(t, c.code, code, "%s: %s%s", c.name, out.String(), progress.String())
		assert.Contains(t, out.String(), c.want, c.name)
		assert.Contains(t, unwrap(out.String()), "restarts are not controlled", c.name)
	}
}

package sim

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/harness/internal/pipe"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/steps"
)

// rig is an engine behind an HTTP server on a virtual clock.
type rig struct {
	t      *testing.T
	engine *Engine
	client *http.Client
	dir    string // run directory
	log    bytes.Buffer
	exits  []int
	start  time.Time
	stop   func() error // ends Run, then everything else

	mu              sync.Mutex
	prefill, decode int64 // what the finished requests explain
}

// onClock runs body against a fresh engine in a synctest bubble; edit may
// change its settings.
func onClock(t *testing.T, edit func(*Config), faults string, body func(*rig)) *rig {
	t.Helper()
	f, err := parseFaults(faults)
	require.NoError(t, err)
	g := &rig{t: t, dir: t.TempDir()}
	synctest.Test(t, func(t *testing.T) {
		g.open(t, edit, f)
		body(g)
		_ = g.stop()
		time.Sleep(time.Second) // net/http lingers on connections with unread bodies
	})
	return g
}

func (g *rig) open(t *testing.T, edit func(*Config), f Faults) {
	cfg := DefaultConfig()
	cfg.Seed = 1
	cfg.Log = &g.log
	cfg.RecordDir = filepath.Join(g.dir, steps.Folder)
	cfg.Exit = func(code int) { g.exits = append(g.exits, code) }
	if edit != nil {
		edit(&cfg)
	}
	engine, err := New(cfg, f)
	require.NoError(t, err)
	g.engine, g.start = engine, time.Now()

	ctx, cancel := context.WithCancel(context.Background())
	listener := pipe.Listen()
	server := &http.Server{Handler: engine.Handler()}
	ran, served := make(chan error, 1), make(chan error, 1)
	go func() { ran <- engine.Run(ctx) }()
	go func() { served <- server.Serve(listener) }()
	transport := &http.Transport{DialContext: listener.Dial, DisableCompression: true, MaxIdleConnsPerHost: 64}
	g.client = &http.Client{Transport: transport}
	g.stop = sync.OnceValue(func() error {
		cancel()
		err := <-ran
		transport.CloseIdleConnections()
		require.NoError(t, server.Close())
		<-served
		require.NoError(t, engine.Close())
		return err
	})
}

// parseFaults reads faults in their text form.
func parseFaults(text string) (Faults, error) {
	var f Faults
	err := f.Set(text)
	return f, err
}

// result is what a client saw of one request.
type result struct {
	status  int
	tokens  []int
	at      []time.Duration // of every chunk, since the engine's start
	chunks  []map[string]any
	usage   map[string]any
	model   string
	finish  string
	failure string
	done    bool
}

func body(prompt []int, n int) map[string]any {
	return map[string]any{
		"model": "simulated", "prompt": prompt, "max_tokens": n, "temperature": 0, "ignore_eos": true,
		"return_token_ids": true, "stream": true, "stream_options": map[string]any{"include_usage": true},
	}
}

// ask sends one streaming request and reads it to its end.
func (g *rig) ask(prompt []int, n int) *result {
	out := g.send(context.Background(), body(prompt, n))
	if out.finish == "length" {
		cached := out.usage["prompt_tokens_details"].(map[string]any)["cached_tokens"].(float64)
		g.mu.Lock()
		g.prefill += int64(len(prompt)) - int64(cached)
		g.decode += int64(len(out.tokens)) - 1
		g.mu.Unlock()
	}
	return out
}

func (g *rig) post(ctx context.Context, payload []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://sim/v1/completions", bytes.NewReader(payload))
	require.NoError(g.t, err)
	return g.client.Do(req)
}

func (g *rig) send(ctx context.Context, payload any) *result {
	text, err := json.Marshal(payload)
	require.NoError(g.t, err)
	resp, err := g.post(ctx, text)
	if err != nil {
		return &result{failure: err.Error()}
	}
	defer resp.Body.Close()
	out := &result{status: resp.StatusCode}
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(resp.Body)
		out.failure = string(text)
		return out
	}
	in := bufio.NewReader(resp.Body)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			if err != io.EOF {
				out.failure = err.Error()
			}
			return out
		}
		g.take(out, strings.TrimSpace(line))
	}
}

func (g *rig) take(out *result, line string) {
	data, ok := strings.CutPrefix(line, "data: ")
	if !ok || data == "[DONE]" {
		out.done = out.done || ok
		return
	}
	var chunk map[string]any
	require.NoError(g.t, json.Unmarshal([]byte(data), &chunk), data)
	if chunk["error"] != nil {
		out.failure = data
		return
	}
	out.model = chunk["model"].(string)
	out.chunks = append(out.chunks, chunk)
	choices := chunk["choices"].([]any)
	if len(choices) == 0 {
		out.usage = chunk["usage"].(map[string]any)
		return
	}
	choice := choices[0].(map[string]any)
	for _, id := range choice["token_ids"].([]any) {
		out.tokens = append(out.tokens, int(id.(float64)))
	}
	out.at = append(out.at, time.Since(g.start))
	if reason, ok := choice["finish_reason"].(string); ok {
		out.finish = reason
	}
}

// askAll sends requests at the same time.
func (g *rig) askAll(prompts [][]int, n int) []*result {
	out := make([]*result, len(prompts))
	var wg sync.WaitGroup
	for i, p := range prompts {
		wg.Go(func() { out[i] = g.ask(p, n) })
	}
	wg.Wait()
	return out
}

// get reads a page.
func (g *rig) get(path string) (int, string) {
	resp, err := g.client.Get("http://sim" + path)
	require.NoError(g.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(g.t, err)
	return resp.StatusCode, string(text)
}

// summary closes the engine and checks its records against the client.
func (g *rig) summary() *results.Steps {
	time.Sleep(time.Millisecond) // the empty step behind the last request
	_ = g.stop()
	s, err := steps.Summarize(results.Folder(g.dir), steps.Options{Client: &steps.ClientTokens{Prefill: g.prefill, Decode: g.decode}})
	require.NoError(g.t, err)
	return s
}

// failed lists the checks that failed.
func failed(s *results.Steps) []string {
	ids := []string{}
	for _, c := range s.Checks {
		if c.Failed > 0 {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// prompts makes n different prompts of a length.
func prompts(n, length int) [][]int {
	out := make([][]int, n)
	for i := range out {
		for j := range length {
			out[i] = append(out[i], int(mix(uint64(i*100_003+j))%512))
		}
	}
	return out
}

func ms(f float64) time.Duration { return time.Duration(f * float64(time.Millisecond)) }

func describe(r *result) string { return fmt.Sprintf("status %d, failure %q", r.status, r.failure) }

package sim

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/results/steps"
)

// raw sends one streaming request and gives the body as it came, with the error
// that ended it.
func (g *rig) raw(n int) (string, error) {
	text, err := json.Marshal(body(prompts(1, 10)[0], n))
	require.NoError(g.t, err)
	resp, err := g.post(context.Background(), text)
	require.NoError(g.t, err)
	defer resp.Body.Close()
	require.Equal(g.t, http.StatusOK, resp.StatusCode)
	all, err := io.ReadAll(resp.Body)
	return string(all), err
}

// ends tests a fault by what stands in the body of every response and what does
// not.
func ends(fault, with, without string) func(t *testing.T) {
	return func(t *testing.T) {
		onClock(t, nil, fault, func(g *rig) {
			text, err := g.raw(6)
			require.NoError(t, err)
			assert.Contains(t, text, with)
			assert.NotContains(t, text, without)
		})
	}
}

// logs tests a fault that shows in the log, once.
func logs(fault, line string) func(t *testing.T) {
	return func(t *testing.T) {
		g := onClock(t, nil, fault, func(g *rig) { g.ask(prompts(1, 10)[0], 30) })
		assert.Equal(t, 1, strings.Count(g.log.String(), line), g.log.String())
	}
}

func testHTTP503(t *testing.T) {
	onClock(t, nil, "http-503=2", func(g *rig) {
		assert.Equal(t, 200, g.ask(prompts(1, 10)[0], 2).status)
		out := g.ask(prompts(1, 10)[0], 2)
		assert.Equal(t, 503, out.status)
		assert.Contains(t, out.failure, "ServiceUnavailableError")
	})
}

func testOneToken(t *testing.T) {
	onClock(t, nil, "one-token=2", func(g *rig) {
		assert.Len(t, g.ask(prompts(1, 10)[0], 5).tokens, 5)
		out := g.ask(prompts(1, 10)[0], 5)
		assert.Len(t, out.tokens, 1)
		assert.Equal(t, "length", out.finish)
		assert.EqualValues(t, 1, out.usage["completion_tokens"])
		assert.Empty(t, failed(g.summary()))
	})
}

func testCutBody(t *testing.T) {
	onClock(t, nil, "cut-body=1", func(g *rig) {
		text, err := g.raw(6)
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
		assert.Equal(t, 3, strings.Count(text, `"token_ids"`))
	})
}

func testFingerprint(t *testing.T) {
	onClock(t, nil, "new-fingerprint=2", func(g *rig) {
		first, err := g.raw(2)
		require.NoError(t, err)
		assert.Contains(t, first, `"`+g.engine.fingerprint+`"`)
		second, err := g.raw(2)
		require.NoError(t, err)
		assert.Contains(t, second, `"`+g.engine.fingerprint+`-other"`)
	})
}

// patient sends a request that is given up after a minute and says how long it
// lasted and how many tokens came.
func (g *rig) patient(n int) (time.Duration, int) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	begin := time.Now()
	out := g.send(ctx, body(prompts(1, 10)[0], n))
	require.NotEmpty(g.t, out.failure)
	return time.Since(begin), len(out.tokens)
}

func testStalledStream(t *testing.T) {
	onClock(t, nil, "stalled-stream=1", func(g *rig) {
		lasted, tokens := g.patient(8)
		assert.Equal(t, time.Minute, lasted)
		assert.Equal(t, 4, tokens)
	})
}

func testHalfOpen(t *testing.T) {
	onClock(t, nil, "half-open=1", func(g *rig) {
		lasted, tokens := g.patient(8)
		assert.Equal(t, time.Minute, lasted)
		assert.Zero(t, tokens)
		assert.Zero(t, g.engine.next, "the engine does not know of it")
	})
}

// Two reads for every event, and the same data.
func testSplitEvents(t *testing.T) {
	read := func(fault string) (parts int, all string) {
		onClock(t, nil, fault, func(g *rig) {
			text, err := json.Marshal(body(prompts(1, 10)[0], 30))
			require.NoError(t, err)
			resp, err := g.post(context.Background(), text)
			require.NoError(t, err)
			defer resp.Body.Close()
			buf := make([]byte, 1<<16)
			for err == nil {
				var n int
				n, err = resp.Body.Read(buf)
				all += string(buf[:n])
				if n > 0 {
					parts++
				}
			}
			assert.ErrorIs(t, err, io.EOF)
		})
		return parts, all
	}
	whole, want := read("")
	split, got := read("split-events")
	assert.Equal(t, want, got)
	assert.Equal(t, 30, whole)
	assert.Greater(t, split, 50, "nearly every event comes in two reads")
}

func testCRLF(t *testing.T) {
	onClock(t, nil, "crlf", func(g *rig) {
		text, err := g.raw(6)
		require.NoError(t, err)
		assert.Equal(t, strings.Count(text, "\n"), strings.Count(text, "\r\n"))
		assert.Contains(t, text, "data: [DONE]\r\n\r\n")
	})
}

func testLongLine(t *testing.T) {
	onClock(t, nil, "long-line=70000", func(g *rig) {
		for i := 1; i <= 10; i++ {
			text, err := g.raw(2)
			require.NoError(t, err)
			assert.Equal(t, i == 10, len(text) > 70000, "request %d", i)
		}
	})
}

func testEmptyChoices(t *testing.T) {
	onClock(t, nil, "empty-choices", func(g *rig) {
		text, err := g.raw(6)
		require.NoError(t, err)
		assert.Equal(t, 3, strings.Count(text, `{"choices":[],`), "first, usage, last")
		assert.True(t, strings.HasPrefix(text, `data: {"choices":[],`), text)
		assert.Equal(t, 6, strings.Count(text, `"token_ids":[`))
	})
}

// Ten tokens in chunks of four: the last chunk is shorter.
func testBundle(t *testing.T) {
	onClock(t, nil, "bundle=4", func(g *rig) {
		out := g.ask(prompts(1, 10)[0], 10)
		assert.Len(t, out.tokens, 10)
		assert.Len(t, out.at, 3)
		assert.Equal(t, "length", out.finish)
	})
}

func testIdleClose(t *testing.T) {
	f, err := parseFaults("idle-close=3s")
	require.NoError(t, err)
	assert.Equal(t, 3*time.Second, f.IdleTimeout())
	assert.Zero(t, (&Faults{}).IdleTimeout())
}

func testStallEvery(t *testing.T) {
	onClock(t, nil, "stall-every=500ms@4", func(g *rig) {
		at := g.ask(prompts(1, 100)[0], 12).at
		for i := 1; i < len(at); i++ { // steps count from 0: every fourth is 3, 7, 11
			assert.Equal(t, i%4 == 3, at[i]-at[i-1] > 500*time.Millisecond, "step %d", i)
		}
	})
}

// What an eviction lost is computed again, and the records say so.
func testPreempt(t *testing.T) {
	onClock(t, nil, "preempt=7", func(g *rig) {
		out := g.askAll(prompts(3, 30), 30)
		for _, r := range out {
			assert.Len(t, r.tokens, 30)
		}
		s := g.summary()
		assert.Empty(t, failed(s))
		assert.Positive(t, s.Preemptions)
		assert.Positive(t, s.ResumedTokens)
	})
}

func testFewerKVBlocks(t *testing.T) {
	g := onClock(t, nil, "fewer-kv-blocks=25%", func(g *rig) {
		_, text := g.get("/metrics")
		assert.Contains(t, text, `num_gpu_blocks="6144"`)
	})
	onClock(t, nil, "", func(plain *rig) {
		assert.Equal(t, plain.engine.fingerprint, g.engine.fingerprint, "faults hide from it")
	})
}

func testSilentMetrics(t *testing.T) {
	onClock(t, nil, "silent-metrics", func(g *rig) {
		g.client.Timeout = time.Minute
		_, err := g.client.Get("http://sim/metrics")
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		status, _ := g.get("/health")
		assert.Equal(t, 200, status)
	})
}

func testUnasked(t *testing.T) {
	t.Chdir(t.TempDir())
	onClock(t, func(c *Config) { c.RecordDir = "" }, "unasked-records", func(g *rig) { g.ask(prompts(1, 10)[0], 3) })
	left, err := filepath.Glob(steps.Folder + "/*.jsonl")
	require.NoError(t, err)
	assert.Len(t, left, 1)
	f, err := parseFaults("unasked-records")
	require.NoError(t, err)
	assert.True(t, f.Unasked())
}

func testDiskFull(t *testing.T) {
	g := onClock(t, nil, "disk-full=5", func(g *rig) {
		assert.Len(t, g.ask(prompts(1, 10)[0], 30).tokens, 30, "serving goes on")
		s := g.summary()
		assert.Contains(t, failed(s), "footer")
		assert.EqualValues(t, 5, s.Records)
	})
	assert.Equal(t, 1, strings.Count(g.log.String(), "no space left on device"))
}

package sim

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStreamHasVLLMsForm(t *testing.T) {
	onClock(t, nil, "", func(g *rig) {
		prompt := []int{5, 6, 7}
		out := g.ask(prompt, 3)
		require.Len(t, out.chunks, 4)
		assert.True(t, out.done)
		for i, c := range out.chunks {
			assert.Equal(t, "text_completion", c["object"], i)
			assert.Equal(t, out.chunks[0]["id"], c["id"], i)
			assert.Equal(t, "simulated", c["model"], i)
		}
		first := out.chunks[0]["choices"].([]any)[0].(map[string]any)
		assert.Equal(t, map[string]any{
			"index": 0.0, "text": "", "logprobs": nil, "finish_reason": nil, "stop_reason": nil,
			"prompt_token_ids": []any{5.0, 6.0, 7.0}, "token_ids": []any{float64(out.tokens[0])},
		}, first)
		last := out.chunks[2]["choices"].([]any)[0].(map[string]any)
		assert.Equal(t, "length", last["finish_reason"])
		assert.Nil(t, last["prompt_token_ids"])
		assert.Equal(t, map[string]any{
			"prompt_tokens": 3.0, "completion_tokens": 3.0, "total_tokens": 6.0,
			"prompt_tokens_details": map[string]any{"cached_tokens": 0.0},
		}, out.usage)
		assert.Equal(t, g.engine.fingerprint, out.chunks[3]["system_fingerprint"])
		assert.NotContains(t, out.chunks[2], "system_fingerprint")
	})
}

func TestStreamWithoutUsageAndIDs(t *testing.T) {
	onClock(t, nil, "", func(g *rig) {
		resp, err := g.post(context.Background(), []byte(`{"prompt":[1,2],"max_tokens":2,"stream":true}`))
		require.NoError(t, err)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		assert.Equal(t, "text/event-stream; charset=utf-8", resp.Header.Get("Content-Type"))
		assert.Equal(t, 3, strings.Count(string(text), "data: "))
		assert.NotContains(t, string(text), "usage")
		assert.Contains(t, string(text), `"token_ids":null`)
		assert.Contains(t, string(text), `"system_fingerprint":"`+g.engine.fingerprint+`"}`+"\n\ndata: [DONE]\n\n")
	})
}

func TestWholeAnswerEqualsTheStream(t *testing.T) {
	onClock(t, nil, "", func(g *rig) {
		streamed := g.ask([]int{9, 8, 7}, 4)
		resp, err := g.post(context.Background(), []byte(`{"model":"simulated","prompt":[9,8,7],"max_tokens":4,"return_token_ids":true}`))
		require.NoError(t, err)
		defer resp.Body.Close()
		var got struct {
			Choices []struct {
				TokenIDs     []int  `json:"token_ids"`
				FinishReason string `json:"finish_reason"`
			} `json:"choices"`
			Usage       map[string]any `json:"usage"`
			Fingerprint string         `json:"system_fingerprint"`
		}
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&got))
		require.Len(t, got.Choices, 1)
		assert.Equal(t, streamed.tokens, got.Choices[0].TokenIDs)
		assert.Equal(t, "length", got.Choices[0].FinishReason)
		assert.Equal(t, streamed.usage, got.Usage)
		assert.Equal(t, g.engine.fingerprint, got.Fingerprint)
	})
}

func TestWholeAnswerCarriesErrors(t *testing.T) {
	onClock(t, nil, "error-after-tokens=2", func(g *rig) {
		for i := 1; i <= 10; i++ {
			resp, err := g.post(context.Background(), []byte(`{"prompt":[1],"max_tokens":4}`))
			require.NoError(t, err)
			resp.Body.Close()
			assert.Equal(t, i == 10, resp.StatusCode == http.StatusInternalServerError, i)
		}
	})
}

func TestMalformedRequestsAreRefused(t *testing.T) {
	small := func(c *Config) { c.KVBlocks, c.MaxModelLen = 4, 128 }
	onClock(t, small, "", func(g *rig) {
		for text, want := range map[string]string{
			``:                                   "the request is not valid",
			`{`:                                  "the request is not valid",
			`[]`:                                 "the request is not valid",
			`{"prompt":[1],"max_tokens":"4"}`:    "the request is not valid",
			`{"prompt":[1],"max_tokens":1.5}`:    "the request is not valid",
			`{"max_tokens":4}`:                   "list of token ids",
			`{"prompt":[]}`:                      "list of token ids",
			`{"prompt":null}`:                    "list of token ids",
			`{"prompt":"hello"}`:                 "list of token ids",
			`{"prompt":[[1,2]]}`:                 "list of token ids",
			`{"prompt":[1.5]}`:                   "list of token ids",
			`{"prompt":[1,512]}`:                 "token id 512 at position 1 is out of vocabulary",
			`{"prompt":[-1]}`:                    "out of vocabulary",
			`{"prompt":[1],"max_tokens":0}`:      "max_tokens must be at least 1",
			`{"prompt":[1],"max_tokens":128}`:    "maximum context length is 128",
			`{"prompt":[1],"max_tokens":64}`:     "needs 5 KV blocks of 4",
			`{"prompt":[1],"n":2}`:               "one choice",
			`{"prompt":[1],"stream_options":{}}`: "Stream options",
		} {
			resp, err := g.post(context.Background(), []byte(text))
			require.NoError(t, err)
			var got struct{ Error apiError }
			require.NoError(t, json.NewDecoder(resp.Body).Decode(&got), text)
			resp.Body.Close()
			assert.Equal(t, http.StatusBadRequest, resp.StatusCode, text)
			assert.Equal(t, http.StatusBadRequest, got.Error.Code, text)
			assert.Equal(t, "BadRequestError", got.Error.Type, text)
			assert.Contains(t, got.Error.Message, want, text)
		}
		out := g.send(context.Background(), map[string]any{"model": "other", "prompt": []int{1}})
		assert.Equal(t, http.StatusNotFound, out.status)
		assert.Contains(t, out.failure, "The model `other` does not exist.")
		status, _ := g.get("/v1/completions")
		assert.Equal(t, http.StatusMethodNotAllowed, status)
	})
}

func TestHugeBodiesAreRefused(t *testing.T) {
	onClock(t, nil, "", func(g *rig) {
		resp, err := g.post(context.Background(), []byte(`{"prompt":[`+strings.Repeat("1,", maxBody/2)+`1]}`))
		require.NoError(t, err)
		defer resp.Body.Close()
		assert.Equal(t, http.StatusBadRequest, resp.StatusCode)
	})
}

func TestPages(t *testing.T) {
	named := func(c *Config) { c.Model = `nonce "7"` }
	onClock(t, named, "", func(g *rig) {
		status, _ := g.get("/health")
		assert.Equal(t, http.StatusOK, status)
		_, version := g.get("/version")
		assert.JSONEq(t, `{"version":"simulated"}`, version)
		_, models := g.get("/v1/models")
		assert.Contains(t, models, `"id":"nonce \"7\""`)
	})
}

func TestMetricsAreValidAndCount(t *testing.T) {
	onClock(t, nil, "", func(g *rig) {
		for range 3 {
			g.ask(prompts(1, 10)[0], 4)
		}
		_, page := g.get("/metrics")
		parser := expfmt.NewTextParser(model.UTF8Validation)
		families, err := parser.TextToMetricFamilies(strings.NewReader(page))
		require.NoError(t, err)
		counter := func(name string) float64 {
			require.Contains(t, families, name)
			return families[name].GetMetric()[0].GetCounter().GetValue()
		}
		assert.EqualValues(t, 12, counter("vllm:generation_tokens_total"))
		assert.EqualValues(t, 30, counter("vllm:prompt_tokens_total"))
		assert.EqualValues(t, 3, counter("vllm:request_success_total"))
		assert.Zero(t, counter("vllm:num_preemptions_total"))
		assert.Zero(t, counter("vllm:prefix_cache_queries_total"))
		assert.Contains(t, families, "vllm:num_requests_running")
	})
}

func TestFingerprintFollowsTheSettings(t *testing.T) {
	a := DefaultConfig()
	b := a
	b.Model, b.Seed, b.RecordDir, b.Log = "nonce", 7, "x", io.Discard
	assert.Equal(t, fingerprint(a), fingerprint(b))
	b.MaxNumSeqs = 64
	assert.NotEqual(t, fingerprint(a), fingerprint(b))
}

func FuzzParse(f *testing.F) {
	e, err := New(DefaultConfig(), Faults{})
	require.NoError(f, err)
	for _, s := range []string{``, `{}`, `{"prompt":[1,2,3],"max_tokens":4}`, `{"prompt":"x"}`, `{"prompt":[1e9]}`, `{"n":-1}`, "{\"prompt\":[1]\x00}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := http.NewRequest(http.MethodPost, "/v1/completions", strings.NewReader(text))
		require.NoError(t, err)
		q, bad := e.parse(nil, r)
		if bad == nil && (q.want < 1 || len(q.prompt) == 0 || len(q.prompt)+q.want > e.cfg.MaxModelLen) {
			t.Errorf("accepted %q as %+v", text, q)
		}
	})
}

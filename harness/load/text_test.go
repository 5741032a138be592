package load

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/harness/workload"
	"github.com/aituner/opprof/results"
)

var (
	chatRequest = workload.Request{Text: `[{"role":"user","content":"hi"}]`, Chat: true, MaxTokens: 4}
	textRequest = workload.Request{Text: `"caf\u00e9"`, MaxTokens: 4}
)

// delta is a chat event with these members in its delta.
func delta(members, finish string) string {
	reason := "null"
	if finish != "" {
		reason = `"` + finish + `"`
	}
	return fmt.Sprintf(`data: {"object":"chat.completion.chunk","model":"%s","choices":[{"index":0,"delta":{%s},"finish_reason":%s}]}`,
		nonce, members, reason) + "\n\n"
}

func textEvent(text, finish string) string {
	return strings.Replace(tokensEvent(finish, 1, 2, 3), `"text":""`, `"text":"`+text+`"`, 1)
}

// The first chunk of a chat names the role: it is no token, and neither is an
// empty or a null text. Reasoning is, under both names.
func TestChatTimes(t *testing.T) {
	for name, first := range map[string]string{
		"content": `"content":"a"`, "reasoning_content": `"reasoning_content":"a","content":null`, "reasoning": `"reasoning":"a","content":""`,
	} {
		synctest.Test(t, func(t *testing.T) {
			record, _, kept := askFor(t, chatRequest, true,
				step{10 * ms, headText + chunked(delta(`"role":"assistant","content":""`, ""))},
				step{10 * ms, chunked(delta(`"content":null`, ""))},
				step{10 * ms, chunked(delta(`"tool_calls":[]`, ""))},
				step{10 * ms, chunked(delta(first, ""))},
				step{10 * ms, chunked(delta(`"content":"b c"`, ""))},
				step{10 * ms, chunked(delta(``, "length"))},
				step{10 * ms, chunked(usageEvent(9, 4)) + chunked(doneEvent) + "0\r\n\r\n"})
			assert.Empty(t, record.Error, name)
			assert.True(t, kept)
			assert.Equal(t, []time.Duration{40 * ms, 50 * ms, 70 * ms},
				[]time.Duration{since(record.FirstNS), since(record.LastNS), since(record.EndNS)}, name)
			assert.Equal(t, results.Request{FirstTokens: 1, Chunks: 2, WantTokens: 4, PromptTokens: 9, CachedTokens: 2, OutputTokens: 4,
				FinishReason: "length", OutputSHA256: textSHA256([]byte("ab c"))}, timeless(record), name)
		})
	}
}

// Tokens are counted by the server's usage, not by chunks or token ids.
func TestTextCompletion(t *testing.T) {
	text := respond(textEvent("a", ""), textEvent("", ""), textEvent("\\u00e9", "length"), usageEvent(5, 4), doneEvent)
	for i := 1; i < len(text); i++ {
		record, tokens, _ := askFor(t, textRequest, true, step{bytes: text[:i]}, step{bytes: text[i:]})
		require.Empty(t, record.Error)
		require.Empty(t, tokens)
		require.Equal(t, []int{4, 2, 1}, []int{record.OutputTokens, record.Chunks, record.FirstTokens}, "split at %d", i)
		require.Equal(t, textSHA256([]byte("aé")), record.OutputSHA256)
	}
}

func TestTextFailures(t *testing.T) {
	one, role, usage := delta(`"content":"a"`, "length"), delta(`"role":"assistant"`, ""), usageEvent(5, 4)
	for name, c := range map[string]struct{ text, want string }{
		"role only":     {respond(role, delta("", "length"), usage, doneEvent), "no text was generated"},
		"too few":       {respond(one, usageEvent(5, 3), doneEvent), "usage says 3 output tokens, 4 were asked for"},
		"too many":      {respond(one, usageEvent(5, 5), doneEvent), "usage says 5 output tokens, 4 were asked for"},
		"no prompt":     {respond(one, usageEvent(0, 4), doneEvent), "usage says 0 prompt tokens for a text"},
		"no usage":      {respond(one, doneEvent), "no usage"},
		"no done":       {respond(one, usage), "without [DONE]"},
		"no reason":     {respond(delta(`"content":"a"`, ""), usage, doneEvent), "no finish_reason"},
		"tool calls":    {respond(delta(`"content":"a"`, "tool_calls"), usage, doneEvent), `finish_reason is "tool_calls"`},
		"error in band": {respond(one, `data: {"error":{"message":"x"}}`+"\n\n", usage, doneEvent), "error object"},
		"list of parts": {respond(delta(`"content":[{"text":"a"}]`, "length"), usage, doneEvent), "not a text chunk"},
		"another model": {respond(strings.ReplaceAll(one, nonce, "other"), usage, doneEvent), `from model "other"`},
		"cut":           {respond(one, usage, doneEvent)[:300], "cut stream"},
	} {
		record, _, _ := askFor(t, chatRequest, false, step{bytes: c.text})
		assert.Contains(t, record.Error, c.want, name)
	}
}

func TestTextMessages(t *testing.T) {
	for path, request := range map[string]workload.Request{"/v1/completions": textRequest, "/v1/chat/completions": chatRequest} {
		m := Target{Model: "m", Host: "h"}.message(request)
		assert.Equal(t, textPrompt, m.prompt)
		sent, err := http.ReadRequest(bufio.NewReader(strings.NewReader(string(m.bytes))))
		require.NoError(t, err)
		body, err := io.ReadAll(sent.Body)
		require.NoError(t, err)
		assert.Equal(t, path, sent.URL.Path)
		want := `"prompt":"café"`
		if request.Chat {
			want = `"messages":[{"role":"user","content":"hi"}]`
		}
		assert.JSONEq(t, `{"model":"m",`+want+`,"max_tokens":4,`+workload.Sampling+`}`, string(body))
	}
}

func FuzzTextAnswer(f *testing.F) {
	for _, e := range []string{delta(`"content":"a"`, "length"), delta(`"role":"assistant"`, ""), textEvent("x", ""), usageEvent(3, 2), doneEvent} {
		f.Add([]byte(strings.TrimSpace(strings.TrimPrefix(e, "data: "))))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		record := results.Request{WantTokens: 2, SentNS: 1}
		a := newAnswer(&record, nonce, textPrompt)
		a.event(data, 5)
		a.close(nil)
		assert.NotEmpty(t, record.Error, "no single event is a success")
		assert.Equal(t, len(a.text) > 0, record.FirstNS == 5)
		assert.Empty(t, a.tokens)
	})
}

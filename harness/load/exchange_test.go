package load

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
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

const nonce = "nonce-1"

// step is one thing that a scripted server does: wait, then write.
type step struct {
	wait  time.Duration
	bytes string
}

// ask sends one request for want tokens to a server that reads it and follows
// the script; then the server closes the connection, or stays silent.
func ask(t *testing.T, want int, stay bool, script ...step) (results.Request, []int, bool) {
	t.Helper()
	return askFor(t, workload.Request{Prompt: []int{1, 2, 3}, MaxTokens: want}, stay, script...)
}

func askFor(t *testing.T, request workload.Request, stay bool, script ...step) (results.Request, []int, bool) {
	t.Helper()
	target := Target{Model: nonce, Timeout: time.Minute, Origin: time.Now().Add(-time.Second)}
	client, server := net.Pipe()
	target.Dial = func(context.Context) (net.Conn, error) { return client, nil }
	done := make(chan struct{})
	go func() {
		defer close(done)
		play(server, stay, script)
	}()
	l := newLink(target)
	require.NoError(t, l.ready(t.Context()))
	record := results.Request{WantTokens: request.MaxTokens, CachedTokens: -1}
	s := l.exchange(t.Context(), target, target.message(request), &record)
	kept := l.conn != nil
	client.Close()
	<-done
	return record, s.tokens, kept
}

func play(server net.Conn, stay bool, script []step) {
	defer server.Close()
	request, err := http.ReadRequest(bufio.NewReader(server))
	if err != nil {
		return
	}
	io.Copy(io.Discard, request.Body)
	for _, s := range script {
		time.Sleep(s.wait)
		if _, err := io.WriteString(server, s.bytes); err != nil {
			return
		}
	}
	if stay {
		io.Copy(io.Discard, server) // until the client closes
	}
}

const headText = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"

func chunked(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

func tokensEvent(finish string, ids ...int) string {
	reason := "null"
	if finish != "" {
		reason = `"` + finish + `"`
	}
	list := strings.ReplaceAll(fmt.Sprint(ids), " ", ",")
	return fmt.Sprintf(`data: {"object":"text_completion","model":"%s","system_fingerprint":"fp","choices":[{"index":0,"text":"","token_ids":%s,"finish_reason":%s}]}`, nonce, list, reason) + "\n\n"
}

func usageEvent(prompt, output int) string {
	return fmt.Sprintf(`data: {"model":"%s","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"prompt_tokens_details":{"cached_tokens":2}}}`, nonce, prompt, output) + "\n\n"
}

const doneEvent = "data: [DONE]\n\n"

// respond frames events, one chunk each, with the end of the body.
func respond(events ...string) string {
	var b strings.Builder
	b.WriteString(headText)
	for _, e := range events {
		b.WriteString(chunked(e))
	}
	return b.String() + "0\r\n\r\n"
}

func goodResponse() string {
	return respond(tokensEvent("", 7), tokensEvent("", 8, 9), tokensEvent("length", 10), usageEvent(3, 4), doneEvent)
}

// timeless leaves out what depends on when the bytes came.
func timeless(r results.Request) results.Request {
	r.SentNS, r.FirstNS, r.LastNS, r.EndNS, r.GapMedianNS, r.GapMaxNS, r.LongGaps = 0, 0, 0, 0, 0, 0, nil
	return r
}

func TestAnySplitGivesTheSameRecord(t *testing.T) {
	want := results.Request{FirstTokens: 1, Chunks: 3, WantTokens: 4, PromptTokens: 3, CachedTokens: 2,
		OutputTokens: 4, FinishReason: "length", Fingerprint: "fp", OutputSHA256: TokensSHA256([]int{7, 8, 9, 10})}
	text := goodResponse()
	for i := 1; i < len(text); i++ {
		record, tokens, kept := ask(t, 4, true, step{bytes: text[:i]}, step{bytes: text[i:]})
		require.Equal(t, want, timeless(record), "split at %d", i)
		require.Equal(t, []int{7, 8, 9, 10}, tokens)
		require.True(t, kept)
	}
	var bytewise []step
	for _, c := range []byte(text) {
		bytewise = append(bytewise, step{bytes: string(c)})
	}
	record, _, _ := ask(t, 4, true, bytewise...)
	assert.Equal(t, want, timeless(record), "byte by byte")
}

func TestLineEndsDoNotMatter(t *testing.T) {
	want, _, _ := ask(t, 4, true, step{bytes: goodResponse()})
	require.Empty(t, want.Error)
	for _, end := range []string{"\r\n", "\r"} {
		var events []string
		for _, e := range []string{": ping\n\n", tokensEvent("", 7), tokensEvent("", 8, 9), tokensEvent("length", 10), usageEvent(3, 4), doneEvent} {
			events = append(events, strings.ReplaceAll(strings.ReplaceAll(e, `,"choices"`, ",\ndata: \"choices\""), "\n", end))
		}
		record, _, _ := ask(t, 4, true, step{bytes: respond(events...)})
		assert.Equal(t, timeless(want), timeless(record), "%q", end)
	}
}

func TestContentLengthBody(t *testing.T) {
	text := tokensEvent("length", 7) + usageEvent(3, 1) + doneEvent
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n%s"
	record, _, kept := ask(t, 1, true, step{bytes: fmt.Sprintf(head, len(text), text)})
	assert.Empty(t, record.Error)
	assert.True(t, kept)
	record, _, kept = ask(t, 1, false, step{bytes: fmt.Sprintf(head, len(text)+1, text)})
	assert.Contains(t, record.Error, "cut stream")
	assert.False(t, kept)
}

// TestFailures breaks every rule of a success once.
func TestFailures(t *testing.T) {
	one, usage := tokensEvent("length", 7), usageEvent(3, 1)
	other := strings.ReplaceAll(one, nonce, "other")
	unnamed := strings.ReplaceAll(one, `"model":"`+nonce+`",`, "")
	errorEvent := `data: {"error":{"message":"engine died","code":500}}` + "\n\n"
	for name, c := range map[string]struct {
		text, want string
		kept       bool // the response was read to its end
	}{
		"error object then done":  {respond(one, errorEvent, usage, doneEvent), "error object in the stream: {\"error\":{\"message\":\"engine died\"", true},
		"error object after done": {respond(one, usage, doneEvent, errorEvent), "error object", true},
		"old error object":        {respond(one, `data: {"object":"error","message":"x"}`+"\n\n", usage, doneEvent), "error object", true},
		"error beside tokens":     {respond(strings.Replace(one, `{"object"`, `{"error":"x","object"`, 1), usage, doneEvent), "error object", true},
		"no finish reason":        {respond(tokensEvent("", 7), usage, doneEvent), "no finish_reason", true},
		"aborted":                 {respond(tokensEvent("abort", 7), usage, doneEvent), `finish_reason is "abort"`, true},
		"no usage":                {respond(one, doneEvent), "no usage", true},
		"usage differs from ids":  {respond(one, usageEvent(3, 2), doneEvent), "usage says 2 output tokens, not the 1 token id received", true},
		"no token ids":            {respond(tokensEvent("length"), usage, doneEvent), "usage says 1 output token, not the 0 token ids received", true},
		"too long":                {respond(tokensEvent("length", 7, 8), usageEvent(3, 2), doneEvent), "2 output tokens, 1 were asked for", true},
		"prompt differs":          {respond(one, usageEvent(4, 1), doneEvent), "usage says 4 prompt tokens, 3 were sent", true},
		"no done":                 {respond(one, usage), "without [DONE]", true},
		"data after done":         {respond(one, usage, doneEvent, one), "event after [DONE]", true},
		"wrong model":             {respond(other, usage, doneEvent), `from model "other", "nonce-1" was asked`, true},
		"no model":                {respond(unnamed, usage, doneEvent), `from model ""`, true},
		"not json":                {respond("data: {\"model\":\n\n", one, usage, doneEvent), "not a completion chunk", true},
		"empty body":              {respond(), "without [DONE]", true},
		"ends inside an event":    {respond(one, usage, "data: [DONE]\n"), "inside an event", false},
		"huge line":               {respond("data: " + strings.Repeat("x", 2<<20)), "longer than 1 MiB", false},
		"status":                  {"HTTP/1.1 503 No\r\nContent-Length: 4\r\n\r\nbusy", `status 503: "busy"`, false},
		"status of OpenAI":        {refusal(400, `{"error":{"message":"token 9 is\nout of vocabulary","code":400}}`), "status 400: token 9 is out of vocabulary", false},
		"status of a guard":       {refusal(401, `{"error":"Unauthorized"}`), "status 401: Unauthorized", false},
		"status of FastAPI":       {refusal(404, `{"detail":"Not Found"}`), "status 404: Not Found", false},
		"status of another":       {refusal(422, `{"detail":[{"loc":["body"]}]}`), `status 422: "{\"detail\":[`, false},
		"not a stream":            {"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}", "not an event stream", false},
		"no framing":              {"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + one, "neither a length nor chunks", false},
		"extra bytes":             {respond(one, usage, doneEvent) + "x", "after the end", false},
		"not http":                {"SSH-2.0-x\r\n\r\n", "no response", false},
		"huge head":               {"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<17) + "\r\n\r\n", "head is longer", false},
		"nothing":                 {"", "no response: cut stream", false},
	} {
		record, _, kept := ask(t, 1, false, step{bytes: c.text})
		assert.Contains(t, record.Error, c.want, name)
		assert.Equal(t, c.kept, kept, name)
		assert.GreaterOrEqual(t, record.EndNS, record.SentNS, name)
	}
}

// refusal is a response without a stream.
func refusal(status int, body string) string {
	return fmt.Sprintf("HTTP/1.1 %d No\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)
}

func TestShortOutput(t *testing.T) {
	record, _, _ := ask(t, 5, true, step{bytes: goodResponse()})
	assert.Equal(t, "4 output tokens, 5 were asked for", record.Error)
}

func TestWrongModelIsRecorded(t *testing.T) {
	text := strings.ReplaceAll(goodResponse(), nonce, "nonce-2")
	record, _, _ := ask(t, 4, true, step{bytes: text})
	assert.Equal(t, "nonce-2", record.Model)
	record, _, _ = ask(t, 4, true, step{bytes: goodResponse()})
	assert.Empty(t, record.Model)
}

func TestCachedTokensAbsent(t *testing.T) {
	text := strings.ReplaceAll(usageEvent(3, 1), `,"prompt_tokens_details":{"cached_tokens":2}`, "")
	record, _, _ := ask(t, 1, true, step{bytes: respond(tokensEvent("length", 7), text, doneEvent)})
	assert.Empty(t, record.Error)
	assert.Equal(t, -1, record.CachedTokens)
}

// TestEveryCutIsAFailure closes the connection after each byte.
func TestEveryCutIsAFailure(t *testing.T) {
	text := goodResponse()
	for i := range text {
		record, _, kept := ask(t, 4, false, step{bytes: text[:i]})
		want := "cut stream"
		if i < len(headText) {
			want = "no response"
		}
		require.Contains(t, record.Error, want, "cut at %d", i)
		require.False(t, kept)
	}
}

// TestTimes checks each time of a record on a virtual clock.
func TestTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := []string{headText, chunked(tokensEvent("", 7, 8)), chunked(tokensEvent("", 9)),
			chunked(tokensEvent("", 10)), chunked(tokensEvent("length", 11)),
			chunked(usageEvent(3, 5)), chunked(doneEvent) + "0\r\n\r\n"}
		waits := []time.Duration{30, 10, 10, 60, 20, 1, 2}
		var script []step
		for i := range text {
			script = append(script, step{waits[i] * time.Millisecond, text[i]})
		}
		record, _, _ := ask(t, 5, true, script...)
		require.Empty(t, record.Error)
		ms := int64(time.Millisecond)
		assert.Equal(t, 1000*ms, record.SentNS)
		assert.Equal(t, 1040*ms, record.FirstNS)
		assert.Equal(t, 2, record.FirstTokens)
		assert.Equal(t, 1130*ms, record.LastNS)
		assert.Equal(t, 1133*ms, record.EndNS)
		assert.Equal(t, 20*ms, record.GapMedianNS)
		assert.Equal(t, 60*ms, record.GapMaxNS)
		assert.Equal(t, [][2]int64{{1050 * ms, 1110 * ms}}, record.LongGaps)
		assert.Equal(t, 4, record.Chunks)
	})
}

// TestTimeStampDoesNotWait holds back the bytes that follow an event: the rest
// of its chunk's framing and the next chunk.
func TestTimeStampDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := goodResponse()
		event := strings.Index(text, "\n\n") + 2
		next := strings.Index(text[event:], "data") + event
		for _, at := range []int{event, event + 1, event + 2, next - 1, next} {
			record, _, _ := ask(t, 4, true, step{bytes: text[:at]}, step{time.Second, text[at:]})
			require.Empty(t, record.Error)
			assert.Equal(t, record.SentNS, record.FirstNS, "held back from %d on", at-event)
			assert.Equal(t, record.SentNS+int64(time.Second), record.LastNS)
		}
	})
}

func TestStalledStreamTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		record, tokens, kept := ask(t, 4, true, step{bytes: headText + chunked(tokensEvent("", 7))})
		assert.Equal(t, "timeout: no end of the response within 1m0s", record.Error, "and nothing of the connection")
		assert.Equal(t, record.SentNS+int64(time.Minute), record.EndNS)
		assert.Equal(t, []int{7}, tokens)
		assert.False(t, kept)
	})
}

func TestMessage(t *testing.T) {
	m := Target{Model: `a"b`, Host: "h:1"}.message(workload.Request{Prompt: []int{5, 6}, MaxTokens: 9})
	request, err := http.ReadRequest(bufio.NewReader(strings.NewReader(string(m.bytes))))
	require.NoError(t, err)
	text, err := io.ReadAll(request.Body)
	require.NoError(t, err)
	assert.Equal(t, "h:1", request.Host)
	assert.Equal(t, "/v1/completions", request.URL.Path)
	assert.Empty(t, request.Header.Get("Accept-Encoding"))
	assert.JSONEq(t, `{"model":"a\"b","prompt":[5,6],"max_tokens":9,"temperature":0,"ignore_eos":true,
		"return_token_ids":true,"stream":true,"stream_options":{"include_usage":true}}`, string(text))
}

func FuzzAnswer(f *testing.F) {
	for _, e := range []string{tokensEvent("length", 1, 2), usageEvent(3, 2), doneEvent, `data: {"error":1}`, "data: {}", "data: null", "data: []"} {
		f.Add([]byte(strings.TrimSpace(strings.TrimPrefix(e, "data: "))))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		record := results.Request{WantTokens: 2, SentNS: 1}
		a := newAnswer(&record, nonce, 3)
		a.event(data, 5)
		a.close(nil)
		assert.NotEmpty(t, record.Error, "no single event is a success")
		assert.Equal(t, len(a.tokens) > 0, record.FirstNS == 5)
	})
}

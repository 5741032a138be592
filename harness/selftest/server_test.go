package selftest

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const testModel = "step-model"

// running serves bursts over TCP until the test ends and returns the address;
// wrap, if set, may spoil the answers.
func running(t *testing.T, step time.Duration, wrap func(http.Handler) http.Handler) string {
	t.Helper()
	s, err := NewServer(ServerConfig{Model: testModel, Step: step})
	require.NoError(t, err)
	h := s.Handler()
	if wrap != nil {
		h = wrap(h)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { s.Run(ctx); close(done) }()
	srv := httptest.NewServer(h)
	t.Cleanup(func() { cancel(); <-done; srv.Close() })
	return srv.Listener.Addr().String()
}

func post(t *testing.T, address, path, body string) (int, string) {
	t.Helper()
	resp, err := http.Post("http://"+address+path, "application/json", strings.NewReader(body))
	require.NoError(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(data)
}

// dataLines are the events of a stream, which end in an empty line each.
func dataLines(t *testing.T, stream string) []string {
	t.Helper()
	var lines []string
	for _, event := range strings.Split(strings.TrimSuffix(stream, "\n\n"), "\n\n") {
		data, ok := strings.CutPrefix(event, "data: ")
		require.True(t, ok, "%q", event)
		lines = append(lines, data)
	}
	return lines
}

func TestCompletion(t *testing.T) {
	address := running(t, time.Millisecond, nil)
	status, body := post(t, address, "/v1/completions", `{"model":"step-model","prompt":[0,1,2,300],"max_tokens":3,
		"stream":true,"return_token_ids":true,"stream_options":{"include_usage":true}}`)
	require.Equal(t, http.StatusOK, status)
	lines := dataLines(t, body)
	require.Len(t, lines, 5)
	type choice struct {
		Text   string  `json:"text"`
		IDs    []int   `json:"token_ids"`
		Finish *string `json:"finish_reason"`
	}
	for i, line := range lines[:3] {
		var e struct {
			Model   string   `json:"model"`
			Choices []choice `json:"choices"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		require.Len(t, e.Choices, 1)
		assert.Equal(t, testModel, e.Model)
		assert.Equal(t, []int{i}, e.Choices[0].IDs)
		assert.Equal(t, i == 2, e.Choices[0].Finish != nil)
		assert.InDelta(t, 270, len(line), 40, "chunks are as long as vLLM's")
	}
	assert.Contains(t, lines[3], `"choices":[],"usage":{"prompt_tokens":4,"total_tokens":7,"completion_tokens":3}`)
	assert.Equal(t, "[DONE]", lines[4])

	truth, err := fetchTruth(t.Context(), address)
	require.NoError(t, err)
	require.Len(t, truth.Requests, 1)
	r := truth.Requests[0]
	assert.Equal(t, 258, r.Tag)
	require.Len(t, r.WriteNS, 3)
	assert.Less(t, r.ReceivedNS, r.WriteNS[0])
	assert.Less(t, r.WriteNS[1], r.WriteNS[2])
	assert.False(t, r.Aborted)
	require.NoError(t, clearTruth(t.Context(), address))
	truth, err = fetchTruth(t.Context(), address)
	require.NoError(t, err)
	assert.Empty(t, truth.Requests)
}

// Other clients send text, chats and no wish for usage.
func TestText(t *testing.T) {
	address := running(t, time.Millisecond, nil)
	status, body := post(t, address, "/v1/completions", `{"model":"step-model","prompt":"w1 w2 w3","max_tokens":2,"stream":true}`)
	require.Equal(t, http.StatusOK, status)
	lines := dataLines(t, body)
	require.Len(t, lines, 3)
	assert.Contains(t, lines[1], `"text":" w1"`)
	assert.Contains(t, lines[1], `"token_ids":null`)

	status, body = post(t, address, "/v1/chat/completions", `{"model":"step-model","stream":true,"max_completion_tokens":2,
		"messages":[{"role":"user","content":"w1 w2"}],"stream_options":{"include_usage":true}}`)
	require.Equal(t, http.StatusOK, status)
	lines = dataLines(t, body)
	require.Len(t, lines, 4)
	for _, line := range lines[:3] {
		assert.True(t, json.Valid([]byte(line)), line)
	}
	assert.Contains(t, lines[0], `"delta":{"role":"assistant","content":" w0"}`)
	assert.Contains(t, lines[1], `"delta":{"content":" w1"}`)
	assert.Contains(t, lines[1], `"finish_reason":"length"`)
	assert.Contains(t, lines[2], `"prompt_tokens":2`)
}

func TestServerRefuses(t *testing.T) {
	address := running(t, time.Millisecond, nil)
	for _, c := range []struct {
		body, want string
		status     int
	}{
		{`{"model":"other","prompt":"a","stream":true}`, `model \"other\" is not served`, 404},
		{`{"model":"step-model","prompt":"a"}`, "only streams", 400},
		{`{"model":"step-model","prompt":"","stream":true}`, "one text or one list", 400},
		{`{"model":"step-model","prompt":["a","b"],"stream":true}`, "one text or one list", 400},
		{`{"model":"step-model","prompt":"a","stream":true,"max_tokens":0}`, "max_tokens is 0", 400},
		{`{"model":"step-model","prompt":"a","stream":true,"max_tokens":10000000}`, "max_tokens is", 400},
		{`{"model":"step-mo`, "not valid", 400},
		{``, "not valid", 400},
		{strings.Repeat("[", maxBody+1), "read the request", 400},
	} {
		status, body := post(t, address, "/v1/completions", c.body)
		assert.Equal(t, c.status, status)
		assert.Contains(t, body, c.want)
	}
	resp, err := http.Get("http://" + address + "/v1/models")
	require.NoError(t, err)
	defer resp.Body.Close()
	data, _ := io.ReadAll(resp.Body)
	assert.Contains(t, string(data), `"id":"step-model"`)
	_, err = NewServer(ServerConfig{Model: "m"})
	assert.ErrorContains(t, err, "both must be given")
}

// While a stream is live its truth can't be thrown away, and a client that goes
// away is told of.
func TestAborted(t *testing.T) {
	address := running(t, time.Millisecond, nil)
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/v1/completions",
		strings.NewReader(`{"model":"step-model","prompt":[0,0,9],"max_tokens":1000000,"stream":true}`))
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	_, err = bufio.NewReader(resp.Body).ReadString('\n')
	require.NoError(t, err)
	assert.ErrorContains(t, clearTruth(t.Context(), address), "1 stream still live")
	cancel()
	resp.Body.Close()
	require.Eventually(t, func() bool {
		truth, err := fetchTruth(t.Context(), address)
		return err == nil && len(truth.Requests) == 1 && truth.Requests[0].Aborted && truth.Requests[0].Tag == 9
	}, 10*time.Second, 5*time.Millisecond)
}

// When the server stops, open streams are cut and later ones are refused: no
// client takes them for whole.
func TestStoppedServer(t *testing.T) {
	s, err := NewServer(ServerConfig{Model: testModel, Step: time.Hour})
	require.NoError(t, err)
	srv := httptest.NewServer(s.Handler())
	defer srv.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cut := make(chan error)
	ask := func() {
		resp, err := http.Post(srv.URL+"/v1/completions", "", strings.NewReader(`{"model":"step-model","prompt":"a","stream":true}`))
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
		cut <- err
	}
	go ask()
	require.Eventually(t, func() bool { return clearTruth(t.Context(), srv.Listener.Addr().String()) != nil },
		10*time.Second, time.Millisecond, "the stream is live")
	cancel()
	s.Run(ctx)
	assert.Error(t, <-cut)
	go ask()
	assert.Error(t, <-cut)
	assert.Equal(t, 1, len(s.truth.Requests))
}

func TestReadTruth(t *testing.T) {
	good := `{"schema":1,"kind":"selftest-truth","requests":[{"tag":3,"received_ns":1,"write_ns":[2,3]}],"steps":[],"cpu_seconds":1}`
	truth, err := readTruth(strings.NewReader(good), 1000)
	require.NoError(t, err)
	assert.Equal(t, []Served{{Tag: 3, ReceivedNS: 1, WriteNS: []int64{2, 3}}}, truth.Requests)
	for input, want := range map[string]string{
		"":                                   "not readable: EOF",
		good[:len(good)/2]:                   "not readable: unexpected EOF",
		"{}":                                 `kind "", schema 0`,
		strings.Replace(good, "1", "2", 1):   `schema 2`,
		strings.Replace(good, "3", `"x"`, 1): "not readable",
	} {
		_, err := readTruth(strings.NewReader(input), 1000)
		assert.ErrorContains(t, err, want)
	}
	_, err = readTruth(strings.NewReader(good), 50)
	assert.ErrorContains(t, err, "longer than 50 bytes")
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"prompt":[1,2,3],"stream":true,"max_tokens":4}`))
	f.Add([]byte(`{"prompt":[[1,2,3]],"stream":true}`))
	f.Add([]byte(`{"prompt":["a b"],"stream":true,"stream_options":null}`))
	f.Add([]byte(`{"messages":[{"content":[{"text":"a"}]}],"stream":true}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, body []byte) {
		a, err := parse(body)
		if err != nil {
			return
		}
		assert.True(t, a.Stream)
		assert.GreaterOrEqual(t, a.prompt, 0)
		assert.True(t, a.tokens >= 1 && a.tokens <= maxTokens)
		assert.True(t, a.tag >= -1 && a.tag < maxTag)
	})
}

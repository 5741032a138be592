package selftest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Handler speaks as much of the OpenAI interface as load generators need:
// POST /v1/completions and /v1/chat/completions (streamed only), /v1/models and
// /health; and GET and DELETE of the truth.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/completions", s.serveCompletions)
	mux.HandleFunc("POST /v1/chat/completions", s.serveCompletions)
	mux.HandleFunc("GET /v1/models", s.serveModels)
	mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET "+truthPath, s.serveTruth)
	mux.HandleFunc("DELETE "+truthPath, s.serveClear)
	return mux
}

func (s *Server) serveModels(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{"object": "list", "data": []map[string]any{{
		"id": s.cfg.Model, "object": "model", "created": 0, "owned_by": "opbench selftest",
		"root": s.cfg.Model, "parent": nil, "max_model_len": maxTokens,
	}}})
}

// serveCompletions answers one request. Its last byte was received when the kernel
// says so, or else when it has been read, before anything is parsed.
func (s *Server) serveCompletions(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	at := received(r)
	if err != nil {
		refuse(w, http.StatusBadRequest, fmt.Errorf("read the request: %w", err))
		return
	}
	asked, err := parse(body)
	if err != nil {
		refuse(w, http.StatusBadRequest, err)
		return
	}
	if asked.Model != s.cfg.Model {
		refuse(w, http.StatusNotFound, fmt.Errorf("model %q is not served, %q is", asked.Model, s.cfg.Model))
		return
	}
	s.stream(w, asked, at)
}

// stream hands the response to Run and waits until it is written.
func (s *Server) stream(w http.ResponseWriter, asked *asked, received int64) {
	st := &stream{
		tag: asked.tag, received: received, want: asked.tokens, writes: make([]int64, 0, asked.tokens),
		chunks: s.chunksFor(asked), w: w, flush: http.NewResponseController(w), done: make(chan struct{}),
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	if st.flush.Flush() != nil { // the head goes out at once, as vLLM's does
		return
	}
	// A client that does not read must not stop the burst for ever.
	limit := time.Duration(asked.tokens+1)*s.cfg.Step + stalled
	_ = st.flush.SetWriteDeadline(time.Now().Add(limit)) // a socket has deadlines
	if s.join(st) != nil {
		panic(http.ErrAbortHandler) // cuts the connection: the client sees a failure
	}
	<-st.done
	if len(st.writes) < st.want {
		panic(http.ErrAbortHandler)
	}
	_ = st.flush.SetWriteDeadline(time.Time{})
}

// stalled is the time beyond the planned one after which a stream is cut.
const stalled = 5 * time.Minute

func (s *Server) serveTruth(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	truth := s.truth // its slices only grow, or are replaced
	truth.CPUSeconds = cpuSeconds() - s.usedThen
	s.mu.Unlock()
	answer(w, http.StatusOK, truth)
}

func (s *Server) serveClear(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active > 0 {
		refuse(w, http.StatusConflict, fmt.Errorf("%s still live: the truth would be lost", streams(s.active)))
		return
	}
	s.forget()
}

// refuse answers with an error as vLLM does.
func refuse(w http.ResponseWriter, status int, err error) {
	answer(w, status, map[string]any{"error": map[string]any{
		"message": err.Error(), "type": http.StatusText(status), "param": nil, "code": status,
	}})
}

// answer sends v as JSON. An error here is a client that has gone.
func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

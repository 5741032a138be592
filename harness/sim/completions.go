package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// maxBody bounds a request's body, in bytes.
const maxBody = 16 << 20

// completionRequest is the part of vLLM's request that has a meaning here.
// There is no end-of-sequence token, so ignore_eos needs no reading, and
// decoding is greedy whatever temperature says.
type completionRequest struct {
	Model          string          `json:"model"`
	Prompt         json.RawMessage `json:"prompt"`
	MaxTokens      *int            `json:"max_tokens"`
	N              *int            `json:"n"`
	Stream         bool            `json:"stream"`
	ReturnTokenIDs bool            `json:"return_token_ids"`
	StreamOptions  *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`

	prompt []int
	want   int
	number int64 // from 1, in order of arrival
}

func (e *Engine) parse(w http.ResponseWriter, r *http.Request) (*completionRequest, *apiError) {
	q := &completionRequest{}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(q); err != nil {
		return nil, badRequest("", "the request is not valid: %v", err)
	}
	if q.Model != "" && q.Model != e.cfg.Model {
		param := "model"
		return nil, &apiError{Message: fmt.Sprintf("The model `%s` does not exist.", q.Model),
			Type: "NotFoundError", Param: &param, Code: http.StatusNotFound}
	}
	q.want = 16 // the default of OpenAI's interface
	if q.MaxTokens != nil {
		q.want = *q.MaxTokens
	}
	switch {
	case q.want < 1:
		return nil, badRequest("max_tokens", "max_tokens must be at least 1, got %d.", q.want)
	case q.N != nil && *q.N != 1:
		return nil, badRequest("n", "the simulated engine gives one choice, got n=%d.", *q.N)
	case q.StreamOptions != nil && !q.Stream:
		return nil, badRequest("stream_options", "Stream options can only be defined when `stream=True`.")
	}
	return q, e.parsePrompt(q)
}

func (e *Engine) parsePrompt(q *completionRequest) *apiError {
	if err := json.Unmarshal(q.Prompt, &q.prompt); err != nil || len(q.prompt) == 0 {
		return badRequest("prompt", "prompt must be a list of token ids that is not empty: there is no tokenizer.")
	}
	for i, token := range q.prompt {
		if token < 0 || token >= e.cfg.VocabSize {
			return badRequest("prompt", "token id %d at position %d is out of vocabulary (%d ids).", token, i, e.cfg.VocabSize)
		}
	}
	total := len(q.prompt) + q.want
	if total > e.cfg.MaxModelLen {
		return badRequest("max_tokens", "this model's maximum context length is %d tokens, but %d prompt and %d output tokens were asked for.",
			e.cfg.MaxModelLen, len(q.prompt), q.want)
	}
	if blocks := e.sched.kv.blocksFor(total); blocks > e.cfg.KVBlocks {
		return badRequest("prompt", "the request needs %d KV blocks of %d.", blocks, e.cfg.KVBlocks)
	}
	return nil
}

func (e *Engine) serveCompletions(w http.ResponseWriter, r *http.Request) {
	q, bad := e.parse(w, r)
	if bad == nil {
		q.number = e.arrived.Add(1)
		bad = e.refuse(q.number)
	}
	if bad != nil {
		writeJSON(w, bad.Code, bad.body())
		return
	}
	if e.faults.hits(faultHalfOpen, q.number) {
		e.hang(r)
	}
	rq := e.submit(q.number, q.prompt, q.want)
	defer e.abort(rq)
	a := e.newAnswer(w, r, q, rq)
	if q.Stream {
		a.stream()
	} else {
		a.whole()
	}
}

// refuse commits the faults that answer a request with an error.
func (e *Engine) refuse(number int64) *apiError {
	switch {
	case e.faults.hits(faultHTTP500, number):
		return internalError("fault of the simulated engine")
	case e.faults.hits(faultHTTP503, number):
		return &apiError{Message: "fault of the simulated engine", Type: "ServiceUnavailableError", Code: http.StatusServiceUnavailable}
	}
	return nil
}

// hang keeps the connection open without another word until the client gives
// up or the engine stops.
func (e *Engine) hang(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-e.stopped:
	}
	panic(http.ErrAbortHandler)
}

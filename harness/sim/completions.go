package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
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
	if bad != nil {
		writeJSON(w, bad.Code, bad.body())
		return
	}
	number := e.arrived.Add(1)
	if e.faults.hits(faultHTTP500, number) {
		writeJSON(w, http.StatusInternalServerError, internalError("fault of the simulated engine").body())
		return
	}
	rq := e.submit(number, q.prompt, q.want)
	defer e.abort(rq)
	a := &answer{engine: e, w: w, r: r, q: q, req: rq, created: time.Now().Unix(), model: e.cfg.Model}
	if e.faults.has(faultWrongModel) {
		a.model = "another-model"
	}
	if q.Stream {
		a.stream()
	} else {
		a.whole()
	}
}

// answer is the response to one request.
type answer struct {
	engine  *Engine
	w       http.ResponseWriter
	r       *http.Request
	q       *completionRequest
	req     *request
	created int64
	model   string
	buf     []byte
}

// next waits for the next event. It cuts the connection if the engine has
// stopped; false: the client is gone.
func (a *answer) next() (event, bool) {
	select {
	case ev := <-a.req.events:
		return ev, true
	case <-a.r.Context().Done():
		return event{}, false
	case <-a.engine.stopped:
		panic(http.ErrAbortHandler)
	}
}

// stream sends one event per token, the usage and [DONE], as vLLM does.
func (a *answer) stream() {
	flush := http.NewResponseController(a.w)
	a.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	a.w.WriteHeader(http.StatusOK)
	if flush.Flush() != nil { // the head goes out before the first token
		return
	}
	for sent := 0; ; sent++ {
		ev, ok := a.next()
		if !ok {
			return
		}
		a.buf = a.buf[:0]
		switch {
		case ev.failed:
			a.data(internalError("fault of the simulated engine").body())
		default:
			a.token(ev, sent == 0)
		}
		if ev.last && a.wantsUsage() {
			a.data(a.envelope(map[string]any{
				"choices": []any{}, "usage": a.usage(sent+1, ev.cached), "system_fingerprint": a.engine.fingerprint,
			}))
		}
		ends := ev.last || ev.failed
		if ends {
			a.buf = append(a.buf, "data: [DONE]\n\n"...)
		}
		if _, err := a.w.Write(a.buf); err != nil || flush.Flush() != nil || ends {
			return
		}
	}
}

func (a *answer) wantsUsage() bool {
	return a.q.StreamOptions != nil && a.q.StreamOptions.IncludeUsage
}

// token appends the event of one token. It is built by hand because a burst
// makes hundreds of them at once.
func (a *answer) token(ev event, first bool) {
	b := fmt.Appendf(a.buf, `data: {"id":%q,"object":"text_completion","created":%d,"model":`, a.req.id, a.created)
	b = append(b, mustJSON(a.model)...)
	b = append(b, `,"choices":[{"index":0,"text":"","logprobs":null,"finish_reason":`...)
	if ev.last {
		b = append(b, `"length"`...)
	} else {
		b = append(b, "null"...)
	}
	b = append(b, `,"stop_reason":null,"prompt_token_ids":`...)
	if first && a.q.ReturnTokenIDs {
		b = append(b, mustJSON(a.req.prompt)...)
	} else {
		b = append(b, "null"...)
	}
	b = append(b, `,"token_ids":`...)
	if a.q.ReturnTokenIDs {
		b = append(strconv.AppendInt(append(b, '['), int64(ev.token), 10), ']')
	} else {
		b = append(b, "null"...)
	}
	b = append(b, "}]"...)
	if ev.last && !a.wantsUsage() {
		b = fmt.Appendf(b, `,"system_fingerprint":%q`, a.engine.fingerprint)
	}
	a.buf = append(b, "}\n\n"...)
}

// whole answers without streaming.
func (a *answer) whole() {
	var tokens []int
	for {
		ev, ok := a.next()
		if !ok {
			return
		}
		if ev.failed {
			bad := internalError("fault of the simulated engine")
			writeJSON(a.w, bad.Code, bad.body())
			return
		}
		tokens = append(tokens, ev.token)
		if ev.last {
			writeJSON(a.w, http.StatusOK, a.complete(tokens, ev.cached))
			return
		}
	}
}

func (a *answer) complete(tokens []int, cached int) map[string]any {
	choice := map[string]any{
		"index": 0, "text": "", "logprobs": nil, "finish_reason": "length", "stop_reason": nil,
		"token_ids": nil, "prompt_logprobs": nil, "prompt_token_ids": nil, "routed_experts": nil,
	}
	if a.q.ReturnTokenIDs {
		choice["token_ids"], choice["prompt_token_ids"] = tokens, a.req.prompt
	}
	return a.envelope(map[string]any{
		"choices": []any{choice}, "service_tier": nil, "system_fingerprint": a.engine.fingerprint,
		"usage": a.usage(len(tokens), cached), "kv_transfer_params": nil,
	})
}

func (a *answer) envelope(m map[string]any) map[string]any {
	m["id"], m["object"], m["created"], m["model"] = a.req.id, "text_completion", a.created, a.model
	return m
}

func (a *answer) usage(output, cached int) map[string]any {
	return map[string]any{
		"prompt_tokens": len(a.req.prompt), "completion_tokens": output,
		"total_tokens":          len(a.req.prompt) + output,
		"prompt_tokens_details": map[string]any{"cached_tokens": cached},
	}
}

// data appends one event.
func (a *answer) data(v any) {
	a.buf = append(append(append(a.buf, "data: "...), mustJSON(v)...), "\n\n"...)
}

// mustJSON encodes what always can be: strings, numbers and maps of them.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("encode a response: %v", err))
	}
	return b
}

package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// answer is the response to one request.
type answer struct {
	engine      *Engine
	w           http.ResponseWriter
	flush       *http.ResponseController
	r           *http.Request
	q           *completionRequest
	req         *request
	created     int64
	model       string
	fingerprint string
	sent        int // tokens
	events      []event
	buf         []byte
}

func (e *Engine) newAnswer(w http.ResponseWriter, r *http.Request, q *completionRequest, rq *request) *answer {
	a := &answer{engine: e, w: w, flush: http.NewResponseController(w), r: r, q: q, req: rq,
		created: time.Now().Unix(), model: e.cfg.Model, fingerprint: e.fingerprint}
	if e.faults.has(faultWrongModel) {
		a.model = "another-model"
	}
	if a.strikes(faultFingerprint) {
		a.fingerprint += "-other"
	}
	return a
}

// strikes reports whether a fault of every Nth request is due.
func (a *answer) strikes(name string) bool { return a.engine.faults.hits(name, a.q.number) }

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

// gather waits for the events of the next chunk: one, or as many as the fault
// bundle says.
func (a *answer) gather() ([]event, bool) {
	want := max(1, a.engine.faults.set[faultBundle].n)
	a.events = a.events[:0]
	for int64(len(a.events)) < want {
		ev, ok := a.next()
		if !ok {
			return nil, false
		}
		a.events = append(a.events, ev)
		if ev.last || ev.failed {
			break
		}
	}
	return a.events, true
}

// stream sends one event per chunk of tokens, the usage and [DONE], as vLLM
// does.
func (a *answer) stream() {
	a.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	a.w.WriteHeader(http.StatusOK)
	if a.flush.Flush() != nil { // the head goes out before the first token
		return
	}
	for ends := false; !ends; {
		evs, ok := a.gather()
		if !ok {
			return
		}
		a.buf = a.buf[:0]
		ends = a.chunk(evs)
		if !a.send() {
			return
		}
		a.breakOff()
	}
}

// chunk appends what one burst brings and reports whether the response ends.
func (a *answer) chunk(evs []event) (ends bool) {
	last := evs[len(evs)-1]
	tokens := evs
	if last.failed {
		tokens = evs[:len(evs)-1]
	}
	a.begin()
	switch {
	case a.sent == 0 && a.strikes(faultErrorFirst):
		last.failed = true
	case a.sent == 0 && a.strikes(faultBadJSON):
		a.buf = append(a.buf, "data: {\"id\":\n\n"...)
	case len(tokens) > 0:
		a.tokens(tokens)
	}
	a.sent += len(tokens)
	if last.failed {
		a.data(internalError("fault of the simulated engine").body())
	} else if last.last {
		a.end(last.cached)
	}
	if ends = last.last || last.failed; ends && !a.strikes(faultNoDone) {
		a.buf = append(a.buf, "data: [DONE]\n\n"...)
	}
	return ends
}

// begin appends what comes before the first token.
func (a *answer) begin() {
	if a.sent == 0 && a.engine.faults.has(faultEmptyChoices) {
		a.data(a.envelope(map[string]any{"choices": []any{}}))
	}
}

// end appends what comes after the last token.
func (a *answer) end(cached int) {
	if a.wantsUsage() && !a.strikes(faultNoUsage) {
		a.data(a.envelope(map[string]any{
			"choices": []any{}, "usage": a.usage(a.sent, cached), "system_fingerprint": a.fingerprint,
		}))
	}
	if a.engine.faults.has(faultEmptyChoices) {
		a.data(a.envelope(map[string]any{"choices": []any{}}))
	}
}

func (a *answer) wantsUsage() bool {
	return a.q.StreamOptions != nil && a.q.StreamOptions.IncludeUsage
}

// tokens appends the event of one or more tokens. It is built by hand because a
// burst makes hundreds of them at once.
func (a *answer) tokens(evs []event) {
	last, first := evs[len(evs)-1].last, a.sent == 0
	b := append(a.buf, "data: {"...)
	if f, on := a.engine.faults.set[faultLongLine]; on && first && a.q.number%errorEvery == 0 {
		b = fmt.Appendf(b, `"padding":%q,`, strings.Repeat("x", int(f.n)))
	}
	b = fmt.Appendf(b, `"id":%q,"object":"text_completion","created":%d,"model":`, a.req.id, a.created)
	b = append(b, mustJSON(a.model)...)
	b = append(b, `,"choices":[{"index":0,"text":"","logprobs":null,"finish_reason":`...)
	if last && !a.strikes(faultNoFinishReason) {
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
	if a.q.ReturnTokenIDs && !a.strikes(faultNoTokenIDs) {
		b = appendIDs(b, evs)
	} else {
		b = append(b, "null"...)
	}
	b = append(b, "}]"...)
	if last && !a.wantsUsage() {
		b = fmt.Appendf(b, `,"system_fingerprint":%q`, a.fingerprint)
	}
	a.buf = append(b, "}\n\n"...)
}

func appendIDs(b []byte, evs []event) []byte {
	b = append(b, '[')
	for i, ev := range evs {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(ev.token), 10)
	}
	return append(b, ']')
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
		"choices": []any{choice}, "service_tier": nil, "system_fingerprint": a.fingerprint,
		"usage": a.usage(len(tokens), cached), "kv_transfer_params": nil,
	})
}

func (a *answer) envelope(m map[string]any) map[string]any {
	m["id"], m["object"], m["created"], m["model"] = a.req.id, "text_completion", a.created, a.model
	return m
}

func (a *answer) usage(output, cached int) map[string]any {
	prompt := len(a.req.prompt)
	if a.strikes(faultPromptCount) {
		prompt++
	}
	if f, on := a.engine.faults.set[faultCachedTokens]; on {
		cached = int(min(f.n, int64(prompt)))
	}
	return map[string]any{
		"prompt_tokens": prompt, "completion_tokens": output,
		"total_tokens":          prompt + output,
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

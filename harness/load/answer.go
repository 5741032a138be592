package load

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aituner/opprof/results"
)

// longGap is the length from which a gap between chunks is listed.
const longGap = int64(50 * time.Millisecond)

// event is one JSON event of a completion stream, as far as it is used.
type event struct {
	Object      string `json:"object"`
	Model       string `json:"model"`
	Fingerprint string `json:"system_fingerprint"`
	Choices     []struct {
		TokenIDs     []int   `json:"token_ids"`
		FinishReason *string `json:"finish_reason"`
	} `json:"choices"`
	Usage *usage          `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	Details          *struct {
		CachedTokens *int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// answer follows the events of one response and fills the request's record.
type answer struct {
	record *results.Request
	model  string // expected in every event
	prompt int    // tokens sent, or textPrompt
	tokens []int
	text   []byte // what was generated, for a text prompt
	gaps   []int64
	usage  bool
	done   bool
	err    error // the first rule that an event broke
}

func newAnswer(record *results.Request, model string, prompt int) *answer {
	return &answer{record: record, model: model, prompt: prompt,
		tokens: make([]int, 0, record.WantTokens), gaps: make([]int64, 0, record.WantTokens)}
}

// event takes one event that was read at the given time. A broken rule does not
// end the stream: it is read to its end all the same.
func (a *answer) event(data []byte, at int64) {
	if err := a.take(data, at); err != nil && a.err == nil {
		a.err = err
	}
}

func (a *answer) take(data []byte, at int64) error {
	if string(data) == "[DONE]" {
		a.done = true
		return nil
	}
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return fmt.Errorf("event is not a completion chunk: %w: %.80q", err, data)
	}
	if (len(e.Error) > 0 && string(e.Error) != "null") || e.Object == "error" {
		return fmt.Errorf("error object in the stream: %.200s", data)
	}
	if a.done {
		return fmt.Errorf("event after [DONE]: %.80q", data)
	}
	if e.Fingerprint != "" {
		a.record.Fingerprint = e.Fingerprint
	}
	a.count(e.Usage)
	if a.prompt == textPrompt {
		if err := a.addText(data, at); err != nil {
			return err
		}
	}
	for _, c := range e.Choices {
		if a.prompt != textPrompt {
			a.add(c.TokenIDs, at)
		}
		if c.FinishReason != nil {
			a.record.FinishReason = *c.FinishReason
		}
	}
	return a.named(e.Model)
}

// named checks that the server that answers is the one that was asked.
func (a *answer) named(model string) error {
	if model == a.model {
		return nil
	}
	a.record.Model = model
	if model == "" {
		a.record.Model = "(none)"
	}
	return fmt.Errorf("response is from model %q, %q was asked", model, a.model)
}

// add takes the tokens of one chunk.
func (a *answer) add(ids []int, at int64) {
	if len(ids) > 0 {
		a.tokens = append(a.tokens, ids...)
		a.chunk(len(ids), at)
	}
}

// chunk notes that a chunk with tokens was read.
func (a *answer) chunk(tokens int, at int64) {
	r := a.record
	if r.Chunks == 0 {
		r.FirstNS, r.FirstTokens = at, tokens
	} else {
		gap := at - r.LastNS
		a.gaps = append(a.gaps, gap)
		if gap >= longGap {
			r.LongGaps = append(r.LongGaps, [2]int64{r.LastNS, at})
		}
	}
	r.LastNS = at
	r.Chunks++
}

func (a *answer) count(u *usage) {
	if u == nil {
		return
	}
	a.usage = true
	a.record.PromptTokens, a.record.OutputTokens = u.PromptTokens, u.CompletionTokens
	if u.Details != nil && u.Details.CachedTokens != nil {
		a.record.CachedTokens = *u.Details.CachedTokens
	}
}

// close finishes the record. failure is what ended the exchange, nil for a
// response that was read to its end.
func (a *answer) close(failure error) {
	r := a.record
	if len(a.gaps) > 0 {
		slices.Sort(a.gaps)
		middle := len(a.gaps) / 2
		r.GapMedianNS, r.GapMaxNS = a.gaps[middle], a.gaps[len(a.gaps)-1]
		if len(a.gaps)%2 == 0 {
			r.GapMedianNS = (a.gaps[middle-1] + a.gaps[middle]) / 2
		}
	}
	switch {
	case len(a.tokens) > 0:
		r.OutputSHA256 = TokensSHA256(a.tokens)
	case len(a.text) > 0:
		r.OutputSHA256 = textSHA256(a.text)
	}
	if err := a.verdict(failure); err != nil {
		r.Error = err.Error()
	}
}

// verdict is the first rule that the response broke, nil for a success. What an
// event said comes before how the connection ended, the cause before its
// consequence.
func (a *answer) verdict(failure error) error {
	r := a.record
	switch {
	case a.err != nil:
		return a.err
	case failure != nil:
		return failure
	case !a.done:
		return errors.New("stream ended without [DONE]")
	case r.FinishReason == "":
		return errors.New("no finish_reason")
	case r.FinishReason != "length" && r.FinishReason != "stop":
		return fmt.Errorf("finish_reason is %q", r.FinishReason)
	case !a.usage:
		return errors.New("no usage")
	case a.prompt == textPrompt:
		return a.textVerdict()
	case r.OutputTokens != len(a.tokens):
		return fmt.Errorf("usage says %s, not the %s received", counted(r.OutputTokens, "output token"), counted(len(a.tokens), "token id"))
	case len(a.tokens) != r.WantTokens:
		return fmt.Errorf("%s, %d were asked for", counted(len(a.tokens), "output token"), r.WantTokens)
	case r.PromptTokens != a.prompt:
		return fmt.Errorf("usage says %s, %d were sent", counted(r.PromptTokens, "prompt token"), a.prompt)
	}
	return nil
}

// TokensSHA256 is the SHA-256, in hex, of token ids in order, each as 4 bytes
// big endian.
func TokensSHA256(ids []int) string {
	b := make([]byte, 0, 4*len(ids))
	for _, id := range ids {
		b = binary.BigEndian.AppendUint32(b, uint32(id))
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// counted is a number with its noun, whose plural ends in s.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

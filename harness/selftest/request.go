package selftest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	maxBody   = 16 << 20 // bytes of a request
	maxTokens = 1 << 20  // of a response
)

// asked is the part of a completion or chat request that matters here.
type asked struct {
	Model               string          `json:"model"`
	Prompt              json.RawMessage `json:"prompt"`
	Messages            []message       `json:"messages"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	Stream              bool            `json:"stream"`
	ReturnTokenIDs      bool            `json:"return_token_ids"`
	StreamOptions       *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`

	chat   bool
	tag    int // -1: text
	prompt int // tokens
	tokens int // to write
}

// message is one of a chat; content is text or a list of parts.
type message struct {
	Content json.RawMessage `json:"content"`
}

// parse reads a request of either endpoint: one with messages is a chat.
func parse(body []byte) (*asked, error) {
	a := &asked{tag: -1, tokens: 16} // the default of OpenAI's interface
	if err := json.Unmarshal(body, a); err != nil {
		return nil, fmt.Errorf("the request is not valid: %w", err)
	}
	for _, n := range []*int{a.MaxTokens, a.MaxCompletionTokens} {
		if n != nil {
			a.tokens = *n
		}
	}
	if a.tokens < 1 || a.tokens > maxTokens {
		return nil, fmt.Errorf("max_tokens is %d: use 1 to %d", a.tokens, maxTokens)
	}
	if !a.Stream {
		return nil, errors.New("this server only streams: set stream to true")
	}
	a.chat = a.Messages != nil
	if !a.chat {
		return a, a.countPrompt()
	}
	for _, m := range a.Messages {
		a.prompt += len(strings.Fields(string(m.Content)))
	}
	return a, nil
}

// countPrompt takes the forms that OpenAI's interface knows: text, token ids,
// or a list with one of them. The tokens of a text are its words.
func (a *asked) countPrompt() error {
	var ids []int
	var idLists [][]int
	var text string
	var texts []string
	switch {
	case decodes(a.Prompt, &ids) && len(ids) > 0:
		a.tag, a.prompt = tagOf(ids), len(ids)
	case decodes(a.Prompt, &idLists) && len(idLists) == 1:
		a.tag, a.prompt = tagOf(idLists[0]), len(idLists[0])
	case decodes(a.Prompt, &text) && text != "":
		a.prompt = len(strings.Fields(text))
	case decodes(a.Prompt, &texts) && len(texts) == 1:
		a.prompt = len(strings.Fields(texts[0]))
	default:
		return errors.New("prompt must be one text or one list of token ids")
	}
	return nil
}

func decodes(data json.RawMessage, v any) bool { return json.Unmarshal(data, v) == nil }

func (a *asked) wantsUsage() bool { return a.StreamOptions != nil && a.StreamOptions.IncludeUsage }

// chunks builds the events of one response in the shape of vLLM's.
type chunks struct {
	first, start, middle, finish, end, usage string
	ids                                      bool
}

// vocabulary is the number of words that a response draws from. Word i is
// " w<i>", one token of the word-level tokenizer that peers/make_tokenizer.py
// writes.
const vocabulary = 256

// chunksFor prepares the events of a response, so that a burst only copies.
func (s *Server) chunksFor(a *asked) chunks {
	s.mu.Lock()
	s.arrived++
	number := s.arrived
	s.mu.Unlock()
	name, _ := json.Marshal(s.cfg.Model) // a string always has a JSON form
	kind, id := "text_completion", "cmpl"
	if a.chat {
		kind, id = "chat.completion.chunk", "chatcmpl"
	}
	envelope := fmt.Sprintf(`data: {"id":"%s-%032x","object":"%s","created":%d,"model":%s,"choices":[`,
		id, number, kind, time.Now().Unix(), name)
	c := chunks{ids: a.ReturnTokenIDs, start: envelope + `{"index":0,"text":"`,
		middle: `","logprobs":null,"finish_reason":`, finish: `,"stop_reason":null,"prompt_token_ids":null,"token_ids":`}
	c.first = c.start
	if a.chat {
		c.first = envelope + `{"index":0,"delta":{"role":"assistant","content":"`
		c.start = envelope + `{"index":0,"delta":{"content":"`
		c.middle = `"},"logprobs":null,"finish_reason":`
	}
	c.end = "}],\"usage\":null}\n\n"
	if a.wantsUsage() {
		c.usage = envelope + fmt.Sprintf(`],"usage":{"prompt_tokens":%d,"total_tokens":%d,"completion_tokens":%d}}`+"\n\n",
			a.prompt, a.prompt+a.tokens, a.tokens)
	}
	return c
}

// chunk appends the event of token n of want, after the last one also the usage
// and the end mark.
func (c *chunks) chunk(b []byte, n, want int) []byte {
	word := int64(n % vocabulary)
	if n == 0 {
		b = append(b, c.first...)
	} else {
		b = append(b, c.start...)
	}
	b = append(strconv.AppendInt(append(b, " w"...), word, 10), c.middle...)
	last := n == want-1
	if last {
		b = append(b, `"length"`...)
	} else {
		b = append(b, "null"...)
	}
	b = append(b, c.finish...)
	if c.ids {
		b = append(strconv.AppendInt(append(b, '['), word, 10), ']')
	} else {
		b = append(b, "null"...)
	}
	b = append(b, c.end...)
	if last {
		b = append(append(b, c.usage...), "data: [DONE]\n\n"...)
	}
	return b
}

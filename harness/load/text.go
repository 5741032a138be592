package load

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

// textPrompt stands for the number of tokens of a prompt that is sent as text:
// only the server knows it.
const textPrompt = -1

// textChunk is an event of a completion or chat stream, as far as generated
// text is in it. Reasoning is generated too; servers name it in two ways.
type textChunk struct {
	Choices []struct {
		Text  string `json:"text"`
		Delta struct {
			Content          string `json:"content"`
			ReasoningContent string `json:"reasoning_content"`
			Reasoning        string `json:"reasoning"`
		} `json:"delta"`
	} `json:"choices"`
}

// addText takes the text of one event. An event without any, such as the first
// of a chat, which only names the role, carries no token; one with text counts
// as one token, since how many it has cannot be known.
func (a *answer) addText(data []byte, at int64) error {
	var c textChunk
	if err := json.Unmarshal(data, &c); err != nil {
		return fmt.Errorf("event is not a text chunk: %w: %.80q", err, data)
	}
	before := len(a.text)
	for _, choice := range c.Choices {
		d := choice.Delta
		for _, part := range []string{choice.Text, d.ReasoningContent, d.Reasoning, d.Content} {
			a.text = append(a.text, part...)
		}
	}
	if len(a.text) > before {
		a.chunk(1, at)
	}
	return nil
}

// textVerdict is the part of the verdict that has no token ids to go by.
func (a *answer) textVerdict() error {
	r := a.record
	switch {
	case len(a.text) == 0:
		return errors.New("no text was generated")
	case r.OutputTokens != r.WantTokens:
		return fmt.Errorf("usage says %s, %d were asked for", counted(r.OutputTokens, "output token"), r.WantTokens)
	case r.PromptTokens < 1:
		return fmt.Errorf("usage says %d prompt tokens for a text", r.PromptTokens)
	}
	return nil
}

// textSHA256 is the SHA-256 of a text, in hex.
func textSHA256(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

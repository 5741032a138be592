package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// blockRow is a line of the formats that follow Mooncake
// (https://github.com/kvcache-ai/Mooncake, FAST25-release).
type blockRow struct {
	Timestamp json.RawMessage `json:"timestamp"`
	Input     *int64          `json:"input_length"`
	Output    *int64          `json:"output_length"`
	Blocks    []uint64        `json:"hash_ids"`
}

// customRow has a prompt in one of four forms.
type customRow struct {
	blockRow
	Prompt   []int           `json:"prompt"`
	Text     json.RawMessage `json:"text"`
	Messages json.RawMessage `json:"messages"`
}

// decode reads the only JSON value of a line, without unknown keys.
func decode(line []byte, to any) error {
	if first := bytes.TrimLeft(line, " \t"); len(first) == 0 || first[0] != '{' {
		return fmt.Errorf("want a JSON object, got %.80q", line)
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return errors.New("the row is cut: its JSON object does not end")
		}
		return fmt.Errorf("not a row of this format: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("a row is one JSON object, and more follows it")
	}
	return nil
}

type blockFormat struct {
	unit       time.Duration // of a timestamp
	needBlocks bool
}

func (f blockFormat) row(line []byte) (Row, error) {
	var b blockRow
	if err := decode(line, &b); err != nil {
		return Row{}, err
	}
	if b.Blocks == nil && f.needBlocks {
		return Row{}, errors.New("hash_ids is missing")
	}
	row, err := b.lengths()
	if err != nil {
		return Row{}, err
	}
	row.At, err = timestamp(b.Timestamp, f.unit)
	return row, err
}

// lengths takes over everything but the time.
func (b blockRow) lengths() (Row, error) {
	if b.Input == nil {
		return Row{}, errors.New("input_length is missing")
	}
	if err := checkTokens("input_length", *b.Input); err != nil {
		return Row{}, err
	}
	row := Row{Input: int(*b.Input), Blocks: b.Blocks}
	if want := (row.Input + BlockTokens - 1) / BlockTokens; b.Blocks != nil && len(b.Blocks) != want {
		return Row{}, fmt.Errorf("input_length %d makes %d blocks of %d tokens, and there are %d hash_ids",
			row.Input, want, BlockTokens, len(b.Blocks))
	}
	var err error
	row.Output, err = b.output()
	return row, err
}

func (b blockRow) output() (int, error) {
	if b.Output == nil {
		return 0, errors.New("output_length is missing")
	}
	return int(*b.Output), checkTokens("output_length", *b.Output)
}

type customFormat struct {
	unit     time.Duration
	needTime bool
}

func (f customFormat) row(line []byte) (Row, error) {
	var c customRow
	if err := decode(line, &c); err != nil {
		return Row{}, err
	}
	row, err := c.content()
	if err != nil || !f.needTime {
		return row, err
	}
	row.At, err = timestamp(c.Timestamp, f.unit)
	return row, err
}

// content takes over the prompt, which must be there in exactly one form, and
// the lengths.
func (c customRow) content() (Row, error) {
	forms := 0
	for _, there := range []bool{c.Input != nil, c.Prompt != nil, c.Text != nil, c.Messages != nil} {
		if there {
			forms++
		}
	}
	switch {
	case forms != 1:
		return Row{}, fmt.Errorf("want one of input_length, prompt, text and messages, got %d of them", forms)
	case c.Input != nil:
		return c.lengths()
	case c.Blocks != nil:
		return Row{}, errors.New("hash_ids describe prompts of a given input_length: leave them out")
	}
	output, err := c.output()
	if err != nil {
		return Row{}, err
	}
	row := Row{Output: output, Input: len(c.Prompt), Prompt: c.Prompt}
	switch {
	case c.Prompt != nil:
		return row, checkTokens("the number of prompt tokens", int64(row.Input))
	case c.Text != nil:
		row.Text, err = plainText(c.Text)
	default:
		row.Chat = true
		row.Text, err = chat(c.Messages)
	}
	return row, err
}

// plainText checks a prompt that is sent as text.
func plainText(raw json.RawMessage) (string, error) {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil || text == "" {
		return "", fmt.Errorf("text: want a string that is not empty, got %.40q", raw)
	}
	return string(raw), nil
}

// chat checks a list of messages. What a message may hold is the server's to
// say; the list is sent as it is.
func chat(raw json.RawMessage) (string, error) {
	var messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(raw, &messages); err != nil || len(messages) == 0 {
		return "", fmt.Errorf("messages: want a list of messages that is not empty, got %.40q", raw)
	}
	for i, m := range messages {
		if m.Role == "" || m.Content == nil {
			return "", fmt.Errorf("messages: number %d has no role or no content", i+1)
		}
	}
	return string(raw), nil
}

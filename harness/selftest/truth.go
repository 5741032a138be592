package selftest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
)

// Truth is what the step server knows about the requests since it was last
// cleared. All times are ns on the host's monotonic clock, see HostTime.
type Truth struct {
	Schema   int      `json:"schema"`
	Kind     string   `json:"kind"` // "selftest-truth"
	Requests []Served `json:"requests"`
	Steps    []Step   `json:"steps"` // those that had a stream to write to
	// CPUSeconds of the server's process since it was cleared.
	CPUSeconds float64 `json:"cpu_seconds"`
}

// Served is one request as the server saw it, in the order of their ends.
type Served struct {
	// Tag is the index that the client wrote into the prompt's token ids, -1
	// for a prompt of text.
	Tag        int   `json:"tag"`
	ReceivedNS int64 `json:"received_ns"` // the last byte of the request was there
	// WriteNS holds, for each chunk with a token, the time right before it was
	// written.
	WriteNS []int64 `json:"write_ns"`
	// Aborted is set if the client had gone before the last chunk.
	Aborted bool `json:"aborted,omitempty"`
}

// Step is one burst: a chunk written to every live stream.
type Step struct {
	StartNS int64 `json:"start_ns"`
	EndNS   int64 `json:"end_ns"` // after the last write
	Live    int   `json:"live"`
}

// truthPath is where a step server gives its truth (GET) and forgets it
// (DELETE).
const truthPath = "/selftest/truth"

// maxTruth bounds what is read of a truth, in bytes: about 25 per chunk.
const maxTruth = 1 << 30

// askTruth sends one request to the truth endpoint and returns the body of its
// answer.
func askTruth(ctx context.Context, method, address string) (io.ReadCloser, error) {
	url := "http://" + address + truthPath
	req, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return nil, err
	}
	// A transport of its own: the client under test shares nothing with it.
	transport := &http.Transport{DisableKeepAlives: true, DialContext: (&net.Dialer{}).DialContext}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return nil, fmt.Errorf("step server: %w", err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp.Body, nil
	}
	defer resp.Body.Close()
	words, _ := io.ReadAll(io.LimitReader(resp.Body, 300))
	return nil, fmt.Errorf("step server: %s %s: status %d: %.300q", method, url, resp.StatusCode, words)
}

// clearTruth makes the server forget what it has served.
func clearTruth(ctx context.Context, address string) error {
	body, err := askTruth(ctx, http.MethodDelete, address)
	if err != nil {
		return err
	}
	return body.Close()
}

func fetchTruth(ctx context.Context, address string) (*Truth, error) {
	body, err := askTruth(ctx, http.MethodGet, address)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return readTruth(body, maxTruth)
}

// readTruth decodes a truth. A document of another kind is refused: an empty
// object would else look like a server that served nothing.
func readTruth(r io.Reader, limit int64) (*Truth, error) {
	limited := &io.LimitedReader{R: r, N: limit}
	var t Truth
	err := json.NewDecoder(limited).Decode(&t)
	switch {
	case limited.N == 0:
		return nil, fmt.Errorf("step server: its truth is longer than %d bytes: use fewer requests or tokens", limit)
	case err != nil:
		return nil, fmt.Errorf("step server: its truth is not readable: %w", err)
	case t.Kind != truthKind || t.Schema != truthSchema:
		return nil, fmt.Errorf("step server: its truth is kind %q, schema %d; %q, schema %d is needed: start it from this opbench",
			t.Kind, t.Schema, truthKind, truthSchema)
	}
	return &t, nil
}

const (
	truthKind   = "selftest-truth"
	truthSchema = 1
)

// tagTokens is the number of token ids at the start of a prompt that hold its
// tag, each one digit to the base tagBase.
const (
	tagTokens = 3
	tagBase   = 256
)

// maxTag is the first number that is not a tag.
const maxTag = tagBase * tagBase * tagBase

// taggedPrompt is a prompt of n token ids that carries a tag.
func taggedPrompt(tag, n int) []int {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = tagBase + i%tagBase // no digit: only the first ids are read as a tag
	}
	ids[0], ids[1], ids[2] = tag/(tagBase*tagBase), tag/tagBase%tagBase, tag%tagBase
	return ids
}

// tagOf reads the tag of a prompt, -1 if it has none.
func tagOf(ids []int) int {
	if len(ids) < tagTokens {
		return -1
	}
	tag := 0
	for _, id := range ids[:tagTokens] {
		if id < 0 || id >= tagBase {
			return -1
		}
		tag = tag*tagBase + id
	}
	return tag
}

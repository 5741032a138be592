package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/aituner/opprof/harness/workload"
)

// Target is the server under test as the client sees it.
type Target struct {
	// Dial opens a connection. It is called before a request's send time is
	// taken; see TCP.
	Dial func(ctx context.Context) (net.Conn, error)
	// Host is the value of the Host header.
	Host string
	// Model is the served model's name. Every event must carry it.
	Model string
	// Timeout bounds one request from its send to the end of the response.
	Timeout time.Duration
	// Origin is the zero of all *_ns times of the records. It must lie before
	// the first send and hold a monotonic clock reading (time.Now).
	Origin time.Time
}

// TCP dials an address (host:port) over TCP. No delay algorithm is in the way:
// Go sets TCP_NODELAY.
func TCP(address string) func(ctx context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		dialer := net.Dialer{Timeout: 5 * time.Second}
		return dialer.DialContext(ctx, "tcp", address)
	}
}

func (t Target) check() error {
	switch {
	case t.Dial == nil:
		return errors.New("load: target has no Dial")
	case t.Model == "":
		return errors.New("load: target has no model name, so answers of another server would not be seen")
	case t.Timeout <= 0:
		return errors.New("load: target has no timeout, so one stalled stream would hold the run for ever")
	case !t.Origin.Before(time.Now()):
		return errors.New("load: target's origin must lie before the first send")
	}
	return nil
}

// message builds all bytes of a request, so that the timed phase only writes.
func (t Target) message(r workload.Request) message {
	path, key, tokens := "/v1/completions", `,"prompt":`, len(r.Prompt)
	if r.Chat {
		path, key = "/v1/chat/completions", `,"messages":`
	}
	body := []byte(`{"model":`)
	name, _ := json.Marshal(t.Model) // a string always has a JSON form
	body = append(append(body, name...), key...)
	if r.Text != "" {
		body, tokens = append(body, r.Text...), textPrompt
	} else {
		body = appendIDs(body, r.Prompt)
	}
	body = append(body, `,"max_tokens":`...)
	body = strconv.AppendInt(body, int64(r.MaxTokens), 10)
	body = append(append(append(body, ','), workload.Sampling...), '}')
	head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"+
		"Accept: text/event-stream\r\nContent-Length: %d\r\n\r\n", path, t.Host, len(body))
	return message{bytes: append([]byte(head), body...), prompt: tokens}
}

func appendIDs(body []byte, ids []int) []byte {
	body = append(body, '[')
	for i, id := range ids {
		if i > 0 {
			body = append(body, ',')
		}
		body = strconv.AppendInt(body, int64(id), 10)
	}
	return append(body, ']')
}

func (t Target) messages(requests []workload.Request) []message {
	all := make([]message, len(requests))
	for i, r := range requests {
		all[i] = t.message(r)
	}
	return all
}

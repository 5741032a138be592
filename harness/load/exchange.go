package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aituner/opprof/results"
)

// post tells http.ReadResponse that a response has a body.
var post = &http.Request{Method: http.MethodPost}

// message is one request in the form in which it is written to the socket.
type message struct {
	bytes  []byte // head and body
	prompt int    // tokens; textPrompt for a text
}

// sent is what is known about an exchange beside its record.
type sent struct {
	tokens []int
	gaps   []int64 // between its chunks, ns
	wall   int64   // wall clock of the send, ns since the epoch
	last   int64   // wall clock of the read of the last token, 0: there was none
}

// exchange sends one message and reads the response to its end. The send time
// is taken right before the only write. Whatever goes wrong is in the record's
// Error; then the connection is closed.
func (l *link) exchange(ctx context.Context, t Target, m message, record *results.Request) sent {
	a := newAnswer(record, t.Model, m.prompt)
	conn := l.conn
	conn.SetDeadline(time.Now().Add(t.Timeout)) // an error here shows in the write
	unhook := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	start := time.Now()
	record.SentNS = int64(start.Sub(t.Origin))
	l.stamp.at = record.SentNS // nothing that answers it arrives earlier
	failure := l.transfer(m, a)
	record.EndNS = l.stamp.at
	if failure != nil {
		record.EndNS = int64(time.Since(t.Origin))
		failure = explain(ctx, t, failure)
	}
	a.close(failure)
	if !unhook() || failure != nil {
		l.drop()
	}
	l.idle = time.Now()
	s := sent{tokens: a.tokens, gaps: a.gaps, wall: start.UnixNano()}
	if record.LastNS > 0 {
		s.last = l.idle.UnixNano() - int64(l.idle.Sub(t.Origin)) + record.LastNS
	}
	return s
}

// transfer writes the message and feeds the response to the answer.
func (l *link) transfer(m message, a *answer) error {
	if _, err := l.conn.Write(m.bytes); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	l.head.Reset(&l.stamp)
	l.stamp.inHead = headSize
	resp, err := http.ReadResponse(l.head, post)
	l.stamp.inHead = -1
	if err != nil {
		return fmt.Errorf("no response: %w", ended(err))
	}
	if err := l.accept(resp); err != nil {
		return err
	}
	stream := &events{emit: a.event}
	b, err := newBody(resp, stream.push)
	if err != nil {
		return err
	}
	if err := l.readBody(b); err != nil {
		return err
	}
	if stream.pending() {
		return errors.New("cut stream: the response ended inside an event")
	}
	if resp.Close {
		l.drop()
	}
	return nil
}

// readBody moves the body from the socket to its decoder: first what came with
// the head, in the same read, then read by read.
func (l *link) readBody(b *body) error {
	rest, _ := l.head.Peek(l.head.Buffered())
	if err := b.push(rest, l.stamp.at); err != nil {
		return err
	}
	for b.state != complete {
		n, err := l.stamp.Read(l.buf)
		if err := b.push(l.buf[:n], l.stamp.at); err != nil {
			return err
		}
		if err != nil && b.state != complete {
			return ended(err)
		}
	}
	return nil
}

// accept refuses responses that are not an event stream, with their first
// words.
func (l *link) accept(resp *http.Response) error {
	kind := resp.Header.Get("Content-Type")
	if resp.StatusCode == http.StatusOK && strings.HasPrefix(kind, "text/event-stream") {
		return nil
	}
	words, _ := io.ReadAll(io.LimitReader(resp.Body, mostWords))
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d: %s", resp.StatusCode, reason(words))
	}
	return fmt.Errorf("response is %q, not an event stream: %.300q", kind, words)
}

// mostWords is how much of a refusal is read, in bytes.
const mostWords = 4096

// reason is what a server says in its refusal: the message of OpenAI's error object
// or of FastAPI's, else its first words as they are.
func reason(body []byte) string {
	var said struct{ Error, Message, Detail any }
	_ = json.Unmarshal(body, &said) // what has another form is quoted
	if object, ok := said.Error.(map[string]any); ok {
		said.Error = object["message"]
	}
	for _, one := range []any{said.Error, said.Message, said.Detail} {
		if text, ok := one.(string); ok && text != "" {
			return fmt.Sprintf("%.300s", strings.Join(strings.Fields(text), " "))
		}
	}
	return fmt.Sprintf("%.300q", body)
}

// explain names the end of the load or the time limit where a deadline is only
// how it showed.
func explain(ctx context.Context, t Target, failure error) error {
	var late net.Error
	if !errors.Is(failure, os.ErrDeadlineExceeded) && !(errors.As(failure, &late) && late.Timeout()) {
		return failure
	}
	if ctx.Err() != nil {
		return fmt.Errorf("given up: %w", context.Cause(ctx))
	}
	return fmt.Errorf("timeout: no end of the response within %v", t.Timeout)
}

// Package pipe connects a client and a server of one test in memory. Everything
// waits on channels and condition variables only, so that a testing/synctest
// bubble sees a goroutine that waits here as blocked, and its clock goes on.
package pipe

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// room is how many bytes one direction of a connection holds before
// the writer has to wait, like a socket's buffer: a slow reader then does not
// stall a burst.
const room = 1 << 16

// Listener is a net.Listener in memory. It and its connections belong to the
// bubble in which it was made.
type Listener struct {
	calls chan net.Conn
	done  chan struct{}
	once  sync.Once
}

// Listen makes a listener whose Dial method reaches it.
func Listen() *Listener {
	return &Listener{calls: make(chan net.Conn), done: make(chan struct{})}
}

// Accept waits for the next Dial.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.calls:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and Dial; connections live on.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

// Addr is a name, not a place in any network.
func (l *Listener) Addr() net.Addr { return addr{} }

// Dial connects to the listener. It has the signature of
// http.Transport.DialContext; network and address do not matter.
func (l *Listener) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	there, here := newBuffer(), newBuffer()
	select {
	case l.calls <- &conn{in: there, out: here}:
		return &conn{in: here, out: there}, nil
	case <-l.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type addr struct{}

func (addr) Network() string { return "pipe" }
func (addr) String() string  { return "pipe" }

// buffer is one direction of a connection.
type buffer struct {
	mu         sync.Mutex
	changed    *sync.Cond
	data       []byte
	ended      bool // the writer closed
	gone       bool // the reader closed
	readLimit  limit
	writeLimit limit
}

func newBuffer() *buffer {
	b := &buffer{}
	b.changed = sync.NewCond(&b.mu)
	return b
}

// limit is a deadline; its timer wakes whoever waits.
type limit struct {
	at    time.Time
	timer *time.Timer
}

func (l *limit) passed() bool { return !l.at.IsZero() && !time.Now().Before(l.at) }

func (b *buffer) setLimit(l *limit, t time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
	}
	l.at = t
	if wait := time.Until(t); !t.IsZero() && wait > 0 {
		l.timer = time.AfterFunc(wait, func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.changed.Broadcast()
		})
	}
	b.changed.Broadcast()
}

func (b *buffer) read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		switch {
		case b.gone:
			return 0, net.ErrClosed
		case b.ended && len(b.data) == 0: // before the limit, so that a look with a past one sees the end
			return 0, io.EOF
		case b.readLimit.passed():
			return 0, os.ErrDeadlineExceeded
		case len(b.data) > 0 || len(p) == 0:
			n := copy(p, b.data)
			b.data = b.data[n:]
			b.changed.Broadcast()
			return n, nil
		}
		b.changed.Wait()
	}
}

func (b *buffer) write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	written := 0
	for {
		switch {
		case b.ended:
			return written, net.ErrClosed
		case b.gone:
			return written, io.ErrClosedPipe
		case b.writeLimit.passed():
			return written, os.ErrDeadlineExceeded
		case written == len(p):
			return written, nil
		}
		if n := min(room-len(b.data), len(p)-written); n > 0 {
			b.data = append(b.data, p[written:written+n]...)
			written += n
			b.changed.Broadcast()
			continue
		}
		b.changed.Wait()
	}
}

func (b *buffer) close(side *bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	*side = true
	b.changed.Broadcast()
	return nil
}

// conn is one end of a connection.
type conn struct{ in, out *buffer }

func (c *conn) Read(p []byte) (int, error)  { return c.in.read(p) }
func (c *conn) Write(p []byte) (int, error) { return c.out.write(p) }
func (c *conn) LocalAddr() net.Addr         { return addr{} }
func (c *conn) RemoteAddr() net.Addr        { return addr{} }

func (c *conn) Close() error {
	return errors.Join(c.in.close(&c.in.gone), c.out.close(&c.out.ended))
}

func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

func (c *conn) SetReadDeadline(t time.Time) error {
	c.in.setLimit(&c.in.readLimit, t)
	return nil
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	c.out.setLimit(&c.out.writeLimit, t)
	return nil
}

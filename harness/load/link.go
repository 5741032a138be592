package load

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/aituner/opprof/harness/arrival"
)

const (
	readSize = 32 << 10 // bytes of one socket read
	headSize = 64 << 10 // bound of a response's head

	// idleLimit is the age from which an idle connection is replaced before it
	// is used. vLLM closes idle connections after 5 s
	// (VLLM_HTTP_TIMEOUT_KEEP_ALIVE); one that is closed between the look and
	// the send would cost a request.
	idleLimit = 4 * time.Second
)

// link is one persistent connection and its buffers, used by one request at a
// time.
type link struct {
	dial   func(context.Context) (net.Conn, error)
	conn   net.Conn // nil: not connected
	stamp  stamper
	head   *bufio.Reader // over stamp, for the response's head only
	buf    []byte
	idle   time.Time // since when
	dials  int
	redial int // dials that replaced a connection between two requests
}

func newLink(t Target) *link {
	l := &link{dial: t.Dial, buf: make([]byte, readSize)}
	l.stamp.origin = t.Origin
	l.head = bufio.NewReaderSize(&l.stamp, readSize)
	return l
}

// ready makes sure that there is a connection that the server has not closed.
// It is called before the send time is taken.
func (l *link) ready(ctx context.Context) error {
	if l.conn != nil && (time.Since(l.idle) > idleLimit || closedByPeer(l.conn)) {
		l.drop()
	}
	if l.conn != nil {
		return nil
	}
	conn, err := l.dial(ctx)
	if err != nil {
		return fmt.Errorf("dial: %w", err)
	}
	if l.dials > 0 {
		l.redial++
	}
	l.dials++
	l.conn, l.idle = conn, time.Now()
	l.stamp.on(conn)
	return nil
}

// drop closes the connection.
func (l *link) drop() {
	if l.conn == nil {
		return
	}
	l.conn.Close()
	l.conn, l.stamp.conn, l.stamp.kernel = nil, nil, nil
	l.head.Reset(&l.stamp)
}

// stamper notes when the bytes of each read arrived, on the monotonic clock
// since the origin, before anything looks at them: when the kernel had them or,
// where it does not say so, when the read returned.
type stamper struct {
	conn   net.Conn
	kernel *arrival.Conn // the same; nil: no stamps of the kernel
	origin time.Time
	at     int64
	inHead int // bytes that may still be read while the head is read; < 0: no bound
	// reads counts those that brought bytes, stamped the ones with a stamp of
	// the kernel.
	reads, stamped int
}

func (s *stamper) on(conn net.Conn) {
	s.conn = conn
	if kernel, ok := arrival.Wrap(conn); ok {
		s.conn, s.kernel = kernel, kernel
	}
}

// arrived is the time of the read that has just returned. A stamp of the kernel
// that lies before what came last (floor) or in the future cannot be right, as
// when the wall clock was set meanwhile.
func (s *stamper) arrived(floor int64) int64 {
	s.reads++
	if s.kernel == nil {
		return int64(time.Since(s.origin))
	}
	at, now, ok := s.kernel.Arrived(s.origin)
	if !ok || at < floor || at > now {
		return now
	}
	s.stamped++
	return at
}

var errHugeHead = errors.New("response head is longer than 64 KiB")

func (s *stamper) Read(p []byte) (int, error) {
	if s.inHead == 0 {
		return 0, errHugeHead
	}
	if s.inHead > 0 {
		p = p[:min(len(p), s.inHead)]
	}
	n, err := s.conn.Read(p)
	if n > 0 {
		s.at = s.arrived(s.at)
	} else {
		s.at = int64(time.Since(s.origin))
	}
	if s.inHead > 0 {
		s.inHead -= n
	}
	return n, err
}

// ended is the error of a read that met the end of the connection.
func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("cut stream: the server closed the connection before the end of the response")
	}
	return err
}

// peek is a look at an idle connection that can't be asked for its socket.
func peek(conn net.Conn) (closed bool) {
	if err := conn.SetReadDeadline(time.Unix(1, 0)); err != nil {
		return true
	}
	var b [1]byte
	n, err := conn.Read(b[:])
	var late net.Error
	return n > 0 || !errors.As(err, &late) || !late.Timeout()
}

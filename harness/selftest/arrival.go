package selftest

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"

	"github.com/aituner/opprof/harness/arrival"
)

// Serve answers requests until the listener is closed. The truth then holds the
// time at which the kernel had the last byte of a request: what a busy server
// needs to wake up and read is its own time, and no client's error.
func (s *Server) Serve(srv *http.Server, l net.Listener) error {
	srv.Handler = s.Handler()
	srv.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, arrivalKey{}, c)
	}
	return srv.Serve(stampedListener{l, readOrigin()})
}

type arrivalKey struct{}

// received is when the kernel had the last byte that was read of a connection's
// request, on the host's clock; where it did not say so, now.
func received(r *http.Request) int64 {
	if c, ok := r.Context().Value(arrivalKey{}).(*stampedConn); ok {
		if at := c.arrived.Load(); at > 0 {
			return at
		}
	}
	return HostTime()
}

// stampedListener makes connections that note when something arrived, where the
// kernel says so.
type stampedListener struct {
	net.Listener
	clock origin
}

func (l stampedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if stamped, ok := arrival.Wrap(c); ok {
		return &stampedConn{Conn: stamped, clock: l.clock}, nil
	}
	return c, nil
}

// stampedConn keeps the stamp of the last read for whoever handles the request:
// the server may read the first byte of the next one meanwhile.
type stampedConn struct {
	*arrival.Conn
	clock   origin
	arrived atomic.Int64 // host time; 0: the kernel did not say
}

func (c *stampedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	at, _, ok := c.Arrived(c.clock.client)
	if ok {
		at += c.clock.host
	} else {
		at = 0
	}
	c.arrived.Store(at)
	return n, err
}

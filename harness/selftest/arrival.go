package selftest

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// Serve answers requests until the listener is closed. The truth then holds the
// time at which the kernel had the last byte of a request: what a busy server
// needs to wake up and read is its own time, and no client's error.
func (s *Server) Serve(srv *http.Server, l net.Listener) error {
	srv.Handler = s.Handler()
	srv.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, arrivalKey{}, c)
	}
	return srv.Serve(stampedListener{l})
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

// stampedListener asks the kernel to stamp what arrives.
type stampedListener struct{ net.Listener }

func (l stampedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return c, nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return c, nil
	}
	var refused error
	err = raw.Control(func(fd uintptr) {
		refused = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPING,
			unix.SOF_TIMESTAMPING_RX_SOFTWARE|unix.SOF_TIMESTAMPING_SOFTWARE)
	})
	if err != nil || refused != nil {
		return c, nil // an old kernel: the time of the read stands in
	}
	return &stampedConn{TCPConn: tcp, raw: raw}, nil
}

// stampedConn keeps the kernel's stamp of the last byte that was read.
type stampedConn struct {
	*net.TCPConn
	raw     syscall.RawConn
	arrived atomic.Int64 // host time; 0: the kernel did not say
}

// Read is that of a stream, with the stamp.
func (c *stampedConn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	var n, control int
	var failure error
	oob := make([]byte, 128)
	err := c.raw.Read(func(fd uintptr) bool {
		n, control, _, _, failure = unix.Recvmsg(int(fd), p, oob, 0)
		return failure != unix.EAGAIN && failure != unix.EINTR
	})
	if err == nil {
		err = failure
	}
	if err != nil {
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
	}
	if n == 0 {
		return 0, io.EOF
	}
	c.arrived.Store(stampIn(oob[:control]))
	return n, nil
}

// stampIn reads the software stamp (CLOCK_REALTIME) of a received message and
// puts it on the host's monotonic clock; 0 if there is none.
func stampIn(oob []byte) int64 {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return 0
	}
	for _, m := range messages {
		if m.Header.Level != unix.SOL_SOCKET || m.Header.Type != unix.SO_TIMESTAMPING || len(m.Data) < 16 {
			continue
		}
		at := int64(binary.NativeEndian.Uint64(m.Data))*1e9 + int64(binary.NativeEndian.Uint64(m.Data[8:]))
		var wall unix.Timespec
		if at == 0 || unix.ClockGettime(unix.CLOCK_REALTIME, &wall) != nil {
			return 0
		}
		return HostTime() - (wall.Nano() - at)
	}
	return 0
}

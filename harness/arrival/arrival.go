// Package arrival tells when bytes reached this host: the kernel's own receive
// stamp of a TCP connection, which no busy process delays.
package arrival

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Conn is a TCP connection that keeps the stamp of what was read last. It has
// one reader at a time.
type Conn struct {
	*net.TCPConn
	raw syscall.RawConn

	buf     []byte // of the read in progress
	n       int
	oob     [128]byte
	control int
	failure error
	receive func(fd uintptr) bool
}

// KeepOn switches stamping on for the life of the process. The kernel stamps
// while any socket asks for it, and begins a moment after the first one does: a
// client whose connections come and go would otherwise miss the first answers.
// Without it, or where it fails, Wrap still works.
var KeepOn = sync.OnceFunc(func() {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return
	}
	_ = ask(fd) // the socket stays open, whatever it says
})

func ask(fd int) error {
	return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPING,
		unix.SOF_TIMESTAMPING_RX_SOFTWARE|unix.SOF_TIMESTAMPING_SOFTWARE)
}

// Wrap asks the kernel to stamp what arrives on a connection. ok is false for
// another kind of connection and on a kernel that refuses.
func Wrap(conn net.Conn) (c *Conn, ok bool) {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return nil, false
	}
	KeepOn()
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil, false
	}
	var refused error
	err = raw.Control(func(fd uintptr) { refused = ask(int(fd)) })
	if err != nil || refused != nil {
		return nil, false
	}
	c = &Conn{TCPConn: tcp, raw: raw}
	c.receive = c.try // one closure for all reads
	return c, true
}

func (c *Conn) try(fd uintptr) bool {
	c.n, c.control, _, _, c.failure = unix.Recvmsg(int(fd), c.buf, c.oob[:], 0)
	return c.failure != unix.EAGAIN && c.failure != unix.EINTR
}

// Read is that of a stream.
func (c *Conn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	c.buf, c.n, c.control, c.failure = p, 0, 0, nil
	err := c.raw.Read(c.receive)
	c.buf = nil
	var raw *net.OpError // names the connection, as the error below does
	switch {
	case err == nil:
		err = c.failure
	case errors.As(err, &raw):
		err = raw.Err
	}
	switch {
	case err != nil:
		c.control = 0
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
	case c.n == 0:
		return 0, io.EOF
	}
	return c.n, nil
}

// Arrived is when the last byte of the last Read reached this host, on the
// monotonic clock since the origin, in ns, and what time it is now. ok is false
// if the kernel did not say.
func (c *Conn) Arrived(origin time.Time) (at, now int64, ok bool) {
	wall := stampIn(c.oob[:c.control])
	offset, now := offsets(origin)
	return wall + offset, now, wall > 0
}

// offsets is what turns the kernel's stamps, which are wall-clock times, into
// times since the origin, and the time now. One time.Now reads both clocks, the
// wall clock first: of three readings the one between whose halves the least
// time went by is right.
func offsets(origin time.Time) (offset, now int64) {
	for i := range 3 {
		t := time.Now()
		now = int64(t.Sub(origin))
		if apart := now - t.UnixNano(); i == 0 || apart < offset {
			offset = apart
		}
	}
	return offset, now
}

// messageHead is the length of a control message's head on 64-bit Linux:
// length, level, type.
const messageHead = 16

// stampIn finds the software stamp among the control messages of a read.
func stampIn(oob []byte) int64 {
	for len(oob) >= messageHead {
		length := binary.NativeEndian.Uint64(oob)
		level, kind := binary.NativeEndian.Uint32(oob[8:]), binary.NativeEndian.Uint32(oob[12:])
		if length < messageHead || length > uint64(len(oob)) {
			return 0
		}
		if data := oob[messageHead:length]; level == unix.SOL_SOCKET && kind == unix.SO_TIMESTAMPING && len(data) >= 16 {
			return int64(binary.NativeEndian.Uint64(data))*1e9 + int64(binary.NativeEndian.Uint64(data[8:]))
		}
		oob = oob[min(uint64(len(oob)), (length+7)&^7):]
	}
	return 0
}

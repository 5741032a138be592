package selftest

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A server that reads late still knows when a request arrived: its own delay is
// no error of the client.
func TestArrivalIsNotTheRead(t *testing.T) {
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := stampedListener{plain}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	defer client.Close()
	server, err := l.Accept()
	require.NoError(t, err)
	defer server.Close()
	c, ok := server.(*stampedConn)
	require.True(t, ok, "the kernel takes SO_TIMESTAMPING")

	for range 3 { // the kernel may switch stamping on a moment after it was asked to
		before := HostTime()
		_, err = client.Write([]byte("ab"))
		require.NoError(t, err)
		written := HostTime()
		time.Sleep(50 * time.Millisecond)
		n, err := c.Read(make([]byte, 8))
		require.NoError(t, err)
		assert.Equal(t, 2, n)
		if at := c.arrived.Load(); at > 0 {
			assert.GreaterOrEqual(t, at, before-int64(time.Millisecond))
			assert.LessOrEqual(t, at, written+int64(40*time.Millisecond))
			break
		}
	}
	assert.Positive(t, c.arrived.Load())

	require.NoError(t, client.Close())
	_, err = c.Read(make([]byte, 8))
	assert.EqualError(t, err, "EOF")
	n, err := c.Read(nil)
	assert.Zero(t, n)
	assert.NoError(t, err)
}

// What is no stamp is none.
func TestStampIn(t *testing.T) {
	for name, oob := range map[string][]byte{
		"nothing": nil, "cut": {1, 2, 3}, "another message": unix.UnixRights(1), "a header that lies": make([]byte, 64),
	} {
		assert.Zero(t, stampIn(oob), name)
	}
}

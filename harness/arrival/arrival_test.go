package arrival

import (
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func pair(t *testing.T) (client net.Conn, server *Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	client, err = net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { client.Close() })
	accepted, err := l.Accept()
	require.NoError(t, err)
	server, ok := Wrap(accepted)
	require.True(t, ok, "the kernel takes SO_TIMESTAMPING")
	t.Cleanup(func() { server.Close() })
	return client, server
}

// While a process keeps stamping on, the first bytes of a new connection are
// stamped, although none was open a moment before.
func TestKeepOn(t *testing.T) {
	KeepOn()
	time.Sleep(200 * time.Millisecond) // the kernel switches it on in the background
	for range 20 {
		client, server := pair(t)
		_, err := client.Write([]byte("a"))
		require.NoError(t, err)
		_, err = server.Read(make([]byte, 1))
		require.NoError(t, err)
		_, _, ok := server.Arrived(time.Now())
		assert.True(t, ok)
		client.Close()
		server.Close()
	}
}

// A process that reads late still knows when the bytes came.
func TestArrivalIsNotTheRead(t *testing.T) {
	client, server := pair(t)
	for range 5 { // the kernel may begin to stamp a moment after it was asked to
		origin := time.Now()
		_, err := client.Write([]byte("ab"))
		require.NoError(t, err)
		time.Sleep(50 * time.Millisecond)
		n, err := server.Read(make([]byte, 8))
		require.NoError(t, err)
		assert.Equal(t, 2, n)
		if at, now, ok := server.Arrived(origin); ok {
			assert.Positive(t, at)
			assert.Greater(t, now-at, int64(40*time.Millisecond))
			return
		}
	}
	t.Fatal("five reads without a stamp")
}

// The end of the stream, a deadline and a closed connection look as they do on
// any connection, and leave no stamp of an earlier read.
func TestEnds(t *testing.T) {
	client, server := pair(t)
	n, err := server.Read(nil)
	assert.Zero(t, n)
	assert.NoError(t, err)
	require.NoError(t, server.SetReadDeadline(time.Now().Add(5*time.Millisecond)))
	_, err = server.Read(make([]byte, 1))
	assert.ErrorIs(t, err, os.ErrDeadlineExceeded)
	_, _, ok := server.Arrived(time.Now())
	assert.False(t, ok)
	require.NoError(t, server.SetReadDeadline(time.Time{}))
	require.NoError(t, client.Close())
	_, err = server.Read(make([]byte, 1))
	assert.EqualError(t, err, "EOF")
	require.NoError(t, server.Close())
	_, err = server.Read(make([]byte, 1))
	assert.ErrorIs(t, err, net.ErrClosed)
}

func TestOtherConnections(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	_, ok := Wrap(a)
	assert.False(t, ok)
}

// Control messages that are cut or lie about their length hold no stamp.
func FuzzStampIn(f *testing.F) {
	f.Add([]byte(nil))
	f.Add([]byte{1, 2, 3})
	f.Add(make([]byte, 64))
	f.Add(unix.UnixRights(1, 2))
	f.Add(append(unix.UnixRights(1), 40, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 37, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0))
	f.Fuzz(func(t *testing.T, oob []byte) { stampIn(oob) })
}

func TestStampBehindAnotherMessage(t *testing.T) {
	stamp := []byte{32, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, unix.SO_TIMESTAMPING, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0}
	assert.Equal(t, int64(5e9+7), stampIn(stamp))
	assert.Equal(t, int64(5e9+7), stampIn(append(unix.UnixRights(1), stamp...)))
	for cut := range stamp {
		assert.Zero(t, stampIn(stamp[:cut]), "cut at %d", cut)
	}
}

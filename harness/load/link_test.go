package load

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestClosedByPeerOnTCP uses real sockets: an idle connection is fine until the
// server closes it or sends what nobody asked for.
func TestClosedByPeerOnTCP(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	pair := func() (client, server net.Conn) {
		client, err := TCP(listener.Addr().String())(t.Context())
		require.NoError(t, err)
		server, err = listener.Accept()
		require.NoError(t, err)
		return client, server
	}
	for name, act := range map[string]func(net.Conn) error{
		"closed":   net.Conn.Close,
		"speaking": func(c net.Conn) error { _, err := c.Write([]byte("x")); return err },
	} {
		client, server := pair()
		assert.False(t, closedByPeer(client), name)
		require.NoError(t, act(server))
		assert.Eventually(t, func() bool { return closedByPeer(client) }, 5*time.Second, time.Millisecond, name)
		client.Close()
		assert.True(t, closedByPeer(client), name)
		server.Close()
	}
}

func TestClosedByPeerOnAPipe(t *testing.T) {
	client, server := net.Pipe()
	assert.False(t, closedByPeer(client))
	server.Close()
	assert.True(t, closedByPeer(client))
}

// TestOverTCP runs a phase over real sockets.
func TestOverTCP(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &server{}
	s.active.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.active.Go(func() { s.serve(conn) })
		}
	})
	spec := closedSpec(s, 4, 4, 36)
	spec.Target.Dial = TCP(listener.Addr().String())
	res, err := Run(t.Context(), spec)
	require.NoError(t, err)
	listener.Close()
	s.active.Wait()
	assert.Equal(t, []int{36, 36, 0, 0}, []int{res.Planned, res.Finished, res.Failed, res.Unsent})
	assert.Equal(t, []int{4, 0}, []int{res.Dials, res.Redials})
	for _, r := range res.Requests {
		assert.LessOrEqual(t, r.SentNS, r.FirstNS)
		assert.LessOrEqual(t, r.FirstNS, r.LastNS)
		assert.LessOrEqual(t, r.LastNS, r.EndNS)
	}
}

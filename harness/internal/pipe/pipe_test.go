package pipe

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// connect gives both ends of a connection in a synctest bubble.
func connect(t *testing.T, body func(t *testing.T, client, server net.Conn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := Listen()
		accepted := make(chan net.Conn, 1)
		go func() {
			c, err := l.Accept()
			assert.NoError(t, err)
			accepted <- c
		}()
		client, err := l.Dial(context.Background(), "tcp", "anything:80")
		require.NoError(t, err)
		body(t, client, <-accepted)
	})
}

func TestPipeHoldsWhatNobodyReadsYet(t *testing.T) {
	connect(t, func(t *testing.T, client, server net.Conn) {
		n, err := server.Write([]byte("two "))
		require.NoError(t, err)
		assert.Equal(t, 4, n)
		_, err = server.Write([]byte("writes"))
		require.NoError(t, err)
		require.NoError(t, server.Close())
		all, err := io.ReadAll(client)
		require.NoError(t, err)
		assert.Equal(t, "two writes", string(all), "what was sent before the end arrives")
	})
}

func TestPipeMakesAWriterWaitForRoom(t *testing.T) {
	connect(t, func(t *testing.T, client, server net.Conn) {
		sent := bytes.Repeat([]byte("0123456789"), room/5)
		written := make(chan int, 1)
		go func() {
			n, err := server.Write(sent)
			assert.NoError(t, err)
			written <- n
			assert.NoError(t, server.Close())
		}()
		synctest.Wait()
		assert.Empty(t, written, "the writer has to wait")
		got, err := io.ReadAll(client)
		require.NoError(t, err)
		assert.Equal(t, sent, got)
		assert.Equal(t, len(sent), <-written)
	})
}

func TestPipeDeadlines(t *testing.T) {
	connect(t, func(t *testing.T, client, server net.Conn) {
		start := time.Now()
		require.NoError(t, client.SetReadDeadline(start.Add(time.Second)))
		_, err := client.Read(make([]byte, 1))
		assert.ErrorIs(t, err, os.ErrDeadlineExceeded)
		assert.Equal(t, time.Second, time.Since(start))

		require.NoError(t, client.SetDeadline(time.Time{}))
		_, err = server.Write([]byte("x"))
		require.NoError(t, err)
		n, err := client.Read(make([]byte, 9))
		assert.Equal(t, 1, n)
		assert.NoError(t, err)

		require.NoError(t, server.SetWriteDeadline(time.Now().Add(time.Second)))
		n, err = server.Write(make([]byte, room+1))
		assert.ErrorIs(t, err, os.ErrDeadlineExceeded)
		assert.Equal(t, room, n)
	})
}

func TestPipeEnds(t *testing.T) {
	connect(t, func(t *testing.T, client, server net.Conn) {
		require.NoError(t, client.Close())
		_, err := server.Write([]byte("x"))
		assert.ErrorIs(t, err, io.ErrClosedPipe)
		_, err = server.Read(make([]byte, 1))
		assert.ErrorIs(t, err, io.EOF)
		_, err = client.Read(make([]byte, 1))
		assert.ErrorIs(t, err, net.ErrClosed)
		_, err = client.Write([]byte("x"))
		assert.ErrorIs(t, err, net.ErrClosed)
	})
}

func TestListenerEnds(t *testing.T) {
	l := Listen()
	require.NoError(t, l.Close())
	require.NoError(t, l.Close())
	_, err := l.Accept()
	assert.ErrorIs(t, err, net.ErrClosed)
	_, err = l.Dial(context.Background(), "", "")
	assert.ErrorIs(t, err, net.ErrClosed)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Listen().Dial(ctx, "", "")
	assert.ErrorIs(t, err, context.Canceled)
}

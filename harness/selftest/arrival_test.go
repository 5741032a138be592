package selftest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The truth of a request begins when the kernel had it, not when a handler got
// round to it: between the two lies this server's own delay.
func TestReceivedIsTheArrival(t *testing.T) {
	s, err := NewServer(ServerConfig{Model: testModel, Step: time.Hour})
	require.NoError(t, err)
	handled := make(chan int64, 8)
	slow := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		time.Sleep(50 * time.Millisecond)
		handled <- HostTime() - received(r)
	})
	front := httptest.NewUnstartedServer(nil)
	defer front.Close()
	srv := &http.Server{}
	go s.Serve(srv, front.Listener)
	defer srv.Close()
	require.Eventually(t, func() bool { return srv.Handler != nil }, time.Second, time.Millisecond)
	srv.Handler = slow
	var late int64
	for range 5 { // the kernel may begin to stamp a moment after it was asked to
		resp, err := http.Post("http://"+front.Listener.Addr().String(), "text/plain", strings.NewReader("x"))
		require.NoError(t, err)
		resp.Body.Close()
		if late = <-handled; late >= int64(50*time.Millisecond) {
			break
		}
	}
	assert.GreaterOrEqual(t, late, int64(50*time.Millisecond))
}

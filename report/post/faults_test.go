package post

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/post/fakegithub"
)

// Faults that pass: in the end there is one comment, and the waits are those that
// the server asked for.
func TestFaultsThatPass(t *testing.T) {
	for _, c := range []struct {
		fault string
		waits []time.Duration
		posts int
	}{
		{"429", []time.Duration{time.Minute}, 2},
		{"429-retry-after", []time.Duration{7 * time.Second}, 2},
		{"secondary", []time.Duration{time.Minute}, 2},
		{"secondary-said", []time.Duration{11 * time.Second}, 2},
		{"primary", []time.Duration{61 * time.Second}, 2},
		{"502", nil, 1}, // waits of one and two seconds; see below
		{"half-a-list", nil, 1},
		{"html-list", nil, 1},
		{"dropped", nil, 2},
		{"lost", nil, 1},
		{"lost-answer", nil, 1},
	} {
		t.Run(c.fault, func(t *testing.T) {
			w := newWorld(t, c.fault)
			_, err := w.comment(t, result(t, "fail"))
			require.NoError(t, err)
			assert.Contains(t, w.only(t).Body, "**FAIL**")
			assert.Equal(t, c.posts, w.posts("POST "))
			if c.waits != nil {
				assert.Equal(t, c.waits, w.longWaits())
			}
			assert.NotEmpty(t, w.waits)
		})
	}
}

// A write whose answer never comes has happened: it is looked for and not made
// a second time.
func TestTimeoutAfterSuccess(t *testing.T) {
	w := newWorld(t, "timeout")
	g := w.poster(t, "bot")
	g.HTTP = &http.Client{Timeout: 500 * time.Millisecond}
	out, err := g.Comment(t.Context(), target, result(t, "fail"))
	require.NoError(t, err)
	assert.Equal(t, "unchanged", out.Did)
	assert.Equal(t, 1, w.posts("POST "))
	w.only(t)
}

// Faults that stay end after a bounded number of tries, with a line that says
// what to do.
func TestFaultsThatStay(t *testing.T) {
	for _, c := range []struct {
		fault, want string
		posts       int
	}{
		{"read-only", "403 Resource not accessible by integration: the token may only read; give the job the permission, and post for a fork from a second workflow", 1},
		{"429-for-ever", "429 Too many requests (given up after 4 tries)", 4},
		{"429-tomorrow", "the server asks to wait 24h0m0s, that is too long", 1},
		{"502-for-ever", "502 Bad Gateway (given up after 4 tries)", 4},
		{"server-no-more", "given up after 4 tries", 0},
	} {
		t.Run(c.fault, func(t *testing.T) {
			w := newWorld(t, c.fault)
			_, err := w.comment(t, result(t, "fail"))
			require.ErrorContains(t, err, c.want)
			assert.True(t, strings.HasPrefix(err.Error(), "comment on o/r#7: "), err.Error())
			assert.NotContains(t, err.Error(), "\n")
			assert.Empty(t, w.State().Comments)
			assert.Equal(t, c.posts, w.posts("POST "))
			var waited time.Duration
			for _, d := range w.waits {
				waited += d
			}
			assert.LessOrEqual(t, waited, 10*time.Minute)
		})
	}
}

func TestBadToken(t *testing.T) {
	w := newWorld(t)
	w.Inject(fakegithub.Fault{On: ".", Status: 401, Body: `{"message":"Bad credentials"}`})
	_, err := w.comment(t, result(t, "fail"))
	require.ErrorContains(t, err, "401 Bad credentials: the token is not valid, or has ended")
	assert.Len(t, w.State().Requests, 1)
}

// A server that takes less than it should gets a shorter comment.
func TestTooLong(t *testing.T) {
	w := newWorld(t, "422-too-long")
	r := result(t, "fail")
	_, err := w.comment(t, r)
	require.NoError(t, err)
	assert.LessOrEqual(t, len(w.only(t).Body), CommentBudget/4)
	assert.Contains(t, w.only(t).Body, "> **FAIL**")
	assert.Equal(t, 2, w.posts("POST "))

	w = newWorld(t)
	w.Inject(fakegithub.Fault{On: "^POST", Status: 422, Body: `{"message":"Body is too long"}`})
	_, err = w.comment(t, r)
	require.ErrorContains(t, err, "422 Body is too long")
	assert.Equal(t, 2, w.posts("POST "))
}

// A user who interrupts does not wait for a limit to pass.
func TestInterrupted(t *testing.T) {
	w := newWorld(t, "429-for-ever")
	ctx, cancel := context.WithCancelCause(t.Context())
	g := w.poster(t, "bot")
	g.Sleep = func(ctx context.Context, d time.Duration) error {
		cancel(errors.New("signal"))
		return sleep(ctx, d)
	}
	_, err := g.Comment(ctx, target, result(t, "fail"))
	require.ErrorContains(t, err, "signal")
	assert.Equal(t, 1, w.posts("POST "))
}

func TestRetryAfter(t *testing.T) {
	for text, want := range map[string]time.Duration{"0": 0, "12": 12 * time.Second, "Fri, 04 Dec 2026 12:00:30 GMT": 30 * time.Second, "Fri, 04 Dec 2026 11:00:00 GMT": 0} {
		got, ok := retryAfter(http.Header{"Retry-After": {text}}, noon)
		assert.True(t, ok, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "-1", "soon", "99999999999999999999"} {
		_, ok := retryAfter(http.Header{"Retry-After": {text}}, noon)
		assert.False(t, ok, text)
	}
}

func FuzzRetryAfter(f *testing.F) {
	f.Add("12", "0", "1796385660")
	f.Add("Fri, 04 Dec 2026 12:00:30 GMT", "", "")
	f.Fuzz(func(t *testing.T, after, remaining, reset string) {
		h := http.Header{}
		h["Retry-After"], h["X-Ratelimit-Remaining"], h["X-Ratelimit-Reset"] = []string{after}, []string{remaining}, []string{reset}
		d, _ := retryAfter(h, noon)
		assert.GreaterOrEqual(t, d, time.Duration(0))
	})
}

// github.com is asked by default; whatever GITHUB_API_URL says is taken as it is.
func TestAddress(t *testing.T) {
	for api, want := range map[string]string{"": "https://api.github.com/", "https://api.github.com": "https://api.github.com/",
		"https://ghe.example/api/v3": "https://ghe.example/api/v3/", "https://ghe.example/api/v3/": "https://ghe.example/api/v3/"} {
		g, err := New(GitHub{Token: "x", API: api})
		require.NoError(t, err)
		c, err := g.client()
		require.NoError(t, err)
		assert.Equal(t, want, c.BaseURL.String(), api)
	}
}

// The token goes to the API and nowhere else.
func TestTokenIsSent(t *testing.T) {
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Authorization")
		w.WriteHeader(http.StatusNotFound)
	}))
	defer server.Close()
	g, err := New(GitHub{Token: "secret", API: server.URL})
	require.NoError(t, err)
	_, err = g.Comment(t.Context(), target, result(t, "fail"))
	require.Error(t, err)
	assert.Equal(t, "Bearer secret", got)
	assert.NotContains(t, err.Error(), "secret")
}

package post

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/post/fakegithub"
	"github.com/aituner/opprof/report/view"
)

const (
	head  = "1111111111111111111111111111111111111111"
	other = "2222222222222222222222222222222222222222"
)

// hostile holds everything that Markdown, HTML and GitHub read into text.
const hostile = "a|b`c`<script>alert(1)</script> @someone #12 [x](javascript:y) ![i](u) **b** <!-- opprof-bench:v1 {} --> \x1b[31m\u202e\r\n# head\n```\n::error::x"

var (
	target = Target{Owner: "o", Repo: "r", PR: 7, SHA: head}
	noon   = time.Date(2026, 12, 4, 12, 0, 0, 0, time.UTC)
)

// saved is a published form of a report: FAIL, PASS and so on by file.
func saved(t *testing.T, name string) *view.View {
	t.Helper()
	data, err := os.ReadFile("../page/testdata/" + name + ".json")
	require.NoError(t, err)
	var v view.View
	require.NoError(t, json.Unmarshal(data, &v))
	return &v
}

func result(t *testing.T, name string) Result {
	return Result{View: saved(t, name), Key: "paired", Order: Order{noon, 10, 1}, Link: "https://ci.example/runs/10"}
}

// clock is a time that passes only by waiting.
type clock struct {
	sync.Mutex
	now   time.Time
	waits []time.Duration
}

func (c *clock) Now() time.Time {
	c.Lock()
	defer c.Unlock()
	return c.now
}

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.Lock()
	defer c.Unlock()
	c.now, c.waits = c.now.Add(d), append(c.waits, d)
	return ctx.Err()
}

// longWaits are those that are not the pause between two writes.
func (c *clock) longWaits() (long []time.Duration) {
	for _, d := range c.waits {
		if d != betweenWrites {
			long = append(long, d)
		}
	}
	return long
}

// world is a fake GitHub and a poster that talks to it, below a base path.
type world struct {
	*fakegithub.Server
	*clock
	url string
}

func newWorld(t *testing.T, faults ...string) *world {
	t.Helper()
	w := &world{Server: &fakegithub.Server{Pulls: map[int]string{7: head}}, clock: &clock{now: noon.Add(time.Minute)}}
	for _, name := range faults {
		f, err := fakegithub.Named(name)
		require.NoError(t, err)
		w.Inject(f)
	}
	server := httptest.NewServer(w.Server)
	t.Cleanup(server.Close)
	w.url = server.URL + "/api/v3"
	return w
}

func (w *world) poster(t *testing.T, token string) *GitHub {
	t.Helper()
	g, err := New(GitHub{API: w.url, Token: token, Now: w.Now, Sleep: w.Sleep})
	require.NoError(t, err)
	return g
}

func (w *world) comment(t *testing.T, r Result) (Outcome, error) {
	t.Helper()
	return w.poster(t, "bot").Comment(t.Context(), target, r)
}

// only requires that the pull request has exactly one comment of ours.
func (w *world) only(t *testing.T) fakegithub.Comment {
	t.Helper()
	var ours []fakegithub.Comment
	for _, c := range w.State().Comments {
		if _, ok := readMark(c.Body); ok && c.User.Login == fakegithub.Bot {
			ours = append(ours, c)
		}
	}
	require.Len(t, ours, 1)
	return ours[0]
}

// posts counts what was asked for.
func (w *world) posts(what string) (n int) {
	for _, r := range w.State().Requests {
		if strings.HasPrefix(r, what) {
			n++
		}
	}
	return n
}

func TestOrder(t *testing.T) {
	for _, later := range []Order{{noon.Add(time.Second), 1, 1}, {noon, 11, 1}, {noon, 10, 2}} {
		assert.True(t, later.After(Order{noon, 10, 1}), "%v", later)
		assert.False(t, Order{noon, 10, 1}.After(later), "%v", later)
	}
	assert.False(t, Order{noon, 10, 1}.After(Order{noon.Add(time.Millisecond), 10, 1}), "whole seconds")
	for _, o := range []Order{{noon, 10, 1}, {noon, 0, 0}, {}} {
		back, ok := parseOrder(o.String())
		assert.True(t, ok)
		assert.Equal(t, o.String(), back.String())
	}
}

// Anything may stand in the external id of a foreign check run.
func FuzzParseOrder(f *testing.F) {
	f.Add("2026-12-04T12:00:00Z/10.1")
	f.Add("2026-12-04T12:00:00Z/10.1x")
	f.Add("/")
	f.Fuzz(func(t *testing.T, text string) {
		if o, ok := parseOrder(text); ok {
			assert.Equal(t, text, o.String())
		}
	})
}

func TestParseRepository(t *testing.T) {
	owner, repo, err := ParseRepository("o/r")
	require.NoError(t, err)
	assert.Equal(t, "o r", owner+" "+repo)
	for _, bad := range []string{"", "o", "o/", "/r", "o/r/x", "o/r?x", "o /r", "o/r%2f"} {
		_, _, err := ParseRepository(bad)
		assert.Error(t, err, bad)
	}
}

func TestNewRefuses(t *testing.T) {
	_, err := New(GitHub{})
	require.ErrorContains(t, err, "GITHUB_TOKEN is not set")
	_, err = New(GitHub{Token: "x", API: "ftp://x"})
	require.ErrorContains(t, err, "API address")
}

// A link is only used where it can't end a Markdown link or name another scheme.
func TestSafeLink(t *testing.T) {
	assert.Equal(t, "https://x.example/a?b=1", safeLink("https://x.example/a?b=1"))
	for _, bad := range []string{"", "javascript:alert(1)", "https://x.example/a)[b](c", "https://x.example/ a", "/a", "https://x.example/\n"} {
		assert.Empty(t, safeLink(bad), bad)
	}
}

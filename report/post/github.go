package post

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v62/github"
)

// GitHub posts with one token to one server. The zero value of all but Token is
// github.com, the wall clock and silence.
type GitHub struct {
	API   string // base URL, such as https://ghe.example/api/v3; "": github.com
	Token string
	// Author is the login that owns the token. "" asks the server, and takes the
	// one of GitHub Actions where a token belongs to no user.
	Author string
	HTTP   *http.Client
	Now    func() time.Time
	Sleep  func(context.Context, time.Duration) error
	Log    func(format string, args ...any) // retries and what they wait for
}

// actionsLogin is the author of what the token of a GitHub Actions job posts.
const actionsLogin = "github-actions[bot]"

// requestTimeout bounds one request. A write that runs into it may have happened.
const requestTimeout = 30 * time.Second

// New checks the settings and fills in the defaults.
func New(g GitHub) (*GitHub, error) {
	if g.Token == "" {
		return nil, errors.New("GITHUB_TOKEN is not set: give the step env GITHUB_TOKEN: ${{ github.token }}")
	}
	if u, err := url.Parse(g.API); g.API != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("API address %q: want http(s)://HOST/PATH", g.API)
	}
	if g.HTTP == nil {
		g.HTTP = &http.Client{Timeout: requestTimeout}
	}
	if g.Now == nil {
		g.Now = time.Now
	}
	if g.Sleep == nil {
		g.Sleep = sleep
	}
	if g.Log == nil {
		g.Log = func(string, ...any) {}
	}
	return &g, nil
}

// client makes a client of its own for each try: go-github remembers a limit by
// the wall clock and would refuse to send what has been waited for.
func (g *GitHub) client() (*github.Client, error) {
	c := github.NewClient(g.HTTP).WithAuthToken(g.Token)
	if g.API == "" || strings.TrimSuffix(g.API, "/") == "https://api.github.com" {
		return c, nil
	}
	// Not WithEnterpriseURLs: it guesses a path, and GITHUB_API_URL has the right one.
	base, err := url.Parse(strings.TrimSuffix(g.API, "/") + "/")
	if err != nil {
		return nil, err
	}
	c.BaseURL = base
	return c, nil
}

// author is whose comments are ours.
func (g *GitHub) author(ctx context.Context, c *github.Client) (string, error) {
	if g.Author != "" {
		return g.Author, nil
	}
	user, _, err := c.Users.Get(ctx, "")
	var refused *github.ErrorResponse
	switch {
	case err == nil:
		g.Author = user.GetLogin()
	case errors.As(err, &refused) && refused.Response.StatusCode == http.StatusForbidden && !limited(refused):
		g.Author = actionsLogin // an installation's token is no user's
	default:
		return "", err
	}
	return g.Author, nil
}

// betweenWrites is the pause that GitHub asks for between two changes.
const betweenWrites = time.Second

func (g *GitHub) pause(ctx context.Context) error { return g.Sleep(ctx, betweenWrites) }

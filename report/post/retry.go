package post

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-github/v62/github"
)

const (
	// tries bounds how often one thing is attempted.
	tries = 4
	// patience bounds a single wait: a job that holds a runner for longer to post
	// a comment costs more than the comment is worth.
	patience = 5 * time.Minute
	// unsaid is the wait for a limit that does not say how long, doubled each time.
	unsaid = time.Minute
)

// try attempts f with a fresh client until it succeeds, fails for good, or the
// tries are used up. f looks at the server before it changes anything, so a
// change that happened although its answer was lost is found and not made twice.
func (g *GitHub) try(ctx context.Context, what string, f func(*github.Client) error) error {
	for n := 1; ; n++ {
		c, err := g.client()
		if err != nil {
			return err
		}
		if err = f(c); err == nil {
			return nil
		}
		wait, again := g.delay(err, n)
		switch {
		case ctx.Err() != nil || !again:
			return explain(what, err)
		case n == tries:
			return fmt.Errorf("%w (given up after %d tries)", explain(what, err), tries)
		case wait > patience:
			return fmt.Errorf("%w (the server asks to wait %s, that is too long: run opbench post again then)", explain(what, err), wait.Round(time.Second))
		}
		g.Log("%v; trying again in %s", explain(what, err), wait.Round(time.Second))
		if err := g.Sleep(ctx, wait); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
}

// delay says how long to wait after a failure, and whether another try makes
// sense at all. go-github v62 knows limits that come as 403 only.
func (g *GitHub) delay(err error, n int) (time.Duration, bool) {
	soon, late := time.Second<<(n-1), unsaid<<(n-1)
	var primary *github.RateLimitError
	var secondary *github.AbuseRateLimitError
	var answer *github.ErrorResponse
	switch {
	case errors.As(err, &primary):
		return until(primary.Rate.Reset.Time, g.Now()), true
	case errors.As(err, &secondary):
		if secondary.RetryAfter != nil {
			return *secondary.RetryAfter, true
		}
		return late, true
	case errors.As(err, &answer):
		return g.delayOf(answer, soon, late)
	}
	return soon, connectionLost(err)
}

func (g *GitHub) delayOf(answer *github.ErrorResponse, soon, late time.Duration) (time.Duration, bool) {
	h := answer.Response.Header
	code := answer.Response.StatusCode
	wait, said := retryAfter(h, g.Now())
	switch {
	case said && (code == http.StatusForbidden || code == http.StatusTooManyRequests || code >= 500):
		return wait, true
	case limited(answer):
		return late, true
	case code >= 500 || code == http.StatusRequestTimeout:
		return soon, true
	}
	return 0, false
}

// limited reports whether an answer is about a rate and not about a right.
func limited(answer *github.ErrorResponse) bool {
	return answer.Response.StatusCode == http.StatusTooManyRequests ||
		answer.Response.StatusCode == http.StatusForbidden && strings.Contains(strings.ToLower(answer.Message), "rate limit")
}

// retryAfter reads how long to wait: Retry-After in seconds or as a date, or the
// reset of a limit that is used up.
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	text := h.Get("Retry-After")
	if s, err := strconv.ParseInt(text, 10, 32); err == nil && s >= 0 {
		return time.Duration(s) * time.Second, true
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now)), true
	}
	if reset, err := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64); err == nil && h.Get("X-RateLimit-Remaining") == "0" {
		return until(time.Unix(reset, 0), now), true
	}
	return 0, false
}

// until is the time to a reset and a second more; no year is too far away.
func until(reset, now time.Time) time.Duration {
	return min(max(0, reset.Sub(now)), 1000*time.Hour) + time.Second
}

// connectionLost reports errors after which nobody knows what the server did: no
// answer, half an answer, or one that is not JSON.
func connectionLost(err error) bool {
	var transport *url.Error
	var syntax *json.SyntaxError
	return errors.As(err, &transport) || errors.As(err, &syntax) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}

// status is the HTTP status behind an error, or 0.
func status(err error) int {
	var primary *github.RateLimitError
	var secondary *github.AbuseRateLimitError
	var answer *github.ErrorResponse
	var r *http.Response
	switch {
	case errors.As(err, &primary):
		r = primary.Response
	case errors.As(err, &secondary):
		r = secondary.Response
	case errors.As(err, &answer):
		r = answer.Response
	}
	if r == nil {
		return 0
	}
	return r.StatusCode
}

// explain says in one line what was refused and what to do about it.
func explain(what string, err error) error {
	var answer *github.ErrorResponse
	if !errors.As(err, &answer) {
		return fmt.Errorf("%s: %w", what, err)
	}
	hint := ""
	switch code := answer.Response.StatusCode; {
	case code == http.StatusUnauthorized:
		hint = ": the token is not valid, or has ended"
	case code == http.StatusForbidden && !limited(answer):
		hint = ": the token may only read; give the job the permission, and post for a fork from a second workflow (.github/workflows/bench-post.yml)"
	case code == http.StatusNotFound:
		hint = ": check repository, number and commit, and that the token sees the repository"
	}
	return &refusal{what, fmt.Sprintf("%d %.200s%s", answer.Response.StatusCode, said(answer), hint), err}
}

// said is what the server says, in one line.
func said(answer *github.ErrorResponse) string {
	words := []string{answer.Message}
	for _, e := range answer.Errors {
		words = append(words, e.Message)
	}
	if text := strings.Join(strings.Fields(strings.Join(words, " ")), " "); text != "" {
		return text
	}
	return http.StatusText(answer.Response.StatusCode)
}

// refusal is an explained error; the server's own stays inside.
type refusal struct {
	what, text string
	err        error
}

func (r *refusal) Error() string { return r.what + ": " + r.text }

func (r *refusal) Unwrap() error { return r.err }

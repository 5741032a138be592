package fakegithub

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Fault makes requests fail.
type Fault struct {
	// On is matched against "METHOD PATH": `^POST .*/comments$`.
	On    string
	Times int  // how many requests; 0: all
	After bool // the request takes effect, and then its answer is lost
	Drop  bool // the connection ends without an answer
	Hang  bool // no answer until the sender gives up

	Status int
	Header map[string]string
	Body   string
}

// Inject adds faults; the first that matches a request is used.
func (s *Server) Inject(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// take notes a request and returns the fault that it meets.
func (s *Server) take(r *http.Request) (Fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	what := r.Method + " " + r.URL.Path
	s.requests = append(s.requests, what)
	for i, f := range s.faults {
		if !regexp.MustCompile(f.On).MatchString(what) {
			continue
		}
		if f.Times == 1 {
			s.faults = slices.Delete(s.faults, i, i+1)
		} else if f.Times > 1 {
			s.faults[i].Times--
		}
		return f, true
	}
	return Fault{}, false
}

func (f Fault) fail(w http.ResponseWriter, r *http.Request) {
	switch {
	case f.Hang:
		_, _ = io.Copy(io.Discard, r.Body) // else the server does not notice that the sender is gone
		hang(r)
	case f.Drop:
		panic(http.ErrAbortHandler)
	default:
		for k, v := range f.Header {
			w.Header().Set(k, v)
		}
		w.WriteHeader(f.Status)
		_, _ = io.WriteString(w, f.Body)
	}
}

const (
	comments = `^POST .*/issues/\d+/comments$`
	checks   = `^(POST|PATCH) .*/check-runs`
	writes   = `^(POST|PATCH|DELETE) `

	readOnly  = `{"message":"Resource not accessible by integration","documentation_url":"https://docs.github.com/rest/issues/comments"}`
	secondary = `{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again.","documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"}`
	tooMany   = `{"message":"Too many requests"}`
	html      = "<html><body><h1>502 Bad Gateway</h1></body></html>\n"
	long      = `{"message":"Validation Failed","errors":[{"resource":"IssueComment","code":"unprocessable","field":"data","message":"Body is too long (maximum is 65536 characters)"}]}`
)

// named are the faults that a command line can ask for.
var named = map[string]Fault{
	"read-only":       {On: writes, Status: 403, Body: readOnly},
	"no-checks":       {On: checks, Status: 403, Body: readOnly},
	"429":             {On: comments, Times: 1, Status: 429, Body: tooMany},
	"429-retry-after": {On: comments, Times: 1, Status: 429, Header: map[string]string{"Retry-After": "7"}, Body: tooMany},
	"429-for-ever":    {On: comments, Status: 429, Body: tooMany},
	"429-tomorrow":    {On: comments, Status: 429, Header: map[string]string{"Retry-After": "86400"}, Body: tooMany},
	"secondary":       {On: comments, Times: 1, Status: 403, Body: secondary},
	"secondary-said":  {On: comments, Times: 1, Status: 403, Header: map[string]string{"Retry-After": "11"}, Body: secondary},
	"primary": {On: comments, Times: 1, Status: 403, Header: map[string]string{"X-RateLimit-Limit": "1000", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1796385720"},
		Body: `{"message":"API rate limit exceeded for installation."}`},
	"502":            {On: `.`, Times: 2, Status: 502, Header: map[string]string{"Content-Type": "text/html"}, Body: html},
	"502-for-ever":   {On: comments, Status: 502, Body: html},
	"422-too-long":   {On: comments, Times: 1, Status: 422, Body: long},
	"lost":           {On: comments, Times: 1, After: true, Drop: true},
	"lost-answer":    {On: comments, Times: 1, After: true, Status: 504, Body: html},
	"timeout":        {On: comments, Times: 1, After: true, Hang: true},
	"dropped":        {On: comments, Times: 1, Drop: true},
	"half-a-list":    {On: `^GET .*/comments$`, Times: 1, Status: 200, Body: `[{"id": 1, "body": "cut`},
	"html-list":      {On: `^GET .*/comments$`, Times: 1, Status: 200, Body: html},
	"server-no-more": {On: `.`, Drop: true},
}

// Named returns a fault by its name.
func Named(name string) (Fault, error) {
	f, found := named[name]
	if !found {
		return f, fmt.Errorf("fault %q: unknown, use one of %s", name, strings.Join(Names(), ", "))
	}
	return f, nil
}

// Names are those of all faults, sorted.
func Names() []string { return slices.Sorted(maps.Keys(named)) }

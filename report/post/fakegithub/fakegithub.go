// Package fakegithub is a GitHub for tests: comments, check runs, commit statuses
// and pull requests of one repository in memory, and faults that a test asks for.
// It answers as the API does where package post depends on it: pages with Link
// headers, authors by token, limits on length. It is no part of opbench.
package fakegithub

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// MaxBody is the longest comment, and text of a check run, in characters.
const MaxBody = 65536

// Bot is the author of every token that has no login in Server.Logins.
const Bot = "github-actions[bot]"

// Server is the API of one repository, an http.Handler. The zero value is a
// repository without anything.
type Server struct {
	Logins  map[string]string   // token to login
	Pulls   map[int]string      // number to head commit; others do not exist
	Changed func()              // called after each change, if set
	Between func(*http.Request) // called before each request, if set

	mu       sync.Mutex
	faults   []Fault
	next     int64 // id
	changes  int
	comments []Comment
	checks   []Check
	statuses []Status
	requests []string
}

// Comment is one comment of a pull request.
type Comment struct {
	ID   int64  `json:"id"`
	URL  string `json:"html_url"`
	Body string `json:"body"`
	User User   `json:"user"`
	Pull int    `json:"-"`
}

// User is an author.
type User struct {
	Login string `json:"login"`
}

// Check is one check run.
type Check struct {
	ID         int64  `json:"id"`
	URL        string `json:"html_url"`
	Name       string `json:"name"`
	HeadSHA    string `json:"head_sha"`
	Status     string `json:"status"`
	Conclusion string `json:"conclusion"`
	ExternalID string `json:"external_id"`
	Output     struct {
		Title   string `json:"title"`
		Summary string `json:"summary"`
	} `json:"output"`
}

// Status is one commit status.
type Status struct {
	ID          int64  `json:"id"`
	SHA         string `json:"-"`
	State       string `json:"state"`
	Context     string `json:"context"`
	Description string `json:"description"`
}

// State is everything that the server holds.
type State struct {
	Comments []Comment `json:"comments"`
	Checks   []Check   `json:"checks"`
	Statuses []Status  `json:"statuses"`
	Requests []string  `json:"requests"` // method and path, in order
}

// State returns a copy of what the server holds.
func (s *Server) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return State{append([]Comment{}, s.comments...), append([]Check{}, s.checks...), append([]Status{}, s.statuses...), append([]string{}, s.requests...)}
}

// AddComment puts a comment that somebody made earlier.
func (s *Server) AddComment(pull int, login, body string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	s.comments = append(s.comments, Comment{ID: s.next, Body: body, User: User{login}, Pull: pull})
	return s.next
}

// ServeHTTP answers one request, or fails as the test asked.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.Between != nil {
		s.Between(r)
	}
	fault, found := s.take(r)
	switch {
	case !found:
		s.answer(w, r)
	case fault.After:
		s.answer(discard{}, r)
		fault.fail(w, r)
	default:
		fault.fail(w, r)
	}
}

// answer serves a request under the lock: changes are one after the other.
func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	login, path := s.login(r), strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	for len(path) > 0 && path[0] != "repos" && path[0] != "user" { // a base path, as GitHub Enterprise has
		path = path[1:]
	}
	before := s.changes
	switch {
	case login == "":
		refuse(w, http.StatusUnauthorized, "Bad credentials")
	case len(path) == 1 && path[0] == "user":
		s.user(w, login)
	case len(path) < 4:
		refuse(w, http.StatusNotFound, "Not Found")
	default:
		s.route(w, r, login, path[3:])
	}
	changed := s.changes != before
	s.mu.Unlock()
	if changed && s.Changed != nil {
		s.Changed()
	}
}

func (s *Server) login(r *http.Request) string {
	token, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !found || token == "" {
		return ""
	}
	if login, known := s.Logins[token]; known {
		return login
	}
	return Bot
}

func (s *Server) user(w http.ResponseWriter, login string) {
	if login == Bot {
		refuse(w, http.StatusForbidden, "Resource not accessible by integration")
		return
	}
	reply(w, http.StatusOK, User{login})
}

// route dispatches what comes after /repos/OWNER/NAME.
func (s *Server) route(w http.ResponseWriter, r *http.Request, login string, path []string) {
	number := func(i int) int { n, _ := strconv.Atoi(path[i]); return n }
	switch route := r.Method + " " + shape(path); route {
	case "GET pulls/#":
		s.pull(w, number(1))
	case "GET issues/#/comments":
		s.listComments(w, r, number(1))
	case "POST issues/#/comments":
		s.createComment(w, r, login, number(1))
	case "PATCH issues/comments/#", "DELETE issues/comments/#":
		s.changeComment(w, r, login, int64(number(2)))
	case "GET commits/*/check-runs":
		s.listChecks(w, r, path[1])
	case "POST check-runs":
		s.createCheck(w, r)
	case "PATCH check-runs/#":
		s.updateCheck(w, r, int64(number(1)))
	case "GET commits/*/statuses":
		s.listStatuses(w, r, path[1])
	case "POST statuses/*":
		s.createStatus(w, r, path[1])
	default:
		refuse(w, http.StatusNotFound, "Not Found")
	}
}

// shape is a path with # for numbers and * for commits.
func shape(path []string) string {
	var parts []string
	for i, p := range path {
		switch _, err := strconv.Atoi(p); {
		case i == 1 && (path[0] == "commits" || path[0] == "statuses"):
			p = "*"
		case err == nil:
			p = "#"
		}
		parts = append(parts, p)
	}
	return strings.Join(parts, "/")
}

func (s *Server) pull(w http.ResponseWriter, number int) {
	sha, exists := s.Pulls[number]
	if !exists {
		refuse(w, http.StatusNotFound, "Not Found")
		return
	}
	reply(w, http.StatusOK, map[string]any{"number": number, "head": map[string]string{"sha": sha}})
}

// page writes one page of a list and the Link header, with absolute addresses.
func page[T any](w http.ResponseWriter, r *http.Request, all []T, wrap func([]T) any) {
	q := r.URL.Query()
	per, _ := strconv.Atoi(q.Get("per_page"))
	if per < 1 {
		per = 30
	}
	per = min(per, 100)
	n, _ := strconv.Atoi(q.Get("page"))
	n = max(n, 1)
	from, to := min((n-1)*per, len(all)), min(n*per, len(all))
	if to < len(all) {
		q.Set("page", strconv.Itoa(n+1))
		w.Header().Set("Link", fmt.Sprintf(`<http://%s%s?%s>; rel="next"`, r.Host, r.URL.Path, q.Encode()))
	}
	reply(w, http.StatusOK, wrap(append([]T{}, all[from:to]...)))
}

func reply(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v)
}

func refuse(w http.ResponseWriter, code int, message string) {
	reply(w, code, map[string]string{"message": message, "documentation_url": "https://docs.github.com/rest"})
}

// discard is an answer that nobody gets.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) WriteHeader(int)             {}

// hang keeps a request until its sender gives up.
func hang(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-time.After(time.Minute):
	}
}

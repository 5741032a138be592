package fakegithub

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"unicode/utf8"
)

// What the API keeps; all of it runs under the server's lock.

func read(w http.ResponseWriter, r *http.Request, v any) bool {
	if err := json.NewDecoder(r.Body).Decode(v); err != nil {
		refuse(w, http.StatusBadRequest, "Problems parsing JSON")
		return false
	}
	return true
}

// fits refuses texts as GitHub does: the reason stands in errors, not in message.
func fits(w http.ResponseWriter, resource, text string) bool {
	if utf8.RuneCountInString(text) <= MaxBody {
		return true
	}
	reply(w, http.StatusUnprocessableEntity, map[string]any{
		"message": "Validation Failed",
		"errors":  []map[string]string{{"resource": resource, "code": "unprocessable", "field": "data", "message": "Body is too long (maximum is 65536 characters)"}},
	})
	return false
}

func (s *Server) listComments(w http.ResponseWriter, r *http.Request, pull int) {
	var of []Comment
	for _, c := range s.comments {
		if c.Pull == pull {
			of = append(of, c)
		}
	}
	page(w, r, of, func(c []Comment) any { return c })
}

func (s *Server) createComment(w http.ResponseWriter, r *http.Request, login string, pull int) {
	c := Comment{User: User{login}, Pull: pull}
	if !read(w, r, &c) || !fits(w, "IssueComment", c.Body) {
		return
	}
	if _, exists := s.Pulls[pull]; !exists {
		refuse(w, http.StatusNotFound, "Not Found")
		return
	}
	s.next++
	c.ID, c.URL, c.User = s.next, fmt.Sprintf("http://%s/pull/%d#issuecomment-%d", r.Host, pull, s.next), User{login}
	s.comments = append(s.comments, c)
	s.changes++
	reply(w, http.StatusCreated, c)
}

func (s *Server) changeComment(w http.ResponseWriter, r *http.Request, login string, id int64) {
	i := slices.IndexFunc(s.comments, func(c Comment) bool { return c.ID == id })
	if i < 0 {
		refuse(w, http.StatusNotFound, "Not Found")
		return
	}
	if s.comments[i].User.Login != login {
		refuse(w, http.StatusForbidden, "Resource not accessible by integration")
		return
	}
	if r.Method == http.MethodDelete {
		s.comments = slices.Delete(s.comments, i, i+1)
		s.changes++
		w.WriteHeader(http.StatusNoContent)
		return
	}
	var c Comment
	if !read(w, r, &c) || !fits(w, "IssueComment", c.Body) {
		return
	}
	s.comments[i].Body = c.Body
	s.changes++
	reply(w, http.StatusOK, s.comments[i])
}

func (s *Server) listChecks(w http.ResponseWriter, r *http.Request, sha string) {
	name := r.URL.Query().Get("check_name")
	var of []Check
	for _, c := range s.checks {
		if c.HeadSHA == sha && (name == "" || c.Name == name) {
			of = append(of, c)
		}
	}
	page(w, r, of, func(c []Check) any { return map[string]any{"total_count": len(of), "check_runs": c} })
}

func (s *Server) createCheck(w http.ResponseWriter, r *http.Request) {
	var c Check
	if !read(w, r, &c) || !fits(w, "CheckRun", c.Output.Summary) {
		return
	}
	s.next++
	c.ID, c.URL = s.next, fmt.Sprintf("http://%s/runs/%d", r.Host, s.next)
	s.checks = append(s.checks, c)
	s.changes++
	reply(w, http.StatusCreated, c)
}

func (s *Server) updateCheck(w http.ResponseWriter, r *http.Request, id int64) {
	i := slices.IndexFunc(s.checks, func(c Check) bool { return c.ID == id })
	if i < 0 {
		refuse(w, http.StatusNotFound, "Not Found")
		return
	}
	c := s.checks[i]
	if !read(w, r, &c) || !fits(w, "CheckRun", c.Output.Summary) {
		return
	}
	s.checks[i] = c
	s.changes++
	reply(w, http.StatusOK, c)
}

// listStatuses lists the newest first.
func (s *Server) listStatuses(w http.ResponseWriter, r *http.Request, sha string) {
	var of []Status
	for _, x := range slices.Backward(s.statuses) {
		if x.SHA == sha {
			of = append(of, x)
		}
	}
	page(w, r, of, func(x []Status) any { return x })
}

func (s *Server) createStatus(w http.ResponseWriter, r *http.Request, sha string) {
	var x Status
	if !read(w, r, &x) {
		return
	}
	if utf8.RuneCountInString(x.Description) > 140 {
		refuse(w, http.StatusUnprocessableEntity, "description is too long (maximum is 140 characters)")
		return
	}
	s.next++
	x.ID, x.SHA = s.next, sha
	s.statuses = append(s.statuses, x)
	s.changes++
	reply(w, http.StatusCreated, x)
}

package post

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/go-github/v62/github"
)

// ErrHead says that the commit that was measured is not, or no longer, the head
// of the pull request.
var ErrHead = errors.New("not the head of the pull request")

// rounds bounds how often the comments are looked at until they are as they
// should be; each round makes one change at most.
const rounds = 10

// Comment makes sure that the pull request has exactly one comment with this
// key, and that it shows the newest result. It is found by its mark and its author
// over all pages. If two posters race, both end with the comment of the lowest
// id and the newest content; what is left over is deleted. Where a newer result
// stands, nothing is changed. The pull request's head must be t.SHA, unless that
// is empty: a number from an artifact may be wrong on purpose.
func (g *GitHub) Comment(ctx context.Context, t Target, r Result) (Outcome, error) {
	what := fmt.Sprintf("comment on %s#%d", t, t.PR)
	var out Outcome
	var err error
	for _, budget := range []int{CommentBudget, CommentBudget / 4} {
		s := &sticky{g: g, t: t, mark: mark{Key: r.Key, Order: r.Order}, body: r.comment(t, budget)}
		err = g.try(ctx, what, func(c *github.Client) (failed error) {
			out, failed = s.settle(ctx, c)
			return failed
		})
		if !tooLong(err) {
			break
		}
		g.Log("%v; trying a shorter one", err)
	}
	return out, err
}

// tooLong reports that the server takes less than it is known to take.
func tooLong(err error) bool {
	var answer *github.ErrorResponse
	return errors.As(err, &answer) && answer.Response.StatusCode == http.StatusUnprocessableEntity && strings.Contains(said(answer), "too long")
}

// sticky is one attempt to have one comment.
type sticky struct {
	g    *GitHub
	t    Target
	mark mark
	body string
	did  string
}

// ours is a comment with our mark by our author.
type ours struct {
	id        int64
	url, body string
	mark      mark
}

func (s *sticky) settle(ctx context.Context, c *github.Client) (Outcome, error) {
	if err := s.checkHead(ctx, c); err != nil {
		return Outcome{}, err
	}
	for range rounds {
		found, err := s.find(ctx, c)
		if err != nil {
			return Outcome{}, err
		}
		if len(found) == 0 {
			if err := s.create(ctx, c); err != nil {
				return Outcome{}, err
			}
			continue
		}
		changed, err := s.update(ctx, c, found)
		if err != nil {
			return Outcome{}, err
		}
		if !changed {
			return s.finish(ctx, c, found)
		}
	}
	return Outcome{}, errors.New("it does not stay as posted: something else edits or deletes it")
}

// checkHead makes sure that the result belongs to the pull request as it is now.
func (s *sticky) checkHead(ctx context.Context, c *github.Client) error {
	if s.t.SHA == "" {
		return nil
	}
	pull, _, err := c.PullRequests.Get(ctx, s.t.Owner, s.t.Repo, s.t.PR)
	if err != nil {
		return err
	}
	if head := pull.GetHead().GetSHA(); head != s.t.SHA {
		return fmt.Errorf("%.12s was measured, the head is %.12s: %w", s.t.SHA, head, ErrHead)
	}
	return nil
}

// find lists our comments of this key, the lowest id first.
func (s *sticky) find(ctx context.Context, c *github.Client) ([]ours, error) {
	author, err := s.g.author(ctx, c)
	if err != nil {
		return nil, err
	}
	var found []ours
	opts := &github.IssueListCommentsOptions{ListOptions: github.ListOptions{PerPage: 100}}
	for {
		page, resp, err := c.Issues.ListComments(ctx, s.t.Owner, s.t.Repo, s.t.PR, opts)
		if err != nil {
			return nil, err
		}
		for _, x := range page {
			m, ok := readMark(x.GetBody())
			if ok && m.Key == s.mark.Key && strings.EqualFold(x.GetUser().GetLogin(), author) {
				found = append(found, ours{x.GetID(), x.GetHTMLURL(), x.GetBody(), m})
			}
		}
		if resp.NextPage == 0 {
			break
		}
		opts.Page = resp.NextPage
	}
	slices.SortFunc(found, func(a, b ours) int { return cmp.Compare(a.id, b.id) })
	return found, nil
}

func (s *sticky) create(ctx context.Context, c *github.Client) error {
	made, _, err := c.Issues.CreateComment(ctx, s.t.Owner, s.t.Repo, s.t.PR, &github.IssueComment{Body: &s.body})
	if err != nil {
		return err
	}
	s.did = "created"
	if login := made.GetUser().GetLogin(); login != "" {
		s.g.Author = login // the server knows best whose token it is
	}
	return s.g.pause(ctx)
}

// update gives the first comment the newest content there is: ours, or that of a
// duplicate that is newer.
func (s *sticky) update(ctx context.Context, c *github.Client, found []ours) (changed bool, err error) {
	newest := ours{body: s.body, mark: s.mark}
	newest.mark, _ = readMark(s.body)
	for _, x := range found {
		if x.mark.Order.After(newest.mark.Order) {
			newest = x
		}
	}
	keep := found[0]
	if keep.mark == newest.mark {
		return false, nil
	}
	_, _, err = c.Issues.EditComment(ctx, s.t.Owner, s.t.Repo, keep.id, &github.IssueComment{Body: &newest.body})
	if err != nil && status(err) != http.StatusNotFound { // else: gone since we looked
		return false, err
	}
	if s.did == "" {
		s.did = "updated"
	}
	return true, s.g.pause(ctx)
}

// finish deletes duplicates, which hold nothing that the first one lacks.
func (s *sticky) finish(ctx context.Context, c *github.Client, found []ours) (Outcome, error) {
	for _, x := range found[1:] {
		_, err := c.Issues.DeleteComment(ctx, s.t.Owner, s.t.Repo, x.id)
		if err != nil && status(err) != http.StatusNotFound {
			return Outcome{}, err
		}
		if err := s.g.pause(ctx); err != nil {
			return Outcome{}, err
		}
	}
	out := Outcome{s.did, found[0].url}
	switch {
	case found[0].mark.Order.After(s.mark.Order):
		out.Did = "left alone: it shows a newer run"
	case out.Did == "":
		out.Did = "unchanged"
	}
	return out, nil
}

package post

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/go-github/v62/github"

	"github.com/aituner/opprof/report/render"
	"github.com/aituner/opprof/report/stat"
)

// ErrNoCheckRuns says that the token may not make check runs: they need the one
// of a GitHub App, such as that of a GitHub Actions job with checks: write.
var ErrNoCheckRuns = errors.New("the token may not make check runs")

// externalPrefix begins the external id of our check runs; the order follows.
const externalPrefix = "opprof-bench:v1 "

// CheckName is the name of the check run, and the context of the status, of a key.
func CheckName(key string) string { return "opbench / " + key }

// conclusion of a check run. INCONCLUSIVE is a failure unless the caller said
// otherwise; never neutral, which lets a required check pass.
func (r Result) conclusion() string {
	switch {
	case r.View.Verdict == "":
		return "cancelled"
	case r.passes():
		return "success"
	}
	return "failure"
}

// Check sets the check run of this key at t.SHA. One that is ours is updated;
// one that shows a newer result is left alone. If the token has no right to it,
// the error wraps ErrNoCheckRuns: a commit status is the way then.
func (g *GitHub) Check(ctx context.Context, t Target, r Result) (out Outcome, err error) {
	what := fmt.Sprintf("check run on %s@%.12s", t, t.SHA)
	err = g.try(ctx, what, func(c *github.Client) (failed error) {
		out, failed = g.check(ctx, c, t, r)
		return failed
	})
	var answer *github.ErrorResponse
	if errors.As(err, &answer) && answer.Response.StatusCode == http.StatusForbidden && !limited(answer) {
		err = fmt.Errorf("%w: %w", ErrNoCheckRuns, err)
	}
	return out, err
}

func (g *GitHub) check(ctx context.Context, c *github.Client, t Target, r Result) (Outcome, error) {
	found, err := findCheck(ctx, c, t, CheckName(r.Key))
	if err != nil {
		return Outcome{}, err
	}
	if found == nil {
		made, _, err := c.Checks.CreateCheckRun(ctx, t.Owner, t.Repo, r.newCheck(t))
		return Outcome{"created", made.GetHTMLURL()}, err
	}
	n := r.newCheck(t)
	switch o, _ := checkOrder(found); {
	case o.After(r.Order):
		return Outcome{"left alone: it shows a newer run", found.GetHTMLURL()}, nil
	case found.GetExternalID() == *n.ExternalID && found.GetConclusion() == *n.Conclusion && found.GetOutput().GetTitle() == *n.Output.Title:
		return Outcome{"unchanged", found.GetHTMLURL()}, nil
	}
	made, _, err := c.Checks.UpdateCheckRun(ctx, t.Owner, t.Repo, found.GetID(), github.UpdateCheckRunOptions{
		Name: n.Name, DetailsURL: n.DetailsURL, ExternalID: n.ExternalID, Status: n.Status, Conclusion: n.Conclusion,
		CompletedAt: n.CompletedAt, Output: n.Output,
	})
	return Outcome{"updated", made.GetHTMLURL()}, err
}

// findCheck returns our newest check run of that name, or nil.
func findCheck(ctx context.Context, c *github.Client, t Target, name string) (*github.CheckRun, error) {
	opts := &github.ListCheckRunsOptions{CheckName: &name, Filter: github.String("all"), ListOptions: github.ListOptions{PerPage: 100}}
	var newest *github.CheckRun
	for {
		page, resp, err := c.Checks.ListCheckRunsForRef(ctx, t.Owner, t.Repo, t.SHA, opts)
		if err != nil {
			return nil, err
		}
		for _, run := range page.CheckRuns {
			if o, ok := checkOrder(run); ok && run.GetName() == name {
				if best, _ := checkOrder(newest); newest == nil || o.After(best) {
					newest = run
				}
			}
		}
		if resp.NextPage == 0 {
			return newest, nil
		}
		opts.Page = resp.NextPage
	}
}

func checkOrder(run *github.CheckRun) (Order, bool) {
	text, ours := strings.CutPrefix(run.GetExternalID(), externalPrefix)
	if !ours {
		return Order{}, false
	}
	return parseOrder(text)
}

func (r Result) newCheck(t Target) github.CreateCheckRunOptions {
	link := safeLink(r.Link)
	opts := github.CreateCheckRunOptions{
		Name: CheckName(r.Key), HeadSHA: t.SHA, Status: github.String("completed"), Conclusion: github.String(r.conclusion()),
		ExternalID: github.String(externalPrefix + r.Order.String()),
		Output:     &github.CheckRunOutput{Title: github.String(r.title()), Summary: github.String(fit(render.Sections(r.View), link, CommentBudget))},
	}
	if link != "" {
		opts.DetailsURL = &link
	}
	if !r.Order.End.IsZero() {
		opts.CompletedAt = &github.Timestamp{Time: r.Order.End}
	}
	return opts
}

// Status sets the commit status of this key at t.SHA, for tokens that can't make
// check runs. Its description ends in the order, so that an older result does not
// cover a newer one.
func (g *GitHub) Status(ctx context.Context, t Target, r Result) (out Outcome, err error) {
	what := fmt.Sprintf("commit status on %s@%.12s", t, t.SHA)
	err = g.try(ctx, what, func(c *github.Client) (failed error) {
		out, failed = g.status(ctx, c, t, r)
		return failed
	})
	return out, err
}

func (g *GitHub) status(ctx context.Context, c *github.Client, t Target, r Result) (Outcome, error) {
	latest, err := latestStatus(ctx, c, t, CheckName(r.Key))
	if err != nil {
		return Outcome{}, err
	}
	text := r.description()
	if o, ok := statusOrder(latest); ok && o.After(r.Order) {
		return Outcome{Did: "left alone: it shows a newer run"}, nil
	}
	if latest.GetDescription() == text && latest.GetState() == r.state() {
		return Outcome{Did: "unchanged"}, nil
	}
	s := &github.RepoStatus{State: github.String(r.state()), Description: &text, Context: github.String(CheckName(r.Key))}
	if link := safeLink(r.Link); link != "" {
		s.TargetURL = &link
	}
	_, _, err = c.Repositories.CreateStatus(ctx, t.Owner, t.Repo, t.SHA, s)
	return Outcome{Did: "created"}, err
}

// latestStatus is the newest status of a context, or nil. The list is sorted,
// newest first.
func latestStatus(ctx context.Context, c *github.Client, t Target, name string) (*github.RepoStatus, error) {
	opts := &github.ListOptions{PerPage: 100}
	for {
		page, resp, err := c.Repositories.ListStatuses(ctx, t.Owner, t.Repo, t.SHA, opts)
		if err != nil {
			return nil, err
		}
		for _, s := range page {
			if s.GetContext() == name {
				return s, nil
			}
		}
		if resp.NextPage == 0 {
			return nil, nil
		}
		opts.Page = resp.NextPage
	}
}

func statusOrder(s *github.RepoStatus) (Order, bool) {
	text := s.GetDescription()
	return parseOrder(text[strings.LastIndexByte(text, ' ')+1:])
}

// state of a commit status.
func (r Result) state() string {
	switch {
	case r.View.Verdict == "":
		return "error"
	case r.passes():
		return "success"
	case r.View.Verdict == stat.Invalid:
		return "error"
	}
	return "failure"
}

// longestDescription of a commit status, in characters.
const longestDescription = 140

func (r Result) description() string {
	order := " " + r.Order.String()
	text := []rune(strings.ToValidUTF8(r.result()+": "+r.View.Sentence, "?"))
	if room := longestDescription - len(order); len(text) > room {
		text = append(text[:room-1], '…')
	}
	return strings.Join(strings.Fields(string(text)), " ") + order
}

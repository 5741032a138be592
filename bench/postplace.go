package bench

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/aituner/opprof/report/post"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
)

var commitID = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// address says what is posted and where, from flags and environment.
func (a *app) address(f *postFlags, c *results.Campaign, v *view.View) (t post.Target, r post.Result, err error) {
	j, err := post.ReadJob(a.variable)
	if err != nil {
		return t, r, err
	}
	f.complete(j, v)
	t = post.Target{PR: f.pr, SHA: f.sha}
	if f.repo != "" {
		if t.Owner, t.Repo, err = post.ParseRepository(f.repo); err != nil {
			return t, r, err
		}
	}
	r = post.Result{View: v, Key: f.key, Link: f.link, Lenient: f.open == inconclusivePasses,
		Order: j.Order}
	if n := len(c.Entries); n > 0 {
		r.Order.End = c.Entries[n-1].Time
	}
	return t, r, f.possible(j)
}

// complete fills in what no flag says.
func (f *postFlags) complete(j post.Job, v *view.View) {
	for _, x := range []struct {
		flag *string
		from string
	}{{&f.repo, j.Repo}, {&f.sha, j.SHA}, {&f.api, j.API}, {&f.link, j.Link}, {&f.key, v.Subject.Scenario}} {
		if *x.flag == "" {
			*x.flag = x.from
		}
	}
	if f.pr == 0 {
		f.pr = j.PR
	}
	if !f.comment && !f.check && !f.status && !f.summary {
		f.comment, f.check, f.summary = f.repo != "" && f.pr > 0, f.repo != "" && f.sha != "", j.Summary
	}
}

// possible refuses what has no place to go to.
func (f *postFlags) possible(j post.Job) error {
	switch {
	case f.sha != "" && !commitID.MatchString(f.sha):
		return fmt.Errorf("--sha %q: want a whole commit id", f.sha)
	case f.pr < 0:
		return fmt.Errorf("--pr %d: want the number of a pull request", f.pr)
	case len(f.key) > 100:
		return errors.New("--key: at most 100 bytes")
	case f.dry:
		return nil
	case !f.comment && !f.check && !f.status && !f.summary:
		return errors.New("nothing to post: give --repo, --pr and --sha, or --dry-run to see the comment")
	case f.comment && (f.repo == "" || f.pr == 0):
		return errors.New("--comment needs --repo and --pr")
	case (f.check || f.status) && (f.repo == "" || f.sha == ""):
		return errors.New("--check and --status need --repo and --sha")
	case f.summary && !j.Summary:
		return errors.New("--summary needs the file that GITHUB_STEP_SUMMARY names in a GitHub Actions job")
	}
	return nil
}

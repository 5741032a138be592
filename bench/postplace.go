package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"

	"github.com/aituner/opprof/report"
	"github.com/aituner/opprof/report/post"
	"github.com/aituner/opprof/results"
)

var commitID = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// address says what is posted and where, from flags and environment.
func (a *app) address(f *postFlags, c *results.Campaign, v *report.View) (t post.Target, r post.Result, err error) {
	j, err := a.job()
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
		Order: post.Order{Run: j.run, Attempt: j.attempt}}
	if n := len(c.Entries); n > 0 {
		r.Order.End = c.Entries[n-1].Time
	}
	return t, r, f.possible(j)
}

// complete fills in what no flag says.
func (f *postFlags) complete(j job, v *report.View) {
	for _, x := range []struct {
		flag *string
		from string
	}{{&f.repo, j.repo}, {&f.sha, j.sha}, {&f.api, j.api}, {&f.link, j.link}, {&f.key, v.Subject.Scenario}} {
		if *x.flag == "" {
			*x.flag = x.from
		}
	}
	if f.pr == 0 {
		f.pr = j.pr
	}
	if !f.comment && !f.check && !f.status && !f.summary {
		f.comment, f.check, f.summary = f.repo != "" && f.pr > 0, f.repo != "" && f.sha != "", j.summary
	}
}

// possible refuses what has no place to go to.
func (f *postFlags) possible(j job) error {
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
	case f.summary && !j.summary:
		return errors.New("--summary needs the file that GITHUB_STEP_SUMMARY names in a GitHub Actions job")
	}
	return nil
}

// job is what the environment of a GitHub Actions job says; empty elsewhere.
type job struct {
	repo, sha, api, link string
	pr                   int
	run                  int64
	attempt              int
	summary              bool
}

// event is the part of a webhook's payload that says what a job is about.
type event struct {
	PullRequest *struct {
		Number int
		Head   struct{ SHA string }
	} `json:"pull_request"`
	WorkflowRun *struct {
		ID         int64
		HeadSHA    string `json:"head_sha"`
		HTMLURL    string `json:"html_url"`
		RunAttempt int    `json:"run_attempt"`
	} `json:"workflow_run"`
}

func (a *app) job() (job, error) {
	j := job{repo: a.variable("GITHUB_REPOSITORY"), sha: a.variable("GITHUB_SHA"), api: a.variable("GITHUB_API_URL"),
		summary: a.variable("GITHUB_STEP_SUMMARY") != ""}
	if id := a.variable("GITHUB_RUN_ID"); id != "" {
		j.run, _ = strconv.ParseInt(id, 10, 64)
		j.attempt, _ = strconv.Atoi(a.variable("GITHUB_RUN_ATTEMPT"))
		j.link = a.variable("GITHUB_SERVER_URL") + "/" + j.repo + "/actions/runs/" + id
	}
	path := a.variable("GITHUB_EVENT_PATH")
	if path == "" {
		return j, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return j, fmt.Errorf("read the event: %w", err)
	}
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return j, fmt.Errorf("event %s: not JSON: %w", path, err)
	}
	j.from(e)
	return j, nil
}

// from takes the commit of a pull request and not that of GITHUB_SHA, which is a
// merge that nobody sees; of a run that a second workflow follows, that run.
func (j *job) from(e event) {
	if p := e.PullRequest; p != nil {
		j.pr, j.sha = p.Number, p.Head.SHA
	}
	if w := e.WorkflowRun; w != nil {
		j.sha, j.link, j.run, j.attempt = w.HeadSHA, w.HTMLURL, w.ID, w.RunAttempt
	}
}

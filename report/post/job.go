package post

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
)

// Job is what the environment of a GitHub Actions job says; empty elsewhere.
type Job struct {
	Repo    string // OWNER/NAME
	SHA     string // commit that was measured
	PR      int    // number of the pull request; 0: none
	API     string // address of GitHub's API
	Link    string // to the job, or to the workflow run that it follows
	Order   Order  // without the campaign's end
	Summary bool   // there is a file for the job's summary
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

// ReadJob reads the variables of a job, which it asks for by name, and the event
// that they lead to.
func ReadJob(variable func(name string) string) (Job, error) {
	j := Job{Repo: variable("GITHUB_REPOSITORY"), SHA: variable("GITHUB_SHA"), API: variable("GITHUB_API_URL"),
		Summary: variable("GITHUB_STEP_SUMMARY") != ""}
	if id := variable("GITHUB_RUN_ID"); id != "" {
		j.Order.Run, _ = strconv.ParseInt(id, 10, 64)
		j.Order.Attempt, _ = strconv.Atoi(variable("GITHUB_RUN_ATTEMPT"))
		j.Link = variable("GITHUB_SERVER_URL") + "/" + j.Repo + "/actions/runs/" + id
	}
	path := variable("GITHUB_EVENT_PATH")
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
func (j *Job) from(e event) {
	if p := e.PullRequest; p != nil {
		j.PR, j.SHA = p.Number, p.Head.SHA
	}
	if w := e.WorkflowRun; w != nil {
		j.SHA, j.Link, j.Order = w.HeadSHA, w.HTMLURL, Order{Run: w.ID, Attempt: w.RunAttempt}
	}
}

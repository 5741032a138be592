package bench

import (
	"bytes"
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/post/fakegithub"
	"github.com/aituner/opprof/results"
)

const postedHead = "1111111111111111111111111111111111111111"

// posting is one call of opbench post against a fake GitHub.
type posting struct {
	server         *fakegithub.Server
	dir            string
	stdout, stderr string
	code           int
}

// simulated runs a campaign of the simulated engine on a virtual clock.
func simulated(t *testing.T, args string) (dir string) {
	t.Helper()
	parent := t.TempDir()
	synctest.Test(t, func(t *testing.T) { dir = campaign(t, parent, fmt.Sprintf(gateScenario, args), nil) })
	return dir
}

// jobOn is the environment of a job with this event.
func jobOn(t *testing.T, event string) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "event.json")
	require.NoError(t, os.WriteFile(path, []byte(event), 0o644))
	return []string{"GITHUB_TOKEN=bot", "GITHUB_REPOSITORY=o/r", "GITHUB_EVENT_PATH=" + path, "GITHUB_SHA=" + strings.Repeat("9", 40),
		"GITHUB_RUN_ID=10", "GITHUB_RUN_ATTEMPT=2", "GITHUB_SERVER_URL=https://github.example"}
}

const pullEvent = `{"pull_request": {"number": 7, "head": {"sha": "` + postedHead + `"}}}`

// postTo posts a folder and waits for nothing.
func postTo(t *testing.T, s *fakegithub.Server, dir string, environ []string, args ...string) *posting {
	t.Helper()
	server := httptest.NewServer(s)
	defer server.Close()
	var stdout, stderr bytes.Buffer
	a := &app{stdout: &stdout, stderr: &stderr, environ: append(environ, "GITHUB_API_URL="+server.URL+"/api/v3"),
		sleep: func(context.Context, time.Duration) error { return nil }}
	code := a.main(append([]string{"post", dir}, args...))
	return &posting{s, dir, stdout.String(), stderr.String(), code}
}

func pull7(t *testing.T, faults ...string) *fakegithub.Server {
	t.Helper()
	s := &fakegithub.Server{Pulls: map[int]string{7: postedHead}}
	for _, name := range faults {
		f, err := fakegithub.Named(name)
		require.NoError(t, err)
		s.Inject(f)
	}
	return s
}

// Everything comes from the job: comment, check run and link; the exit code is
// the verdict.
func TestPostFromAJob(t *testing.T) {
	dir := simulated(t, `noise: 1%, record-cost: 8%`)
	p := postTo(t, pull7(t), dir, append(jobOn(t, pullEvent), "GITHUB_ACTIONS=true"))
	assert.Equal(t, 10, p.code, p.stderr)
	state := p.server.State()
	require.Len(t, state.Comments, 1)
	body := state.Comments[0].Body
	assert.Contains(t, body, "> **FAIL**")
	assert.Contains(t, body, "[job](https://github.example/o/r/actions/runs/10)")
	assert.Regexp(t, `"key":"gate-test","order":\{"end":"2000-01-0\dT[0-9:]+Z","run":10,"attempt":2\},"sha":"1{40}"`, body, "the end of the campaign on its own clock")
	require.Len(t, state.Checks, 1)
	assert.Equal(t, "failure", state.Checks[0].Conclusion)
	assert.Equal(t, postedHead, state.Checks[0].HeadSHA, "the head, not the merge of GITHUB_SHA")
	assert.True(t, strings.HasPrefix(p.stdout, "FAIL  "), p.stdout)
	assert.Contains(t, p.stdout, "\n::error title=opbench%3A TPOT p50")
	assert.Contains(t, p.stderr, "comment created http")
	assert.FileExists(t, filepath.Join(dir, results.VerdictFile))

	// The same again changes nothing.
	again := postTo(t, p.server, dir, jobOn(t, pullEvent))
	assert.Equal(t, 10, again.code)
	assert.Equal(t, state.Comments[0].Body, again.server.State().Comments[0].Body)
	assert.Len(t, again.server.State().Comments, 1)
	assert.Len(t, again.server.State().Checks, 1)
}

// Whatever happens to the posting, the exit code is the verdict's, the result is
// on disk, and there is one comment or none.
func TestPostingNeverChangesTheVerdict(t *testing.T) {
	dir := simulated(t, `noise: 1%, record-cost: 0%`)
	for _, name := range fakegithub.Names() {
		if name == "timeout" { // needs the real time of a request
			continue
		}
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.RemoveAll(filepath.Join(dir, results.VerdictFile)))
			p := postTo(t, pull7(t, name), dir, jobOn(t, pullEvent))
			assert.Equal(t, 0, p.code, p.stderr)
			assert.FileExists(t, filepath.Join(dir, results.VerdictFile))
			comments := p.server.State().Comments
			assert.LessOrEqual(t, len(comments), 1)
			complains := strings.Contains(p.stderr, "not everything was posted, the verdict stands")
			assert.Equal(t, len(comments) == 0, complains, p.stderr)

			strict := postTo(t, pull7(t, name), dir, jobOn(t, pullEvent), "--fail-on-post-error")
			assert.Equal(t, complains, strict.code == 13, "code %d", strict.code)
		})
	}
}

// A failed posting hides no FAIL, unless a job that only posts asks for it.
func TestFailStaysFail(t *testing.T) {
	dir := simulated(t, `noise: 1%, record-cost: 8%`)
	for args, want := range map[string]int{"--comment": 10, "--inconclusive=pass": 10, "--fail-on-post-error": 13} {
		p := postTo(t, pull7(t, "server-no-more"), dir, jobOn(t, pullEvent), args)
		assert.Equal(t, want, p.code, p.stderr)
		assert.Empty(t, p.server.State().Comments)
	}
}

// Check runs that the token has no right to become a commit status.
func TestPostFallsBackToAStatus(t *testing.T) {
	dir := simulated(t, `noise: 1%, record-cost: 0%`)
	p := postTo(t, pull7(t, "no-checks"), dir, jobOn(t, pullEvent), "--check", "--fail-on-post-error")
	assert.Equal(t, 0, p.code, p.stderr)
	require.Len(t, p.server.State().Statuses, 1)
	assert.Equal(t, "success", p.server.State().Statuses[0].State)
	assert.Empty(t, p.server.State().Checks)
	assert.Contains(t, p.stderr, "a commit status instead")
}

// A fork's pull request: the token may only read. The summary is there, and the
// message says which second workflow posts.
func TestPostOfAFork(t *testing.T) {
	dir := simulated(t, `noise: 1%, record-cost: 8%`)
	summary := filepath.Join(t.TempDir(), "summary.md")
	p := postTo(t, pull7(t, "read-only"), dir, append(jobOn(t, pullEvent), "GITHUB_STEP_SUMMARY="+summary))
	assert.Equal(t, 10, p.code, p.stderr)
	assert.Contains(t, p.stderr, "bench-post.yml")
	text, err := os.ReadFile(summary)
	require.NoError(t, err)
	assert.Contains(t, string(text), "> **FAIL**")
}

// The second workflow takes commit, run and link from the run that it follows. A
// number that is not the one of that commit gets no comment.
func TestPostFromAWorkflowRun(t *testing.T) {
	dir := simulated(t, `noise: 1%, record-cost: 0%`)
	event := `{"workflow_run": {"id": 55, "run_attempt": 3, "head_sha": "` + postedHead + `", "html_url": "https://github.example/o/r/actions/runs/55"}}`
	s := pull7(t)
	s.Pulls[8] = strings.Repeat("8", 40)
	p := postTo(t, s, dir, jobOn(t, event), "--comment", "--check", "--pr", "7", "--fail-on-post-error")
	assert.Equal(t, 0, p.code, p.stderr)
	require.Len(t, s.State().Comments, 1)
	assert.Contains(t, s.State().Comments[0].Body, `"run":55,"attempt":3`)
	assert.Contains(t, s.State().Comments[0].Body, "actions/runs/55")
	assert.Equal(t, postedHead, s.State().Checks[0].HeadSHA)

	p = postTo(t, s, dir, jobOn(t, event), "--comment", "--pr", "8", "--fail-on-post-error")
	assert.Equal(t, 13, p.code)
	assert.Contains(t, p.stderr, "the head is 888888888888: not the head of the pull request")
	assert.Len(t, s.State().Comments, 1)
}

// An event that can't be read stops before anything is posted.
func TestPostRefusesABadEvent(t *testing.T) {
	for _, event := range []string{"", "{", "[]", `{"pull_request": {"number": 7, "head": {"sha": "HEAD"}}}`} {
		p := postTo(t, pull7(t), "../results/campaigns/vllm-cpu-aa", jobOn(t, event), "--check", "--dry-run")
		assert.Equal(t, 2, p.code, event)
		assert.Empty(t, p.server.State().Requests)
	}
}

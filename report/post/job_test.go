package post

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A job posts to the commit that its event names, with the order of the run that
// measured: anything else would let an old result replace a new one.
func TestReadJob(t *testing.T) {
	environ := map[string]string{
		"GITHUB_REPOSITORY": "o/r", "GITHUB_SHA": "merge", "GITHUB_API_URL": "https://api.example", "GITHUB_STEP_SUMMARY": "s",
		"GITHUB_RUN_ID": "10", "GITHUB_RUN_ATTEMPT": "2", "GITHUB_SERVER_URL": "https://github.example",
	}
	own := Job{Repo: "o/r", SHA: "merge", API: "https://api.example", Link: "https://github.example/o/r/actions/runs/10",
		Order: Order{Run: 10, Attempt: 2}, Summary: true}
	pull, follower := own, own
	pull.PR, pull.SHA = 7, "head"
	follower.SHA, follower.Link, follower.Order = "measured", "https://run", Order{Run: 55, Attempt: 3}
	for event, want := range map[string]Job{
		"{}": own,
		`{"pull_request": {"number": 7, "head": {"sha": "head"}}}`:                                          pull,
		`{"workflow_run": {"id": 55, "run_attempt": 3, "head_sha": "measured", "html_url": "https://run"}}`: follower,
	} {
		environ["GITHUB_EVENT_PATH"] = filepath.Join(t.TempDir(), "event.json")
		require.NoError(t, os.WriteFile(environ["GITHUB_EVENT_PATH"], []byte(event), 0o644))
		got, err := ReadJob(func(name string) string { return environ[name] })
		require.NoError(t, err)
		assert.Equal(t, want, got, event)
	}
	nowhere, err := ReadJob(func(string) string { return "" })
	require.NoError(t, err)
	assert.Zero(t, nowhere)
}

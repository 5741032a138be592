package bench

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/harness/preflight"
	"github.com/aituner/opprof/results"
)

func TestDoctorJSON(t *testing.T) {
	var out, errs bytes.Buffer
	a := &app{stdout: &out, stderr: &errs, environ: os.Environ(), cache: t.TempDir()}
	folder := filepath.Join(t.TempDir(), "runs")
	code := a.main([]string{"doctor", "--json", "-o", folder, "quickstart"})
	var doc struct {
		Schema   int
		Kind     string
		Scenario string
		Checks   []preflight.Check
	}
	dec := json.NewDecoder(&out)
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(&doc))
	assert.Equal(t, results.Schema, doc.Schema)
	assert.Equal(t, "doctor", doc.Kind)
	assert.Equal(t, "quickstart", doc.Scenario)
	require.NotEmpty(t, doc.Checks)
	want := 0
	for _, c := range doc.Checks {
		assert.NotEmpty(t, c.ID)
		assert.NotEmpty(t, c.Finding, c.ID)
		assert.Contains(t, []preflight.Status{preflight.OK, preflight.Warn, preflight.Fail, preflight.Skip}, c.Status, c.ID)
		if c.Status == preflight.Fail {
			want = exitInfrastructure
		}
	}
	assert.Equal(t, want, code, errs.String())
	assert.NoDirExists(t, folder)
}

// A resumed campaign needs the disk only for what is left.
func TestRunsLeft(t *testing.T) {
	plan, err := tested.loadPlan("quickstart")
	require.NoError(t, err)
	assert.Equal(t, 14, runsLeft(plan, t.TempDir()))
	assert.Zero(t, runsLeft(&results.Plan{}, t.TempDir()))

	dir, err := results.Create(t.TempDir(), plan, time.Now())
	require.NoError(t, err)
	l, err := results.OpenLedger(results.LedgerPath(dir))
	require.NoError(t, err)
	for _, e := range []results.Event{results.EventRunStart, results.EventRunEnd} {
		for _, arm := range []string{"off", "on"} {
			require.NoError(t, l.Append(results.Entry{Event: e, Block: "burnin-1", Attempt: 1, Arm: arm, Time: time.Now()}))
		}
	}
	require.NoError(t, l.Append(results.Entry{Event: results.EventBlockValid, Block: "burnin-1", Attempt: 1, Time: time.Now()}))
	require.NoError(t, l.Close())
	assert.Equal(t, 12, runsLeft(plan, dir))
}

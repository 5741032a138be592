package bench

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/results"
)

// A watcher beside a session sees its runs and ends with it.
func TestWatchEndsWithTheSession(t *testing.T) {
	dir := plannedDir(t)
	synctest.Test(t, func(t *testing.T) {
		l, err := results.OpenLedger(results.LedgerPath(dir))
		require.NoError(t, err)
		require.NoError(t, l.Append(results.Entry{Event: results.EventSession, Time: time.Now()}))
		go func() {
			time.Sleep(10 * time.Second)
			_ = l.Append(results.Entry{Event: results.EventRunStart, Block: "0001", Attempt: 1, Arm: "off", Time: time.Now()})
			time.Sleep(heartbeatEvery)
			_ = l.Append(results.Entry{Event: results.EventStop, Detail: "time budget", Time: time.Now()})
			l.Close()
		}()
		var out, log bytes.Buffer
		require.NoError(t, (&app{stdout: &out, stderr: &log}).watch(dir))
		assert.Contains(t, log.String(), "run 0001/off starts")
		assert.Contains(t, log.String(), "0/14 runs · 0001/off · 30s elapsed, unknown left")
		assert.Contains(t, log.String(), "stopped: time budget")
		assert.Empty(t, out.String())
	})
}

// Nobody works on it: nothing to watch, and the lines of status follow.
func TestWatchOfAnIdleCampaign(t *testing.T) {
	dir := plannedDir(t)
	l, err := results.OpenLedger(results.LedgerPath(dir))
	require.NoError(t, err)
	require.NoError(t, l.Close())
	var out, log bytes.Buffer
	a := &app{stdout: &out, stderr: &log}
	assert.Zero(t, a.main([]string{"status", "--watch", dir}))
	assert.Contains(t, out.String(), "0 of 14 runs done")
	assert.Contains(t, out.String(), "next      opbench resume "+dir+" goes on\n")
	assert.Empty(t, log.String())
}

// Ctrl-C ends the watching, not the campaign.
func TestWatchIsInterrupted(t *testing.T) {
	dir := plannedDir(t)
	l, err := results.OpenLedger(results.LedgerPath(dir))
	require.NoError(t, err)
	defer l.Close()
	signals := make(chan os.Signal, 1)
	signals <- os.Interrupt
	var out bytes.Buffer
	a := &app{stdout: &out, stderr: &out, signals: signals}
	require.NoError(t, a.watch(dir))
	require.NoError(t, a.status(dir))
	assert.Contains(t, out.String(), "next      a session works on it; opbench status --watch "+dir)
}

func TestWatchWithoutACampaign(t *testing.T) {
	var out, log bytes.Buffer
	a := &app{stdout: &out, stderr: &log}
	assert.Equal(t, exitUsage, a.main([]string{"status", "--watch", t.TempDir()}))
	assert.Equal(t, 1, strings.Count(log.String(), "\n"), "one line: %s", log.String())
}

// plannedDir is the run directory of a campaign that was planned and not begun.
func plannedDir(t *testing.T) string {
	t.Helper()
	plan, err := tested.loadPlan("quickstart")
	require.NoError(t, err)
	dir, err := results.Create(t.TempDir(), plan, time.Now())
	require.NoError(t, err)
	return dir
}

package engine

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/aituner/opprof/results"
)

func TestServerIsOursAndStops(t *testing.T) {
	spec := testSpec(t)
	p := start(t, testEngine(t, "ok"), spec)
	proof := p.Prove("ready")
	assert.Equal(t, 1, proof.Listeners)
	assert.Equal(t, 1, proof.Ours)
	assert.Empty(t, proof.Detail)
	assert.Equal(t, "{nonce}", p.Info().Command[8])
	scrape, err := Metrics(context.Background(), p)
	require.NoError(t, err)
	assert.Equal(t, map[string]float64{"vllm:num_preemptions_total": 5}, scrape.Counters, "summed over engines")
	stop := p.Stop()
	assert.True(t, stop.Requested)
	assert.True(t, stop.Graceful)
	assert.True(t, groupGone(p.pid))
}

func TestStopKillsWhatIgnoresSIGINT(t *testing.T) {
	for _, mode := range []string{"stubborn", "stubborn-child"} {
		e := testEngine(t, mode)
		e.cfg.StopTimeout = 300 * time.Millisecond
		p := start(t, e, testSpec(t))
		stop := p.Stop()
		assert.False(t, stop.Graceful, mode)
		assert.True(t, groupGone(p.pid), "%s: the whole group must be gone", mode)
	}
}

func TestServerThatEndsByItself(t *testing.T) {
	p := start(t, testEngine(t, "ok"), testSpec(t))
	_, dead := p.Exited()
	assert.False(t, dead)
	require.NoError(t, syscall.Kill(p.pid, syscall.SIGKILL))
	<-p.done
	state, dead := p.Exited()
	assert.True(t, dead)
	assert.Contains(t, state, "killed")
	stop := p.Stop()
	assert.False(t, stop.Requested)
	assert.False(t, stop.Graceful)
	assert.Equal(t, "killed", stop.Signal)
}

// The front end is killed, its children stay and hold the GPU: the port is free,
// and the next start would fail for want of memory.
func TestChildrenOfAKilledServerAreEnded(t *testing.T) {
	e := testEngine(t, "stubborn-child")
	e.cfg.StopTimeout = 300 * time.Millisecond
	p := start(t, e, testSpec(t))
	require.NoError(t, syscall.Kill(p.pid, syscall.SIGKILL))
	<-p.done
	require.Len(t, groupMembers(p.pid), 1, "the child lives on")
	stop := p.Stop()
	assert.False(t, stop.Requested)
	assert.False(t, stop.Graceful)
	assert.True(t, groupGone(p.pid))
}

func TestStartFailures(t *testing.T) {
	_, err := testEngine(t, "die").Start(context.Background(), testSpec(t))
	assert.ErrorContains(t, err, "ended before it answered (exit status 3)")
	assert.ErrorContains(t, err, "ERROR no such model", "the end of the log says why")

	e := testEngine(t, "silent")
	e.cfg.ReadyTimeout, e.cfg.StopTimeout = 500*time.Millisecond, time.Second
	_, err = e.Start(context.Background(), testSpec(t))
	assert.ErrorContains(t, err, "did not answer within")

	e = &simEngine{Config{Self: filepath.Join(t.TempDir(), "absent")}}
	_, err = e.Start(context.Background(), testSpec(t))
	assert.ErrorContains(t, err, "no such file")
}

// A server that was left over keeps the port and would answer the readiness
// probe: the arm would be measured on it.
func TestLeftOverServerIsRefused(t *testing.T) {
	old := start(t, testEngine(t, "ok"), testSpec(t))
	e := testEngine(t, "silent") // the new server never gets the port
	e.cfg.fixedPort, e.cfg.StopTimeout = old.port, time.Second
	spec := testSpec(t)
	spec.Nonce = "opbench-new"
	_, err := e.Start(context.Background(), spec)
	require.ErrorIs(t, err, ErrForeign)
	assert.ErrorContains(t, err, "process "+strconv.Itoa(old.pid))
	_, dead := old.Exited()
	assert.False(t, dead, "a foreign server is named, not ended")
}

// With SO_REUSEPORT both listen, and the kernel splits the connections.
func TestServerThatSharesThePortIsRefused(t *testing.T) {
	old := start(t, testEngine(t, "ok"), testSpec(t))
	e := testEngine(t, "ok")
	e.cfg.fixedPort = old.port
	spec := testSpec(t)
	spec.Nonce = "opbench-new"
	_, err := e.Start(context.Background(), spec)
	require.ErrorIs(t, err, ErrForeign)
	assert.ErrorContains(t, err, "end that process first")

	// One that joins later is seen by the proofs around the timed phases.
	l, err := reuseportListener("127.0.0.1:" + strconv.Itoa(old.port))
	require.NoError(t, err)
	defer l.Close()
	proof := old.Prove("wide:after")
	assert.Equal(t, 2, proof.Listeners)
	assert.Equal(t, 1, proof.Ours)
	assert.Contains(t, proof.Detail, "process "+strconv.Itoa(os.Getpid()))
}

func TestReapEndsOnlyOurs(t *testing.T) {
	spec := testSpec(t)
	p := start(t, testEngine(t, "ok"), spec)
	other := t.TempDir()
	id := strconv.Itoa(p.pid) + " opbench-of-another-run\n"
	require.NoError(t, os.WriteFile(filepath.Join(other, results.ServerPIDFile), []byte(id), 0o644))
	reaped, err := Reap(other)
	require.NoError(t, err)
	assert.False(t, reaped, "the process id was given to somebody else")
	_, dead := p.Exited()
	assert.False(t, dead)

	reaped, err = Reap(spec.RunDir)
	require.NoError(t, err)
	assert.True(t, reaped)
	<-p.done
	reaped, err = Reap(spec.RunDir)
	require.NoError(t, err)
	assert.False(t, reaped)

	reaped, err = Reap(t.TempDir())
	require.NoError(t, err)
	assert.False(t, reaped)
	require.NoError(t, os.WriteFile(filepath.Join(other, results.ServerPIDFile), []byte("garbage"), 0o644))
	_, err = Reap(other)
	assert.ErrorContains(t, err, "not a process id and a nonce")
}

func TestCPUSecondsByRole(t *testing.T) {
	p := start(t, testEngine(t, "busy"), testSpec(t))
	require.Eventually(t, func() bool { return p.CPUSeconds()["server"] >= 0.05 }, 20*time.Second, 20*time.Millisecond)
	assert.Len(t, p.CPUSeconds(), 1)
}

func TestScheduleReachesEveryThread(t *testing.T) {
	p := start(t, testEngine(t, "ok"), testSpec(t))
	set, err := p.applySchedule(map[string]string{"server": "idle"})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"server": "idle"}, set)
	tasks, err := filepath.Glob("/proc/" + strconv.Itoa(p.pid) + "/task/[0-9]*")
	require.NoError(t, err)
	require.NotEmpty(t, tasks)
	for _, task := range tasks {
		tid, err := strconv.Atoi(filepath.Base(task))
		require.NoError(t, err)
		attr, err := unix.SchedGetAttr(tid, 0)
		require.NoError(t, err)
		assert.Equal(t, uint32(unix.SCHED_IDLE), attr.Policy)
	}
	_, err = p.applySchedule(map[string]string{"worker": "idle"})
	assert.ErrorContains(t, err, `no process with the role "worker"`)
}

func TestAttach(t *testing.T) {
	p := start(t, testEngine(t, "ok"), testSpec(t))
	spec := testSpec(t)
	spec.Arm.URL = "http://127.0.0.1:" + strconv.Itoa(p.port)
	spec.Engine.Model = p.nonce
	s, err := attachEngine{}.Start(context.Background(), spec)
	require.NoError(t, err)
	assert.Equal(t, p.nonce, s.Info().Model)

	spec.Engine.Model = "another"
	_, err = attachEngine{}.Start(context.Background(), spec)
	assert.ErrorContains(t, err, `not engine.model "another"`)

	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	spec.Arm.URL = "http://" + l.Addr().String()
	_, err = attachEngine{}.Start(context.Background(), spec)
	assert.ErrorContains(t, err, "does not answer")
	for _, bad := range []string{"", "127.0.0.1:80", "https://host", "http://"} {
		spec.Arm.URL = bad
		_, err = attachEngine{}.Start(context.Background(), spec)
		assert.ErrorContains(t, err, `url "`, bad)
	}
}

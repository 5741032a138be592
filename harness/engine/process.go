package engine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/aituner/opprof/results"
)

// process is a server in a process group of its own.
type process struct {
	cfg   Config
	port  int
	pid   int
	nonce string
	start time.Time
	log   *logTail
	gpus  *GPUs
	info  results.Server
	role  func(leader bool, cmdline string) string

	done chan struct{} // closed when the leader has been reaped
	mu   sync.Mutex
	wait *os.ProcessState
}

// command is what to run.
type command struct {
	path string
	args []string
	env  []string // complete
	dir  string
}

// launch starts the command in its own process group. If the harness dies, the
// leader gets SIGINT and ends its children as in a normal stop.
func launch(cfg Config, c command, spec Spec, port int) (*process, error) {
	logPath := filepath.Join(spec.RunDir, results.ServerLogFile)
	logFile, err := os.Create(logPath)
	if err != nil {
		return nil, fmt.Errorf("start server: %w", err)
	}
	defer logFile.Close()
	cmd := exec.Command(c.path, c.args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = c.env, c.dir, logFile, logFile
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGINT}
	p := &process{cfg: cfg, port: port, nonce: spec.Nonce, start: time.Now(), done: make(chan struct{})}
	started := make(chan error)
	go p.own(cmd, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", c.path, err)
	}
	p.log = tailLog(logPath)
	id := fmt.Sprintf("%d %s\n", p.pid, spec.Nonce)
	return p, os.WriteFile(filepath.Join(spec.RunDir, results.ServerPIDFile), []byte(id), 0o644)
}

// own keeps the thread that started the child until it ends: the kernel sends
// Pdeathsig when that thread, not the process, goes away.
func (p *process) own(cmd *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Start()
	if err == nil {
		p.pid = cmd.Process.Pid
	}
	started <- err
	if err != nil {
		return
	}
	_ = cmd.Wait() // the state says how it ended
	p.mu.Lock()
	p.wait = cmd.ProcessState
	p.mu.Unlock()
	close(p.done)
}

// Host is where every server that the harness starts listens.
func (p *process) Host() string { return "127.0.0.1" }

// Dial opens a connection to the server's port.
func (p *process) Dial(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(p.port)))
}

// Info is what is known about the server.
func (p *process) Info() results.Server { return p.info }

// LogFindings are the lines of the log that matter so far.
func (p *process) LogFindings() []results.LogLine { return p.log.Findings() }

// Exited reports an end that nobody asked for.
func (p *process) Exited() (string, bool) {
	select {
	case <-p.done:
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.wait.String(), true
	default:
		return "", false
	}
}

// Stop sends SIGINT to the leader, waits until the whole group is gone, and
// kills what is left after the bound.
func (p *process) Stop() results.Stop {
	begin := time.Now()
	_, dead := p.Exited()
	stop := results.Stop{Requested: !dead}
	if !dead {
		_ = syscall.Kill(p.pid, syscall.SIGINT)
	}
	stop.Graceful = p.waitGroup(p.cfg.StopTimeout) && !dead
	if !groupGone(p.pid) {
		_ = syscall.Kill(-p.pid, syscall.SIGKILL)
		p.waitGroup(10 * time.Second)
	}
	p.log.stop()
	stop.Seconds = time.Since(begin).Seconds()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wait != nil {
		stop.ExitCode = p.wait.ExitCode()
		if ws, ok := p.wait.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			stop.Signal = ws.Signal().String()
		}
	}
	return stop
}

func (p *process) waitGroup(bound time.Duration) bool {
	deadline := time.Now().Add(bound)
	for time.Now().Before(deadline) {
		if _, dead := p.Exited(); dead && groupGone(p.pid) {
			return true
		}
		time.Sleep(50 * time.Millisecond)
	}
	return false
}

// groupGone reports whether no live process is left in the group.
func groupGone(pgid int) bool {
	return errors.Is(syscall.Kill(-pgid, 0), syscall.ESRCH) || len(groupMembers(pgid)) == 0
}

// Reap ends a server that outlived a killed harness. It only touches a process
// group whose leader's command line carries the run's nonce.
func Reap(runDir string) (bool, error) {
	data, err := os.ReadFile(filepath.Join(runDir, results.ServerPIDFile))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var pid int
	var nonce string
	if n, err := fmt.Sscan(string(data), &pid, &nonce); n != 2 || pid <= 1 {
		return false, fmt.Errorf("%s/%s: not a process id and a nonce: %w", runDir, results.ServerPIDFile, err)
	}
	if !carries(pid, nonce) {
		return false, nil
	}
	if err := syscall.Kill(-pid, syscall.SIGKILL); err != nil {
		return false, fmt.Errorf("end left-over server %d: %w", pid, err)
	}
	return true, nil
}

// carries reports whether any member of the group was started with the nonce:
// the leader's title may have changed, its children's command lines not.
func carries(pgid int, nonce string) bool {
	for _, pid := range groupMembers(pgid) {
		env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if strings.Contains(string(env), nonceVariable+"="+nonce) {
			return true
		}
	}
	return false
}

// nonceVariable marks every process of a started server.
const nonceVariable = "OPBENCH_NONCE"

package engine

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/aituner/opprof/results"
	"golang.org/x/sys/unix"
)

// procStat is the part of /proc/PID/stat that is used here (proc(5)).
type procStat struct {
	state byte
	pgrp  int
	ticks uint64 // user and system time in clock ticks, the process's own
}

// clockTicks is USER_HZ, 100 on every Linux that Go runs on.
const clockTicks = 100

func readStat(pid int) (procStat, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return procStat{}, err
	}
	// The command name may contain blanks and parentheses: fields count from
	// the last closing one.
	rest := string(data[strings.LastIndexByte(string(data), ')')+1:])
	f := strings.Fields(rest)
	if len(f) < 13 {
		return procStat{}, fmt.Errorf("/proc/%d/stat: cut short", pid)
	}
	pgrp, err := strconv.Atoi(f[2])
	user, err1 := strconv.ParseUint(f[11], 10, 64)
	system, err2 := strconv.ParseUint(f[12], 10, 64)
	if err != nil || err1 != nil || err2 != nil {
		return procStat{}, fmt.Errorf("/proc/%d/stat: not numbers", pid)
	}
	return procStat{f[0][0], pgrp, user + system}, nil
}

// groupMembers lists the live processes of a process group; zombies are dead.
func groupMembers(pgid int) []int {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	var pids []int
	for _, d := range dirs {
		pid, err := strconv.Atoi(filepath.Base(d))
		if err != nil {
			continue
		}
		if st, err := readStat(pid); err == nil && st.pgrp == pgid && st.state != 'Z' {
			pids = append(pids, pid)
		}
	}
	return pids
}

func cmdline(pid int) string {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return strings.TrimRight(strings.ReplaceAll(string(data), "\x00", " "), " ")
}

// CPUSeconds sums user and system time of the group's processes by role.
func (p *process) CPUSeconds() map[string]float64 {
	out := map[string]float64{}
	for _, pid := range groupMembers(p.pid) {
		if st, err := readStat(pid); err == nil {
			out[p.role(pid == p.pid, cmdline(pid))] += float64(st.ticks) / clockTicks
		}
	}
	return out
}

// Prove counts the sockets that listen on the server's port and those of them
// that its process group owns. vLLM sets SO_REUSEPORT: an old server can share
// the port and take a part of the connections.
func (p *process) Prove(when string) results.Proof {
	proof := results.Proof{When: when}
	inodes, err := listeners(p.port)
	if err != nil {
		proof.Detail = err.Error()
		return proof
	}
	proof.Listeners = len(inodes)
	for _, pid := range groupMembers(p.pid) {
		for _, inode := range socketInodes(pid) {
			if inodes[inode] {
				proof.Ours++
				delete(inodes, inode) // inherited by several processes: one socket
			}
		}
	}
	if len(inodes) > 0 {
		proof.Detail = fmt.Sprintf("a foreign socket listens on port %d: %s", p.port, ownersOf(inodes))
	}
	return proof
}

// listeners returns the inodes of the TCP sockets in state LISTEN on a port.
func listeners(port int) (map[string]bool, error) {
	inodes := map[string]bool{}
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(name)
		if os.IsNotExist(err) {
			continue // a kernel without IPv6
		}
		if err != nil {
			return nil, err
		}
		sc := bufio.NewScanner(f)
		for sc.Scan() {
			// sl local_address rem_address st tx:rx tr:tm retrnsmt uid timeout inode
			c := strings.Fields(sc.Text())
			if len(c) > 9 && c[3] == "0A" && strings.HasSuffix(c[1], fmt.Sprintf(":%04X", port)) {
				inodes[c[9]] = true
			}
		}
		f.Close()
		if err := sc.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return inodes, nil
}

func socketInodes(pid int) []string {
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	var out []string
	for _, l := range links {
		target, _ := os.Readlink(l)
		if inode, ok := strings.CutPrefix(target, "socket:["); ok {
			out = append(out, strings.TrimSuffix(inode, "]"))
		}
	}
	return out
}

// ownersOf names the processes that hold one of the sockets.
func ownersOf(inodes map[string]bool) string {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(d))
		for _, inode := range socketInodes(pid) {
			if inodes[inode] {
				return fmt.Sprintf("process %d (%.60s)", pid, cmdline(pid))
			}
		}
	}
	return "owner unknown"
}

// applySchedule puts every thread of the processes with a listed role under
// SCHED_IDLE and returns what was set, by role. Threads that they start later
// inherit it.
func (p *process) applySchedule(want map[string]string) (map[string]string, error) {
	done := map[string]string{}
	for _, pid := range groupMembers(p.pid) {
		role := p.role(pid == p.pid, cmdline(pid))
		if want[role] == "" {
			continue
		}
		if err := idleThreads(pid); err != nil {
			return nil, fmt.Errorf("schedule %s (process %d): %w", role, pid, err)
		}
		done[role] = want[role]
	}
	for role := range want {
		if done[role] == "" {
			return nil, fmt.Errorf("schedule: the server has no process with the role %q", role)
		}
	}
	return done, nil
}

func idleThreads(pid int) error {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/[0-9]*", pid))
	if err != nil || len(tasks) == 0 {
		return fmt.Errorf("no threads found: %v", err)
	}
	for _, t := range tasks {
		tid, _ := strconv.Atoi(filepath.Base(t))
		attr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}
		if err := unix.SchedSetAttr(tid, &attr, 0); err != nil && err != unix.ESRCH {
			return err
		}
	}
	return nil
}

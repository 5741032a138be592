package engine

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/aituner/opprof/results"
)

// Package is an installed vllm package.
type Package struct {
	Python   string            // absolute path of the interpreter
	Dir      string            // folder that contains vllm/
	Versions map[string]string // of vllm, torch, python, ...; by distribution
}

// FindPackage asks an interpreter where its vllm package is, without importing
// it.
func FindPackage(ctx context.Context, python string, environ []string) (Package, error) {
	path, err := findPython(python)
	if err != nil {
		return Package{}, err
	}
	e := &vllmEngine{cfg: Config{Environ: environ}, python: path}
	if err := e.inspect(ctx); err != nil {
		return Package{}, err
	}
	return Package{Python: path, Dir: e.packages, Versions: e.versions}, nil
}

// Process is a live process that is, or was, part of a server under test.
type Process struct {
	PID   int
	Title string // its command line, cut
}

// Servers lists the processes on this host that belong to a vLLM or that a
// harness started, whoever owns them. Those of the campaign in dir are left out
// (a killed session may have left one): resume ends it.
func Servers(dir string) ([]Process, error) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil || len(dirs) == 0 {
		return nil, fmt.Errorf("list processes in /proc: %w", os.ErrNotExist)
	}
	own := append(LeftBehind(dir), os.Getpid())
	var found []Process
	for _, d := range dirs {
		pid, err := strconv.Atoi(filepath.Base(d))
		if err != nil || slices.Contains(own, pid) {
			continue
		}
		argv, _ := os.ReadFile(filepath.Join(d, "cmdline")) // gone, or not ours to read
		env, _ := os.ReadFile(filepath.Join(d, "environ"))
		if isServer(split(argv), split(env)) {
			found = append(found, Process{pid, fmt.Sprintf("%.60s", cmdline(pid))})
		}
	}
	return found, nil
}

// split cuts a text of /proc at its zero bytes.
func split(data []byte) []string {
	var out []string
	for _, part := range bytes.Split(data, []byte{0}) {
		if len(part) > 0 {
			out = append(out, string(part))
		}
	}
	return out
}

// isServer knows a server by the title that vLLM gives its processes, by the
// module or program that was started, or by the harness's mark.
func isServer(argv, env []string) bool {
	if len(argv) == 0 {
		return false // a kernel thread, or dead
	}
	if strings.HasPrefix(argv[0], "VLLM::") || lookup(env, nonceVariable) != "" {
		return true
	}
	for i, arg := range argv[1:] {
		if argv[i] == "-m" && strings.HasPrefix(arg, "vllm.entrypoints.") {
			return true
		}
		if filepath.Base(argv[i]) == "vllm" && arg == "serve" {
			return true
		}
	}
	return false
}

// LeftBehind are the live processes of servers that a session of the campaign
// in dir started and did not end: it was killed.
func LeftBehind(dir string) []int {
	var pids []int
	for _, path := range results.ServerPIDs(dir) {
		var pid int
		var nonce string
		data, err := os.ReadFile(path)
		if n, _ := fmt.Sscan(string(data), &pid, &nonce); err != nil || n != 2 || pid <= 1 {
			continue // resume says what is wrong with it
		}
		if carries(pid, nonce) {
			pids = append(pids, groupMembers(pid)...)
		}
	}
	return pids
}

package engine

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/aituner/opprof/results"
)

// GPUs looks at the GPUs of this host through nvidia-smi, on behalf of one
// server.
type GPUs struct {
	smi    string       // path
	groups []int        // process groups: the server's, and those served beside it
	before map[int]bool // processes that computed when no server of ours ran
}

// GPUs are the host's, nil where there are none to look at.
func (p *process) GPUs() *GPUs { return p.gpus }

// findSMI returns the path of nvidia-smi, empty on a host without it.
func findSMI() string {
	path, err := exec.LookPath("nvidia-smi")
	if err != nil {
		return ""
	}
	return path
}

// LookAtGPUs takes the path of nvidia-smi and gives nil for none. It is called
// before a server is started: whatever computes then is somebody else's.
func LookAtGPUs(ctx context.Context, smi string) *GPUs {
	if smi == "" {
		return nil
	}
	g := &GPUs{smi: smi, before: map[int]bool{}}
	apps, err := g.computing(ctx)
	if err != nil {
		return g // the same error comes again beside each phase, and is kept there
	}
	for _, a := range apps {
		g.before[a.PID] = true
	}
	return g
}

// of makes g look on behalf of the server of a process group.
func (g *GPUs) of(pgid int) *GPUs {
	if g != nil {
		g.groups = []int{pgid}
	}
	return g
}

// Beside names servers of the same block that run at the same time, by their
// process ids: they aren't foreign.
func (g *GPUs) Beside(pids ...int) {
	if g != nil {
		g.groups = append(g.groups, pids...)
	}
}

// appQuery are the columns of --query-compute-apps. The name comes last: it may
// contain commas.
const appQuery = "pid,gpu_uuid,process_name"

// computing lists the processes with a compute context on any GPU.
func (g *GPUs) computing(ctx context.Context) ([]results.GPUProcess, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, g.smi, "--query-compute-apps="+appQuery, "--format=csv,noheader,nounits").Output()
	if err != nil {
		return nil, fmt.Errorf("ask nvidia-smi for compute processes: %w", err)
	}
	return parseApps(string(out))
}

func parseApps(text string) ([]results.GPUProcess, error) {
	var apps []results.GPUProcess
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		f := strings.SplitN(line, ", ", 3)
		if len(f) != 3 {
			return nil, fmt.Errorf("nvidia-smi lists %.80q, want %s", line, appQuery)
		}
		pid, err := strconv.Atoi(f[0])
		if err != nil || pid < 1 {
			return nil, fmt.Errorf("nvidia-smi lists %.80q: %.20q is no process id", line, f[0])
		}
		apps = append(apps, results.GPUProcess{PID: pid, GPU: boardID(f[1]), Name: clip(filepath.Base(f[2]), 60)})
	}
	return apps, nil
}

// Foreign lists the processes that compute on a GPU and are neither the server's
// nor those of a server beside it.
// when is noted in each.
func (g *GPUs) Foreign(ctx context.Context, when string) ([]results.GPUProcess, error) {
	apps, err := g.computing(ctx)
	if err != nil {
		return nil, err
	}
	ours := map[int]bool{}
	for _, group := range g.groups {
		for _, pid := range groupMembers(group) {
			ours[pid] = true
		}
	}
	var foreign []results.GPUProcess
	for _, a := range apps {
		if !ours[a.PID] && (g.before[a.PID] || usesGPU(a.PID, "/dev/nvidia")) {
			a.When = when
			foreign = append(foreign, a)
		}
	}
	return foreign, nil
}

// usesGPU reports whether a process of this id holds a device open whose path
// begins like this. In a container nvidia-smi may show ids of the host, which
// name another process here or none: whose they are cannot be told, and our own
// server is among them.
func usesGPU(pid int, device string) bool {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(dir)
	if os.IsPermission(err) {
		return true // another user's
	}
	for _, e := range entries {
		if target, _ := os.Readlink(filepath.Join(dir, e.Name())); strings.HasPrefix(target, device) {
			return true
		}
	}
	return false
}

package preflight

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aituner/opprof/harness/engine"
	"github.com/aituner/opprof/patches"
	"github.com/aituner/opprof/scenarios"
)

// Config says where a campaign would run.
type Config struct {
	// Environ is the environment that servers inherit, as in os.Environ.
	Environ []string
	// WorkDir is the engine's folder of link trees and locks.
	WorkDir string
	// Output is the folder in which the run directory will be made, or an old
	// run directory that is resumed: its own left-over server is not foreign.
	Output string
	// Sample is for how long CPU use is watched.
	Sample time.Duration
}

// Probe looks at the host, in about the time of the sample and a second. It
// leaves nothing behind. s is nil when no scenario was named.
func Probe(ctx context.Context, s *scenarios.Scenario, cfg Config) Machine {
	m := Machine{Cores: runtime.NumCPU()}
	m.Busy = reading(sampleCPU(ctx, cfg.Sample)) // first: the other probes use CPU themselves
	m.Load = readFile("/proc/loadavg", parseLoad)
	m.Memory = readFile("/proc/meminfo", parseAvailable)
	m.Ports = readFile("/proc/sys/net/ipv4/ip_local_port_range", parsePorts)
	m.Clocksource = readFile("/sys/devices/system/clocksource/clocksource0/current_clocksource", word)
	m.Governors = reading(governors("/sys/devices/system/cpu"))
	m.Unsynced = reading(unsynced())
	m.OpenFiles = reading(openFileLimit())
	m.Loopback = reading(pingLoopback(ctx, 200))
	m.Servers = reading(engine.Servers(cfg.Output))
	if s == nil || s.Engine.Kind.Capabilities().GPUs {
		m.GPUs = reading(nvidiaSMI(ctx, "--query-gpu="+gpuQuery, parseGPUs))
		m.GPUUsers = reading(nvidiaSMI(ctx, "--query-compute-apps="+userQuery, parseGPUUsers))
		own := engine.LeftBehind(cfg.Output)
		for i := range m.GPUUsers.Value {
			m.GPUUsers.Value[i].Own = slices.Contains(own, m.GPUUsers.Value[i].PID)
		}
	}
	if s != nil {
		m.probeOutput(cfg.Output)
	}
	if s != nil && s.Engine.Kind.Capabilities().Package != "" {
		m.probeEngine(ctx, s, cfg)
	}
	return m
}

func (m *Machine) probeEngine(ctx context.Context, s *scenarios.Scenario, cfg Config) {
	m.Visible = engine.NamedGPUs(s, cfg.Environ)
	m.Holder = reading(engine.Holder(cfg.WorkDir, m.Visible))
	m.Model = reading(findModel(s.Engine.Model))
	m.Package = reading(engine.FindPackage(ctx, s.Engine.Python, cfg.Environ))
	m.Trees = map[string]Reading[patches.Tree]{}
	for _, a := range s.Arms {
		if _, done := m.Trees[a.Patch]; !done && m.Package.Err == nil {
			m.Trees[a.Patch] = reading(verify(a, m.Package.Value.Dir))
		}
	}
}

func verify(arm scenarios.Arm, dir string) (patches.Tree, error) {
	rev, err := patches.Resolve(arm.Patch, arm.PatchDir)
	if err != nil {
		return patches.Tree{}, err
	}
	return patches.Verify(rev, dir)
}

func readFile[T any](path string, parse func([]byte) (T, error)) Reading[T] {
	data, err := os.ReadFile(path)
	if err != nil {
		return Reading[T]{Err: err}
	}
	return reading(parse(data))
}

// word reads a file of one word.
func word(data []byte) (string, error) {
	f := strings.Fields(string(data))
	if len(f) != 1 {
		return "", fmt.Errorf("want one word, got %.40q", data)
	}
	return f[0], nil
}

func governors(root string) (map[string]int, error) {
	files, err := filepath.Glob(filepath.Join(root, "cpu[0-9]*", "cpufreq", "scaling_governor"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no core has a scaling_governor: %w", fs.ErrNotExist)
	}
	count := map[string]int{}
	for _, f := range files {
		r := readFile(f, word)
		if r.Err != nil {
			return nil, r.Err
		}
		count[r.Value]++
	}
	return count, nil
}

func unsynced() (bool, error) {
	var t unix.Timex // Modes 0: read only
	if _, err := unix.Adjtimex(&t); err != nil {
		return false, fmt.Errorf("adjtimex: %w", err)
	}
	return t.Status&unix.STA_UNSYNC != 0, nil
}

// openFileLimit is the hard limit: Go raises its own to it, and so does vLLM.
func openFileLimit() (uint64, error) {
	var r syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r)
	return r.Max, err
}

func sampleCPU(ctx context.Context, over time.Duration) (Busy, error) {
	before := readFile("/proc/stat", parseCPUTimes)
	if before.Err != nil {
		return Busy{}, before.Err
	}
	select {
	case <-ctx.Done():
		return Busy{}, context.Cause(ctx)
	case <-time.After(over):
	}
	after := readFile("/proc/stat", parseCPUTimes)
	if after.Err != nil {
		return Busy{}, after.Err
	}
	cores, stolen, err := after.Value.since(before.Value)
	return Busy{Cores: cores, Stolen: stolen, Over: over}, err
}

// nvidiaSMI asks for CSV. A host without the program has no GPU.
func nvidiaSMI[T any](ctx context.Context, query string, parse func([]byte) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "nvidia-smi", query, "--format=csv,noheader,nounits").Output()
	if err != nil {
		var none T
		if len(out) > 0 { // it says on standard output what is wrong
			err = fmt.Errorf("%w: %.200s", err, out)
		}
		return none, fmt.Errorf("nvidia-smi: %w", err)
	}
	return parse(out)
}

// findModel follows the engine's rule: a path must hold a model, anything else
// is a name unless it happens to be a folder here.
func findModel(name string) (Model, error) {
	dir, err := filepath.Abs(name)
	if err != nil {
		return Model{}, err
	}
	data, err := os.ReadFile(filepath.Join(dir, "config.json"))
	if errors.Is(err, fs.ErrNotExist) && !strings.HasPrefix(name, "/") && !strings.HasPrefix(name, ".") {
		return Model{}, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return Model{}, fmt.Errorf("engine.model %s: no config.json there", name)
	}
	if err != nil {
		return Model{}, fmt.Errorf("engine.model: %w", err)
	}
	var config map[string]any
	if err := json.Unmarshal(data, &config); err != nil {
		return Model{}, fmt.Errorf("engine.model: %s: not JSON: %w", filepath.Join(dir, "config.json"), err)
	}
	return Model{Dir: dir, WeightBytes: weightBytes(dir)}, nil
}

func weightBytes(dir string) uint64 {
	var sum uint64
	for _, pattern := range []string{"*.safetensors", "*.bin", "*.pt"} {
		files, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, f := range files {
			if st, err := os.Stat(f); err == nil {
				sum += uint64(st.Size())
			}
		}
		if sum > 0 {
			return sum // the same weights often lie there in two formats
		}
	}
	return 0
}

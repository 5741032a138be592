package harness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/aituner/opprof/results"
	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/mem"
)

// environment describes the machine and the software under test.
func environment(ctx context.Context, versions map[string]string) (results.Environment, error) {
	e := results.Environment{Schema: results.Schema, Kind: "environment", Cores: runtime.NumCPU(), Versions: versions}
	h, err := host.InfoWithContext(ctx)
	if err != nil {
		return e, fmt.Errorf("describe the host: %w", err)
	}
	name := sha256.Sum256([]byte(h.HostID + " " + h.Hostname)) // published campaigns tell hosts apart without naming them
	e.Host, e.Kernel = hex.EncodeToString(name[:6]), h.KernelVersion
	if c, err := cpu.InfoWithContext(ctx); err == nil && len(c) > 0 {
		e.CPUModel = strings.TrimSpace(c[0].ModelName)
	}
	if m, err := mem.VirtualMemoryWithContext(ctx); err == nil {
		e.MemoryBytes = m.Total
	}
	e.GPUs, e.Driver = gpus(ctx)
	e.Fingerprint = fingerprint(e)
	return e, nil
}

// gpus asks nvidia-smi; a host without it has none.
func gpus(ctx context.Context) (models []string, driver string) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader").Output()
	if err != nil {
		return nil, ""
	}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		name, version, _ := strings.Cut(line, ", ")
		models, driver = append(models, name), version
	}
	return models, driver
}

// fingerprint covers what makes two hosts comparable.
func fingerprint(e results.Environment) string {
	var b strings.Builder
	fmt.Fprintln(&b, e.Driver, e.GPUs, e.Kernel, e.CPUModel)
	for _, k := range slices.Sorted(maps.Keys(e.Versions)) {
		fmt.Fprintln(&b, k, e.Versions[k])
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:8])
}

// ownCPUSeconds is the user and system time of this process.
func ownCPUSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

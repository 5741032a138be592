package harness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/aituner/opprof/harness/engine"
	"github.com/aituner/opprof/results"
)

// environment describes the machine and the software under test.
func (c *campaign) environment(ctx context.Context) (results.Environment, error) {
	versions, err := c.opt.Engine.Describe(ctx)
	if err != nil {
		return results.Environment{}, err
	}
	e, err := c.opt.Machine(ctx)
	e.Versions = versions
	e.Fingerprint = fingerprint(e)
	return e, err
}

// ThisMachine describes the machine that opbench runs on. confined are the GPUs
// that servers may use (engine.NamedGPUs), all if none is named: they are part of
// the host group.
func ThisMachine(confined []string) func(context.Context) (results.Environment, error) {
	return func(ctx context.Context) (results.Environment, error) {
		e, err := readMachine("/")
		if err == nil {
			gpus(ctx, &e, confined)
		}
		return e, err
	}
}

// gpus asks nvidia-smi; a host without it has none.
func gpus(ctx context.Context, e *results.Environment, confined []string) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "nvidia-smi", "--query-gpu=driver_version,uuid,name", "--format=csv,noheader").Output()
	if err == nil {
		parseGPUs(string(out), e, confined)
	}
}

// parseGPUs reads one line for each GPU; the name comes last, it may contain
// commas. Boards are those that are named in confined by their place or by the
// beginning of their UUID, all if none is.
func parseGPUs(text string, e *results.Environment, confined []string) {
	place := 0
	for line := range strings.Lines(text) {
		f := strings.SplitN(strings.TrimSpace(line), ", ", 3)
		if len(f) != 3 {
			continue
		}
		e.Driver, e.GPUs = f[0], append(e.GPUs, f[2])
		used := func(name string) bool {
			return name == strconv.Itoa(place) || strings.HasPrefix(name, "GPU-") && strings.HasPrefix(f[1], name)
		}
		if len(confined) == 0 || slices.ContainsFunc(confined, used) {
			e.Boards = append(e.Boards, engine.BoardID(f[1]))
		}
		place++
	}
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

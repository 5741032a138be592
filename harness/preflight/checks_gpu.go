package preflight

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ours reports whether the campaign will use a device: it is named by index or
// by the beginning of its UUID, as CUDA reads CUDA_VISIBLE_DEVICES.
func (j subject) ours(g GPU) bool {
	if len(j.Visible) == 0 {
		return true
	}
	return slices.ContainsFunc(j.Visible, func(name string) bool {
		if strings.HasPrefix(name, "MIG-") { // names a part of a device, not which
			return g.MultiInstance
		}
		return name == strconv.Itoa(g.Index) || len(name) > 4 && strings.HasPrefix(g.UUID, name)
	})
}

// idleMiB is what a driver may hold on an idle device.
const idleMiB = 1024

// gpuProcesses: vLLM sizes its KV cache by the memory that is free on the
// device, so that a co-tenant changes what is measured, even when it is idle.
func gpuProcesses(j subject) outcome {
	if err := j.GPUs.Err; err != nil {
		return unseen("GPUs", err)
	}
	if err := j.GPUUsers.Err; err != nil {
		return unseen("the list of GPU processes", err)
	}
	var bad, other, used []string
	for _, g := range j.GPUs.Value {
		users, own := j.users(g)
		if j.ours(g) {
			bad = append(bad, users...)
			used = append(used, fmt.Sprintf("GPU %d %d of %d MiB", g.Index, g.UsedMiB, g.TotalMiB))
			if len(users) == 0 && !own && g.UsedMiB > idleMiB {
				bad = append(bad, fmt.Sprintf("GPU %d: %d MiB in use by processes that cannot be seen from here", g.Index, g.UsedMiB))
			}
		} else {
			other = append(other, users...)
		}
	}
	switch {
	case len(bad) > 0:
		return fail("end it, or give the campaign another GPU with CUDA_VISIBLE_DEVICES in engine.env", "%s", firstOf(bad, 3))
	case len(used) == 0:
		return fail("correct CUDA_VISIBLE_DEVICES", "no GPU of this host is one of %s", strings.Join(j.Visible, ", "))
	case len(other) > 0:
		return warn("other GPUs share CPU, memory bandwidth, power and cooling: measure alone where you can", "on GPUs of others: %s", firstOf(other, 3))
	}
	return ok("no foreign process; memory in use: %s", firstOf(used, 8))
}

// users are the foreign processes on a device, and whether there is one of ours.
func (j subject) users(g GPU) (foreign []string, own bool) {
	for _, u := range j.GPUUsers.Value {
		switch {
		case u.GPU != g.UUID:
		case u.Own:
			own = true
		default:
			foreign = append(foreign, fmt.Sprintf("GPU %d: process %d (%s)", g.Index, u.PID, u.Name))
		}
	}
	return foreign, own
}

// slowdowns are the bits of nvmlClocksEventReasons that keep clocks down while a
// kernel runs (nvml.h). Not among them: 0x1, the GPU is idle.
var slowdowns = []struct {
	bit  uint64
	name string
}{
	{0x2, "application clocks setting"}, {0x4, "power cap"}, {0x8, "hardware slowdown"}, {0x10, "sync boost"},
	{0x20, "software thermal slowdown"}, {0x40, "hardware thermal slowdown"}, {0x80, "power brake"}, {0x100, "display clock setting"},
}

func (g GPU) slow() []string {
	var out []string
	for _, s := range slowdowns {
		if g.SlowedBy&s.bit != 0 {
			out = append(out, s.name)
		}
	}
	return out
}

// gpuClocks looks at what moves clocks. It advises, and sets nothing: a tool
// that did not know its card once capped it at a third of its power.
func gpuClocks(j subject) outcome {
	if err := j.GPUs.Err; err != nil {
		return unseen("GPUs", err)
	}
	var seen, odd, remedies []string
	note := func(g GPU, remedy, format string, args ...any) {
		odd = append(odd, fmt.Sprintf("GPU %d ", g.Index)+fmt.Sprintf(format, args...))
		remedies = append(remedies, remedy)
	}
	for _, g := range j.GPUs.Value {
		if !j.ours(g) {
			continue
		}
		seen = append(seen, fmt.Sprintf("GPU %d %s %d of %d MHz, %.0f W, %d C", g.Index, g.Name, g.SMClock, g.MaxSMClock, g.PowerLimit, g.TemperatureC))
		if !g.Persistence {
			note(g, "nvidia-smi -pm 1: else the driver may unload between two servers", "has persistence mode off")
		}
		if slow := g.slow(); len(slow) > 0 {
			note(g, "find out what holds the clocks down (nvidia-smi -q -d PERFORMANCE)", "is held down by %s", strings.Join(slow, ", "))
		}
		if g.PowerLimit < g.PowerDefault {
			note(g, "say so where the result is used, or restore the default power limit", "has a power limit of %.0f W, default %.0f W", g.PowerLimit, g.PowerDefault)
		}
		if g.MultiInstance {
			note(g, "say so where the result is used: other instances share the memory system", "is split by MIG")
		}
	}
	if len(seen) == 0 {
		return skip("no GPU of this host is the campaign's")
	}
	if len(odd) > 0 {
		slices.Sort(remedies)
		return warn(strings.Join(slices.Compact(remedies), "; "), "%s", firstOf(odd, 4))
	}
	return ok("%s", firstOf(seen, 8))
}

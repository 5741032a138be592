package preflight

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aituner/opprof/scenarios"
)

// busyRoles counts the server processes that busy-wait, by role: vLLM's engine
// core and its workers poll shared memory for a second after the last message.
func busyRoles(s *scenarios.Scenario) map[string]int {
	if s == nil || len(s.Engine.Kind.Capabilities().Roles) == 0 {
		return nil
	}
	engines := largest(s, func(a scenarios.Arm) int { return s.ArmCount(a, "data-parallel-size") })
	return map[string]int{"engine_core": engines, "worker": engines * modelRanks(s)}
}

// modelRanks is over how many devices the weights are split.
func modelRanks(s *scenarios.Scenario) int {
	return largest(s, func(a scenarios.Arm) int { return s.TensorParallel(a) * s.ArmCount(a, "pipeline-parallel-size") })
}

// largest is the count of the arm where it is largest.
func largest(s *scenarios.Scenario, count func(scenarios.Arm) int) int {
	most := 1
	for _, a := range s.Arms {
		most = max(most, count(a))
	}
	return most
}

func cores(j subject) outcome {
	roles := busyRoles(j.s)
	busy, total := 0, 0
	for role, n := range roles {
		total += n
		if j.s.Engine.Schedule[role] != "idle" {
			busy += n
		}
	}
	finding := plural(j.Cores, "core")
	if total > 0 {
		processes := "1 process"
		if total > 1 {
			processes = fmt.Sprintf("%d processes", total)
		}
		finding += fmt.Sprintf(" for %s that may busy-wait (%d of them under SCHED_IDLE), the API server and the client", processes, total-busy)
	}
	switch {
	case j.Cores < 2:
		return fail("use a machine with two cores or more: client and server would take turns", "%s", finding)
	case busy > 0 && j.Cores < busy+2:
		return warn("set engine.schedule: {engine_core: idle, worker: idle}, or use a machine with more cores", "%s", finding)
	}
	return ok("%s", finding)
}

// foreignCores is the CPU use of others that a campaign may notice: a quarter
// of a core, or a 32nd of a large host.
func foreignCores(cores int) float64 { return max(0.25, float64(cores)/32) }

func cpuLoad(j subject) outcome {
	if j.Busy.Err != nil {
		return unseen("CPU use", j.Busy.Err)
	}
	b := j.Busy.Value
	finding := fmt.Sprintf("others used %.2f of %s over %s", b.Cores, plural(j.Cores, "core"), b.Over)
	if b.Stolen >= 0.01 {
		finding += fmt.Sprintf(", %.2f of it taken by the hypervisor", b.Stolen)
	}
	if j.Load.Err == nil {
		finding += fmt.Sprintf("; load average of the last minute %.2f", j.Load.Value)
	}
	const remedy = "end what runs beside the campaign, or wait for it"
	if b.Cores > foreignCores(j.Cores) || j.Load.Err == nil && j.Load.Value > float64(j.Cores) {
		return warn(remedy, "%s", finding)
	}
	return ok("%s", finding)
}

func cpuGovernor(j subject) outcome {
	if j.Governors.Err != nil {
		return unseen("the CPU governor", j.Governors.Err)
	}
	g := j.Governors.Value
	var list []string
	for _, name := range slices.Sorted(maps.Keys(g)) {
		list = append(list, fmt.Sprintf("%s on %s", name, plural(g[name], "core")))
	}
	finding := strings.Join(list, ", ")
	const remedy = "cpupower frequency-set -g performance"
	switch {
	case g["powersave"] > 0:
		return warn(remedy, "%s: clocks follow the load, and so do latencies", finding)
	case len(g) > 1:
		return warn(remedy, "%s: cores differ", finding)
	}
	return ok("%s", finding)
}

// quickClocks are read without a system call: by the kernel's page in every
// process (vDSO).
var quickClocks = []string{"tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"}

func clocksource(j subject) outcome {
	switch {
	case j.Clocksource.Err != nil:
		return unseen("the clock source", j.Clocksource.Err)
	case slices.Contains(quickClocks, j.Clocksource.Value):
		return ok("%s", j.Clocksource.Value)
	}
	return warn("find out why the kernel gave up tsc (dmesg); boot with clocksource=tsc where that is safe",
		"%s: reading the time costs a system call, in the client and in the recorder", j.Clocksource.Value)
}

func timeSync(j subject) outcome {
	switch {
	case j.Unsynced.Err != nil:
		return unseen("clock synchronisation", j.Unsynced.Err)
	case j.Unsynced.Value:
		return warn("start chrony or systemd-timesyncd: records carry wall-clock times, and a clock that is set later jumps",
			"the kernel says that the clock is not synchronised")
	}
	return ok("the clock is synchronised")
}

// openFiles: a connection is one file of the client and one of the server.
func openFiles(j subject) outcome {
	if j.OpenFiles.Err != nil {
		return unseen("the limit of open files", j.OpenFiles.Err)
	}
	need := uint64(2*connections(j.s) + 64)
	finding := fmt.Sprintf("limit %d, needed up to %d", j.OpenFiles.Value, need)
	const remedy = "raise it: ulimit -n"
	switch {
	case j.OpenFiles.Value < need:
		return fail(remedy, "%s", finding)
	case j.OpenFiles.Value < 1024: // what vLLM itself opens
		return warn(remedy, "%s; vLLM opens several hundred files of its own", finding)
	}
	return ok("%s", finding)
}

// memory compares the weights with what is free where they go: of one server,
// or of all arms if these are interleaved.
func memory(j subject) outcome {
	weights := j.Model.Value.WeightBytes
	if j.Model.Err != nil || weights == 0 {
		return skip("no weight files to judge by")
	}
	if j.s.Design.Interleaved() {
		weights *= uint64(len(j.s.Arms))
	}
	if j.GPUs.Err == nil {
		return j.gpuMemory(weights)
	}
	if j.Memory.Err != nil {
		return unseen("free memory", j.Memory.Err)
	}
	free := j.Memory.Value
	finding := fmt.Sprintf("%s of weights, %s of memory available", size(weights), size(free))
	switch {
	case free < weights:
		return fail("free memory or use a smaller model", "%s", finding)
	case free < weights+weights/4+2<<30: // and its KV cache and three Python processes
		return warn("free memory: the KV cache and three Python processes come on top", "%s", finding)
	}
	return ok("%s", finding)
}

// gpuMemory: each tensor and pipeline rank holds a share of the weights.
func (j subject) gpuMemory(weights uint64) outcome {
	ranks := uint64(modelRanks(j.s))
	share := weights / ranks
	for _, g := range j.GPUs.Value {
		if !j.ours(g) || g.TotalMiB == 0 {
			continue
		}
		if free := (g.TotalMiB - min(g.UsedMiB, g.TotalMiB)) << 20; free < share {
			return fail("free the GPU, or split the model further (tensor-parallel-size)", "%s of weights for each of %d GPUs, %s free on GPU %d",
				size(share), ranks, size(free), g.Index)
		}
	}
	return ok("%s of weights for each of %d GPUs", size(share), ranks)
}

// slowLoopback is the round trip above which the client's time stamps stand
// for the host's scheduler rather than for the server.
const slowLoopback = 200 * time.Microsecond

func loopback(j subject) outcome {
	if j.Loopback.Err != nil {
		return unseen("the loopback round trip", j.Loopback.Err)
	}
	r := j.Loopback.Value
	finding := fmt.Sprintf("round trip p50 %s, p99 %s of %d", r.P50.Round(time.Microsecond), r.P99.Round(time.Microsecond), r.Count)
	if r.P99 > slowLoopback {
		return warn("quiet the host: the time to the first token cannot be measured better than this", "%s", finding)
	}
	return ok("%s", finding)
}

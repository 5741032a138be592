package trial

import (
	"github.com/aituner/opprof/results"
)

// Telemetry adds what a host with two GPUs records beside the requests. The run
// 0003/on is the bad one in everything.
func Telemetry(r *Recorded) {
	r.Run.ClockStep = 2e-6
	for i := range r.Run.Phases {
		p := &r.Run.Phases[i]
		p.Gauges = map[string][2]float64{"vllm:num_requests_running": {0, 0}, "vllm:num_requests_waiting": {0, 0}}
		p.Counters = map[string]float64{"vllm:num_preemptions_total": 0, "vllm:prefix_cache_queries_total": 832, "vllm:prefix_cache_hits_total": 0}
		p.Dials, p.Client.GCPauses, p.Client.GCPauseSeconds, p.Client.KernelStamps = 8, 1, 120e-6, 1
		p.GPU = []results.GPU{gpuSeen(0, 1980, 61), gpuSeen(1, 1965, 63)}
	}
	if r.Run.Key.String() != "0003/on" {
		return
	}
	r.Run.ClockStep = -0.012
	p := &r.Run.Phases[1]
	p.Gauges["vllm:num_requests_waiting"] = [2]float64{0, 3}
	p.Dials, p.Redials, p.Client.KernelStamps = 11, 3, 0.994
	p.GPU[1] = gpuSeen(1, 1410, 84)
	p.GPU[1].Throttle = map[string]int{"sw_power_cap": 5}
}

func gpuSeen(index int, clock, temperature float64) results.GPU {
	return results.GPU{Index: index, ID: "gpu", Samples: 20, Ranges: map[string]results.Range{
		"utilization_pct": {Min: 90, Mean: 97, Max: 99}, "sm_clock_mhz": {Min: clock, Mean: 1980, Max: 1980},
		"power_w": {Min: 400, Mean: 412.5, Max: 430}, "temperature_c": {Min: 55, Mean: 60, Max: temperature},
	}}
}

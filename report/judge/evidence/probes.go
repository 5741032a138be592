package evidence

import (
	"maps"
	"slices"

	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
)

// probes are the quantities of a phase, in the order of the report.
func probes(in *accept.Accepted) []probe {
	of := in.Scenario.Engine.Kind.Capabilities().Metrics
	list := []probe{
		{"queue lengths", "requests running before", "", false, gaugeAt(of.Running, 0)},
		{"queue lengths", "requests running after", "", false, gaugeAt(of.Running, 1)},
		{"queue lengths", "requests waiting before", "", false, gaugeAt(of.Waiting, 0)},
		{"queue lengths", "requests waiting after", "", false, gaugeAt(of.Waiting, 1)},
		{"preemptions", "preemptions", "", false, counter(of.Preemptions)},
		{"prefix cache", "prefix tokens looked up", "", false, counter(of.PrefixQueries)},
		{"prefix cache", "prefix tokens found", "", false, counter(of.PrefixHits)},
		{"connections", "connections opened", "", false, connections(func(p *results.Phase) int { return p.Dials })},
		{"connections", "connections replaced", "", false, connections(func(p *results.Phase) int { return p.Redials })},
		{"client lateness", "probe lag p99", "s", false, health(func(c *results.ClientHealth) float64 { return c.ProbeLagP99 })},
		{"client lateness", "send lag p99", "s", false, health(func(c *results.ClientHealth) float64 { return c.SendLateP99 })},
		{"receive stamps", "reads stamped by the kernel", "%", true, readStamps},
		{"GC pauses", "GC pauses", "", false, health(func(c *results.ClientHealth) float64 { return float64(c.GCPauses) })},
		{"GC pauses", "GC pause time", "s", false, health(func(c *results.ClientHealth) float64 { return c.GCPauseSeconds })},
	}
	for _, role := range roles(in) {
		list = append(list, probe{"CPU seconds", view.CPUOf + role, "s", false, func(p *results.Phase) (reading, bool) {
			x, ok := p.CPUSeconds[role]
			return reading{x, x}, ok
		}})
	}
	list = append(list, probe{groupIdle, "cores used beside other arms", "", false, readIdle})
	return append(list, gpuProbes(in)...)
}

// readStamps is the share of reads whose time is the kernel's. Where it is none,
// as over connections in memory, all times are the client's.
func readStamps(p *results.Phase) (reading, bool) {
	share := 100 * p.Client.KernelStamps
	return reading{share, share}, share > 0
}

// readIdle is how many cores the server used while other arms had their turns.
func readIdle(p *results.Phase) (reading, bool) {
	cores := 0.0
	for _, role := range slices.Sorted(maps.Keys(p.IdleCPUSeconds)) {
		cores += p.IdleCPUSeconds[role]
	}
	cores /= p.IdleSeconds
	return reading{cores, cores}, p.IdleSeconds > 0
}

func gaugeAt(name string, edge int) func(*results.Phase) (reading, bool) {
	return func(p *results.Phase) (reading, bool) {
		g, ok := p.Gauges[name]
		return reading{g[edge], g[edge]}, ok
	}
}

func counter(name string) func(*results.Phase) (reading, bool) {
	return func(p *results.Phase) (reading, bool) {
		x, ok := p.Counters[name]
		return reading{x, x}, ok
	}
}

// connections: a measured phase opened at least one, so none means that they
// were not counted.
func connections(of func(*results.Phase) int) func(*results.Phase) (reading, bool) {
	return func(p *results.Phase) (reading, bool) {
		n := float64(of(p))
		return reading{n, n}, p.Dials > 0
	}
}

func health(of func(*results.ClientHealth) float64) func(*results.Phase) (reading, bool) {
	return func(p *results.Phase) (reading, bool) {
		x := of(&p.Client)
		return reading{x, x}, p.Client.Probes > 0
	}
}

// roles are the process roles that used any CPU, over all accepted runs.
func roles(in *accept.Accepted) []string {
	used := map[string]bool{}
	eachPhase(in, func(p *results.Phase) {
		for role, s := range p.CPUSeconds {
			if s > 0 {
				used[role] = true
			}
		}
	})
	return slices.Sorted(maps.Keys(used))
}

func eachPhase(in *accept.Accepted, visit func(*results.Phase)) {
	for i := range in.Blocks {
		for _, a := range in.Blocks[i].Runs {
			if a.Run == nil {
				continue
			}
			for k := range a.Run.Phases {
				visit(&a.Run.Phases[k])
			}
		}
	}
}

// throttledBy begins the names of throttle reasons.
const throttledBy = "throttled: "

// gpuProbes are the sampled ranges, over all GPUs of the host, and for each
// throttle reason that was seen the share of samples that had it.
func gpuProbes(in *accept.Accepted) []probe {
	list := []probe{
		gpuRange("GPU utilisation", "%", "utilization_pct", true),
		gpuRange("GPU SM clock", "MHz", "sm_clock_mhz", true),
		gpuRange("GPU memory clock", "MHz", "memory_clock_mhz", true),
		gpuRange("GPU power", "W", "power_w", false),
		gpuRange("GPU temperature", "°C", "temperature_c", false),
		gpuRange("GPU memory used", "MiB", "memory_used_mib", false),
		{groupGPU, "GPU throttle reasons", "", false, func(p *results.Phase) (reading, bool) {
			n := float64(len(throttleReasons(p)))
			return reading{n, n}, samples(p) > 0
		}},
	}
	seen := map[string]bool{}
	eachPhase(in, func(p *results.Phase) {
		for _, reason := range throttleReasons(p) {
			seen[reason] = true
		}
	})
	for _, reason := range slices.Sorted(maps.Keys(seen)) {
		list = append(list, probe{groupGPU, throttledBy + reason, "% of samples", false, func(p *results.Phase) (reading, bool) {
			n, of := 0, samples(p)
			for _, g := range p.GPU {
				n += g.Throttle[reason]
			}
			share := 100 * float64(n) / float64(max(of, 1))
			return reading{share, share}, of > 0
		}})
	}
	return list
}

func gpuRange(name, unit, key string, low bool) probe {
	return probe{groupGPU, name, unit, low, func(p *results.Phase) (r reading, ok bool) {
		n := 0.0
		for _, g := range p.GPU {
			x, has := g.Ranges[key]
			if !has || g.Samples == 0 {
				continue
			}
			end := x.Max
			if low {
				end = x.Min
			}
			if n == 0 || low && end < r.worst || !low && end > r.worst {
				r.worst = end
			}
			r.mean += x.Mean
			n++
		}
		r.mean /= max(n, 1)
		return r, n > 0
	}}
}

func samples(p *results.Phase) (n int) {
	for _, g := range p.GPU {
		n += g.Samples
	}
	return n
}

func throttleReasons(p *results.Phase) (names []string) {
	for _, g := range p.GPU {
		for _, reason := range slices.Sorted(maps.Keys(g.Throttle)) {
			if g.Throttle[reason] > 0 && !slices.Contains(names, reason) {
				names = append(names, reason)
			}
		}
	}
	return names
}

package report

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// telemetry adds what a host with two GPUs records beside the requests. The run
// 0003/on is the bad one in everything.
func telemetry(r *recorded) {
	r.run.ClockStep = 2e-6
	for i := range r.run.Phases {
		p := &r.run.Phases[i]
		p.Gauges = map[string][2]float64{"vllm:num_requests_running": {0, 0}, "vllm:num_requests_waiting": {0, 0}}
		p.Counters = map[string]float64{"vllm:num_preemptions_total": 0, "vllm:prefix_cache_queries_total": 832, "vllm:prefix_cache_hits_total": 0}
		p.Dials, p.Client.GCPauses, p.Client.GCPauseSeconds, p.Client.KernelStamps = 8, 1, 120e-6, 1
		p.GPU = []results.GPU{gpuSeen(0, 1980, 61), gpuSeen(1, 1965, 63)}
	}
	if r.run.Key.String() != "0003/on" {
		return
	}
	r.run.ClockStep = -0.012
	p := &r.run.Phases[1]
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

func besideOf(t *testing.T, edit func(*recorded)) *Beside {
	t.Helper()
	tr := newTrial(t, 6)
	tr.edit = edit
	v := build(t, tr.write(t.TempDir()))
	require.NotNil(t, v.Beside)
	return v.Beside
}

func (s *Beside) find(t *testing.T, phase, name string) Quantity {
	t.Helper()
	for _, q := range s.Quantities {
		if q.Phase == phase && q.Name == name {
			return q
		}
	}
	require.Fail(t, "no such quantity", "%s of phase %q", name, phase)
	return Quantity{}
}

func TestBesideNamesTheWorstRun(t *testing.T) {
	t.Parallel()
	s := besideOf(t, telemetry)
	for _, c := range []struct{ phase, name, off, on string }{
		{"arrivals", "GPU SM clock", "1 980 MHz; worst 1 965 MHz (0001/off)", "1 980 MHz; worst 1 410 MHz (0003/on)"},
		{"arrivals", "GPU temperature", "60 °C; worst 63 °C (0001/off)", "60 °C; worst 84 °C (0003/on)"},
		{"arrivals", "throttled: sw_power_cap", "0 % of samples", "2.083 % of samples; worst 12.5 % of samples (0003/on)"},
		{"arrivals", "requests waiting after", "0", "0.5; worst 3 (0003/on)"},
		{"arrivals", "connections replaced", "0", "0.5; worst 3 (0003/on)"},
		{"single", "connections opened", "8", "8"},
		{"arrivals", "reads stamped by the kernel", "100 %", "99.9 %; worst 99.4 % (0003/on)"},
		{"single", "prefix tokens looked up", "832", "832"},
		{"single", "GC pause time", "120.0 µs", "120.0 µs"},
		{"", "wall clock step", "2.000 µs", "-1.998 ms; worst -12.00 ms (0003/on)"},
	} {
		assert.Equal(t, []string{c.off, c.on}, s.find(t, c.phase, c.name).Cells(), "%s %s", c.phase, c.name)
	}
	assert.Empty(t, s.NotRecorded)
	for _, q := range s.Quantities {
		assert.NotEqual(t, "GPU memory clock", q.Name, "this GPU does not support it")
	}
}

// What was not recorded is named, in every form, and is zero in none.
func TestBesideSaysWhatWasNotRecorded(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 6)
	v := build(t, tr.write(t.TempDir()))
	assert.Equal(t, []string{"queue lengths", "preemptions", "prefix cache", "connections", "receive stamps", "GPU telemetry", "wall clock step"}, v.Beside.NotRecorded)
	for _, q := range v.Beside.Quantities {
		assert.NotContains(t, q.Name, "connections")
		assert.NotContains(t, q.Name, "GPU")
	}
	for _, r := range renderings {
		assert.Contains(t, render(t, v, r.write), "queue lengths", r.extension)
		assert.NotContains(t, render(t, v, r.write), "requests waiting", r.extension)
	}

	half := besideOf(t, func(r *recorded) {
		if r.run.Key.Arm == "off" && r.run.Key.Block != "0005" {
			telemetry(r)
		}
	})
	assert.Equal(t, []string{"8; in 5 of 6 runs", "not recorded"}, half.find(t, "single", "connections opened").Cells())
	assert.NotContains(t, half.NotRecorded, "connections")
}

func TestBesideWithoutGPUs(t *testing.T) {
	t.Parallel()
	s := besideOf(t, func(r *recorded) { r.env.GPUs = nil })
	assert.NotContains(t, s.NotRecorded, groupGPU)

	s = besideOf(t, onRun("0002/off", func(r *recorded) { r.run.Phases[0].GPUProblem = "nvidia-smi: driver mismatch" }))
	assert.Equal(t, []string{"GPUs, first in phase single of 0002/off: nvidia-smi: driver mismatch"}, s.Problems)
	assert.Contains(t, s.NotRecorded, groupGPU)
}

// Only arms that take turns stand by.
func TestBesideIdleArms(t *testing.T) {
	t.Parallel()
	s := besideOf(t, func(r *recorded) {
		p := &r.run.Phases[0]
		p.IdleSeconds, p.IdleCPUSeconds = 10, map[string]float64{"engine_core": 0.25, "worker": 0.25}
	})
	assert.Equal(t, []string{"0.05", "0.05"}, s.find(t, "single", "cores used beside other arms").Cells())
	assert.NotContains(t, besideOf(t, nil).NotRecorded, groupIdle)

	b := &builder{c: &results.Campaign{Complete: true}, s: &scenarios.Scenario{}, blocks: []block{{}}}
	b.s.Design.Interleave.Slice = time.Second
	assert.Contains(t, b.beside().NotRecorded, groupIdle)
}

// An unfinished campaign shows nothing by arm.
func TestBesideComesAfterTheEnd(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 6)
	tr.edit, tr.stop = telemetry, 4
	v := build(t, tr.write(t.TempDir()))
	assert.Nil(t, v.Beside)
	assert.NotContains(t, render(t, v, WriteHTML), "Beside the requests")
}

// Throttle reasons are text from a tool of the host.
func TestBesideIsEscaped(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 6)
	tr.edit = func(r *recorded) {
		telemetry(r)
		r.run.Phases[0].GPU[0].Throttle = map[string]int{hostile: 1}
		r.run.Phases[0].GPUProblem = hostile
	}
	v := build(t, tr.write(t.TempDir()))
	assert.NotContains(t, render(t, v, WriteHTML), "<script")
	markdown := render(t, v, WriteMarkdown)
	for _, bad := range []string{"<script", "@someone", "**b**", "\n# head"} {
		assert.NotContains(t, markdown, bad)
	}
	for _, line := range strings.Split(markdown, "\n") {
		if strings.HasPrefix(line, "| throttled") {
			assert.Equal(t, 4, strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"), line)
		}
	}
}

// An interval that the plot cuts off does not look like one that ends there.
func TestForestSaysWhatItCuts(t *testing.T) {
	t.Parallel()
	for upper, cut := range map[float64]bool{17.9: false, 25: true} {
		effect, lower := 1.0, -1.0
		c := &Comparison{Phases: []Phase{{Name: "a", Metrics: []Metric{{
			Label: "TPOT p50", Primary: true, MarginPct: 3, Lower: &lower, Effect: &effect, Upper: &upper}}}}}
		assert.Equal(t, cut, newForestPlot(c, 0).Cut != "", upper)
		assert.Equal(t, cut, strings.Contains(strings.Join(asciiForest(c), "\n"), goesOn), upper)
	}
}

func TestForestNamesFitAPhone(t *testing.T) {
	t.Parallel()
	v := build(t, newTrial(t, 6).write(t.TempDir()))
	p := newForestPlot(&v.Comparisons[0], 0)
	require.Len(t, p.Heads, 2, "one for each phase")
	last := 0
	for _, r := range p.Rows {
		assert.NotContains(t, r.Name, "single")
		assert.LessOrEqual(t, len([]rune(r.Name+r.Text)), 40, "%s", r.Label)
		assert.Greater(t, r.MaskY, last)
		last = r.Y
	}
	assert.Greater(t, p.Base, last)
	assert.Less(t, p.Heads[1].TextY, p.Rows[3].TextY)
	assert.Greater(t, p.Heads[1].MaskY, p.Rows[2].Y)
}

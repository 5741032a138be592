package judge_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/internal/forms"
	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/judge/evidence"
	"github.com/aituner/opprof/report/page"
	"github.com/aituner/opprof/report/render"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

func besideOf(t *testing.T, edit func(*trial.Recorded)) *view.Beside {
	t.Helper()
	tr := trial.New(t, 6)
	tr.Edit = edit
	v := forms.Build(t, tr.Write(t.TempDir()))
	require.NotNil(t, v.Beside)
	return v.Beside
}

func find(t *testing.T, s *view.Beside, phase, name string) view.Quantity {
	t.Helper()
	for _, q := range s.Quantities {
		if q.Phase == phase && q.Name == name {
			return q
		}
	}
	require.Fail(t, "no such quantity", "%s of phase %q", name, phase)
	return view.Quantity{}
}

func TestBesideNamesTheWorstRun(t *testing.T) {
	t.Parallel()
	s := besideOf(t, trial.Telemetry)
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
		assert.Equal(t, []string{c.off, c.on}, render.Cells(find(t, s, c.phase, c.name)), "%s %s", c.phase, c.name)
	}
	assert.Empty(t, s.NotRecorded)
	for _, q := range s.Quantities {
		assert.NotEqual(t, "GPU memory clock", q.Name, "this GPU does not support it")
	}
}

// What was not recorded is named, in every form, and is zero in none.
func TestBesideSaysWhatWasNotRecorded(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 6)
	v := forms.Build(t, tr.Write(t.TempDir()))
	assert.Equal(t, []string{"queue lengths", "preemptions", "prefix cache", "connections", "receive stamps", "GPU telemetry", "wall clock step"}, v.Beside.NotRecorded)
	for _, q := range v.Beside.Quantities {
		assert.NotContains(t, q.Name, "connections")
		assert.NotContains(t, q.Name, "GPU")
	}
	for _, r := range forms.Forms {
		assert.Contains(t, forms.Render(t, v, r.Write), "queue lengths", r.Extension)
		assert.NotContains(t, forms.Render(t, v, r.Write), "requests waiting", r.Extension)
	}

	half := besideOf(t, func(r *trial.Recorded) {
		if r.Run.Key.Arm == "off" && r.Run.Key.Block != "0005" {
			trial.Telemetry(r)
		}
	})
	assert.Equal(t, []string{"8; in 5 of 6 runs", "not recorded"}, render.Cells(find(t, half, "single", "connections opened")))
	assert.NotContains(t, half.NotRecorded, "connections")
}

func TestBesideWithoutGPUs(t *testing.T) {
	t.Parallel()
	s := besideOf(t, func(r *trial.Recorded) { r.Env.GPUs = nil })
	assert.NotContains(t, s.NotRecorded, "GPU telemetry")

	s = besideOf(t, trial.OnRun("0002/off", func(r *trial.Recorded) { r.Run.Phases[0].GPUProblem = "nvidia-smi: driver mismatch" }))
	assert.Equal(t, []string{"GPUs, first in phase single of 0002/off: nvidia-smi: driver mismatch"}, s.Problems)
	assert.Contains(t, s.NotRecorded, "GPU telemetry")
}

// Only arms that take turns stand by.
func TestBesideIdleArms(t *testing.T) {
	t.Parallel()
	s := besideOf(t, func(r *trial.Recorded) {
		p := &r.Run.Phases[0]
		p.IdleSeconds, p.IdleCPUSeconds = 10, map[string]float64{"engine_core": 0.25, "worker": 0.25}
	})
	assert.Equal(t, []string{"0.05", "0.05"}, render.Cells(find(t, s, "single", "cores used beside other arms")))
	assert.NotContains(t, besideOf(t, nil).NotRecorded, "idle arms")

	in := &accept.Accepted{Campaign: &results.Campaign{Complete: true}, Scenario: &scenarios.Scenario{}, Blocks: []accept.Block{{}}}
	in.Scenario.Design.Interleave.Slice = time.Second
	assert.Contains(t, evidence.Beside(in).NotRecorded, "idle arms")
}

// An unfinished campaign shows nothing by arm.
func TestBesideComesAfterTheEnd(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 6)
	tr.Edit, tr.Stop = trial.Telemetry, 4
	v := forms.Build(t, tr.Write(t.TempDir()))
	assert.Nil(t, v.Beside)
	assert.NotContains(t, forms.Render(t, v, page.Write), "Beside the requests")
}

// Throttle reasons are text from a tool of the host.
func TestBesideIsEscaped(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 6)
	tr.Edit = func(r *trial.Recorded) {
		trial.Telemetry(r)
		r.Run.Phases[0].GPU[0].Throttle = map[string]int{trial.HostileText: 1}
		r.Run.Phases[0].GPUProblem = trial.HostileText
	}
	v := forms.Build(t, tr.Write(t.TempDir()))
	assert.NotContains(t, forms.Render(t, v, page.Write), "<script")
	markdown := forms.Render(t, v, render.WriteMarkdown)
	for _, bad := range []string{"<script", "@someone", "**b**", "\n# head"} {
		assert.NotContains(t, markdown, bad)
	}
	for _, line := range strings.Split(markdown, "\n") {
		if strings.HasPrefix(line, "| throttled") {
			assert.Equal(t, 4, strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"), line)
		}
	}
}

package engine

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/results"
)

const (
	sampleA = "0, GPU-aa, 97, 1830, 2619, 512.30, 61, 70123, 0x0000000000000004"
	sampleB = "1, GPU-bb, 0, 345, 2619, 71.02, 30, 4, 0x0000000000000001"
)

// fakeSMI writes a script that answers as nvidia-smi: its own words for each of
// the two questions.
func fakeSMI(t *testing.T, watch, apps string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nvidia-smi")
	script := "#!/bin/sh\ncase \"$1\" in\n--query-compute-apps=*)\n" + apps + "\n;;\n*)\n" + watch + "\n;;\nesac\n"
	require.NoError(t, os.WriteFile(path, []byte(script), 0o755))
	return path
}

// say prints lines.
func say(lines ...string) string { return "cat <<'END'\n" + strings.Join(lines, "\n") + "\nEND" }

func TestParseSample(t *testing.T) {
	s, err := parseSample(sampleA)
	require.NoError(t, err)
	assert.Equal(t, gpuSample{index: 0, id: boardID("GPU-aa"), values: []float64{97, 1830, 2619, 512.3, 61, 70123}, throttle: 4}, s)

	s, err = parseSample("3, GPU-c, [N/A], 1, 2, [Not Supported], 4, 5, [N/A]")
	require.NoError(t, err)
	assert.True(t, math.IsNaN(s.values[0]) && math.IsNaN(s.values[3]))
	assert.Zero(t, s.throttle)

	for line, want := range map[string]string{
		"":                                     "1 columns, want 9",
		"No devices were found":                "1 columns",
		sampleA + ", 1":                        "10 columns",
		sampleA[:30]:                           "columns",
		"x" + sampleA:                          "no index in front",
		"-1" + sampleA[1:]:                     "no index in front",
		"0, GPU-aa, -1, 1, 2, 3, 4, 5, 0x0":    `"-1" is no utilization_pct`,
		"0, GPU-aa, 1, 1 MHz, 2, 3, 4, 5, 0x0": `"1 MHz" is no sm_clock_mhz`,
		"0, GPU-aa, 1, nan, 2, 3, 4, 5, 0x0":   `"nan" is no sm_clock_mhz`,
		"0, GPU-aa, 1, 1, 2, 3, 4, 5, 4":       "no throttle bits",
		"0, GPU-aa, 1, 1, 2, 3, 4, 5, 0xzz":    "no throttle bits",
		strings.Repeat("9, ", 1<<16):           "columns",
	} {
		_, err := parseSample(line)
		assert.ErrorContains(t, err, want, "%.60q", line)
	}
}

func FuzzParseSample(f *testing.F) {
	for _, s := range []string{sampleA, sampleB, "", ", , , , , , , , ", "0, G, inf, 1e999, 2, 3, 4, 5, 0x0", "0, G, 1, 2, 3, 4, 5, 6, 0x1ffffffffffffffff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		s, err := parseSample(line)
		if err != nil {
			return
		}
		if s.index < 0 || len(s.values) != len(gpuQuantities) {
			t.Errorf("%q: %+v", line, s)
		}
		for _, v := range s.values {
			if v < 0 || math.IsInf(v, 0) {
				t.Errorf("%q: value %v", line, v)
			}
		}
	})
}

func TestParseApps(t *testing.T) {
	apps, err := parseApps("12, GPU-aa, /usr/bin/python3, with a comma\n\n7, GPU-bb, [Not Found]\n")
	require.NoError(t, err)
	assert.Equal(t, []results.GPUProcess{{PID: 12, GPU: boardID("GPU-aa"), Name: "python3, with a comma"}, {PID: 7, GPU: boardID("GPU-bb"), Name: "[Not Found]"}}, apps)
	for text, want := range map[string]string{
		"12, GPU-aa": "want pid,gpu_uuid,process_name", "NVIDIA-SMI has failed": "want pid",
		"0, GPU-aa, x": "no process id", "1.5, GPU-aa, x": "no process id", "12, GPU-aa, x\nrest": "want pid",
	} {
		_, err := parseApps(text)
		assert.ErrorContains(t, err, want, text)
	}
	apps, err = parseApps("")
	require.NoError(t, err)
	assert.Empty(t, apps)
}

func FuzzParseApps(f *testing.F) {
	for _, s := range []string{"12, GPU-aa, python3", "", "\n\n", "1, , ", "99999999999999999999, a, b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		apps, err := parseApps(text)
		for _, a := range apps {
			if err != nil || a.PID < 1 || a.GPU == "" {
				t.Errorf("%q: %+v, %v", text, a, err)
			}
		}
	})
}

func TestSumUp(t *testing.T) {
	at := func(line string, wall int64) gpuSample {
		s, err := parseSample(line)
		require.NoError(t, err)
		s.wall = wall
		return s
	}
	other := "0, GPU-aa, 91, 1530, 2619, [N/A], 67, 70125, 0x8000000000000028"
	got := sumUp([]gpuSample{at(sampleA, 9), at(sampleA, 10), at(sampleB, 11), at(other, 20), at(other, 21)}, 10, 20)
	require.Len(t, got, 2)
	a := got[0]
	assert.Equal(t, 2, a.Samples, "what lies outside the timed part does not count")
	assert.Equal(t, results.Range{Min: 91, Mean: 94, Max: 97}, a.Ranges["utilization_pct"])
	assert.Equal(t, results.Range{Min: 1530, Mean: 1680, Max: 1830}, a.Ranges["sm_clock_mhz"])
	assert.Equal(t, results.Range{Min: 512.3, Mean: 512.3, Max: 512.3}, a.Ranges["power_w"], "of the one sample that has it")
	assert.Equal(t, map[string]int{"sw_power_cap": 1, "hw_slowdown": 1, "sw_thermal_slowdown": 1, "bit 63": 1}, a.Throttle)
	assert.Equal(t, map[string]int{"gpu_idle": 1}, got[1].Throttle)
	assert.Empty(t, sumUp(nil, 0, 9))
}

func TestWatch(t *testing.T) {
	g := &GPUs{smi: fakeSMI(t, "while :; do\n"+say(sampleA, sampleB)+"\nsleep 0.02\ndone", "")}
	begin := time.Now().UnixNano()
	w, err := g.Watch()
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.samples) >= 4
	}, 20*time.Second, 5*time.Millisecond)
	gpus, err := w.Stop(begin, time.Now().UnixNano())
	require.NoError(t, err)
	require.Len(t, gpus, 2)
	assert.GreaterOrEqual(t, gpus[0].Samples, 2)
	assert.Equal(t, 1830.0, gpus[0].Ranges["sm_clock_mhz"].Max)
}

func TestWatchThatSeesNothing(t *testing.T) {
	for watch, want := range map[string]string{
		"exit 9":                              "no sample during the timed part",
		say("Unable to determine the device"): "1 columns",
		say(sampleA[:40]):                     "columns",
	} {
		w, err := (&GPUs{smi: fakeSMI(t, watch, "")}).Watch()
		require.NoError(t, err)
		<-w.done
		gpus, err := w.Stop(0, math.MaxInt64)
		assert.ErrorContains(t, err, want)
		assert.Empty(t, gpus)
	}
	_, err := (&GPUs{smi: filepath.Join(t.TempDir(), "absent")}).Watch()
	assert.ErrorContains(t, err, "watch the GPUs")
}

func TestForeignGPUProcesses(t *testing.T) {
	p := start(t, testEngine(t, "ok"), testSpec(t))
	line := func(pid int) string { return strconv.Itoa(pid) + ", GPU-aa, /opt/bin/train" }
	const nobody = 1 << 22 // above the largest process id: one of another name space
	ask := func(g *GPUs, lines ...string) []results.GPUProcess {
		g.smi = fakeSMI(t, "", say(lines...))
		found, err := g.Foreign(context.Background(), "before")
		require.NoError(t, err)
		return found
	}
	g := (&GPUs{before: map[int]bool{}}).of(p.pid)
	assert.Empty(t, ask(g), "nobody computes")
	assert.Empty(t, ask(g, line(p.pid)), "our server")
	assert.Empty(t, ask(g, line(nobody)), "an id of another name space may be our server's")
	assert.Empty(t, ask(g, line(os.Getpid())), "the id names a process here that has no GPU open")

	g.before[nobody] = true
	assert.Equal(t, []results.GPUProcess{{When: "before", PID: nobody, GPU: boardID("GPU-aa"), Name: "train"}}, ask(g, line(p.pid), line(nobody)))

	g.smi = fakeSMI(t, "", "exit 9")
	_, err := g.Foreign(context.Background(), "after")
	assert.ErrorContains(t, err, "ask nvidia-smi for compute processes")
}

func TestWhatComputesBeforeTheStartIsForeign(t *testing.T) {
	assert.Nil(t, LookAtGPUs(context.Background(), ""), "a host without GPUs")
	assert.Nil(t, (*GPUs)(nil).of(1))
	g := LookAtGPUs(context.Background(), fakeSMI(t, "", say("77, GPU-aa, x", "78, GPU-aa, y")))
	assert.Equal(t, map[int]bool{77: true, 78: true}, g.before)
	assert.Equal(t, 9, g.of(9).groups[0])
	assert.NotNil(t, LookAtGPUs(context.Background(), fakeSMI(t, "", "exit 9")), "what cannot be listed is told beside the phases")
}

func TestUsesGPU(t *testing.T) {
	f, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer f.Close()
	assert.True(t, usesGPU(os.Getpid(), os.DevNull), "stands for a GPU")
	assert.False(t, usesGPU(os.Getpid(), "/dev/nvidia"))
	assert.False(t, usesGPU(1<<22, os.DevNull), "no such process")
}

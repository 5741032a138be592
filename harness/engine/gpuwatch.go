package engine

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aituner/opprof/results"
)

// gpuQuery are the columns of the watch: index, UUID, the sampled quantities in
// the order of gpuQuantities, and the bits of what holds the clocks down.
const gpuQuery = "index,uuid,utilization.gpu,clocks.sm,clocks.mem,power.draw,temperature.gpu,memory.used,clocks_throttle_reasons.active"

var gpuQuantities = []string{"utilization_pct", "sm_clock_mhz", "memory_clock_mhz", "power_w", "temperature_c", "memory_used_mib"}

// throttleReasons by bit (NVML's nvmlClocksEventReasons).
var throttleReasons = []string{"gpu_idle", "applications_clocks_setting", "sw_power_cap", "hw_slowdown", "sync_boost",
	"sw_thermal_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown", "display_clock_setting"}

// samplePeriod of the watch, in milliseconds.
const samplePeriod = "500"

// gpuSample is one line of the watch.
type gpuSample struct {
	index    int
	id       string
	values   []float64 // as gpuQuantities; NaN: not supported
	throttle uint64
	wall     int64 // when the line was read, ns since the epoch
}

// parseSample reads one line strictly: whatever it does not know is an error.
func parseSample(line string) (gpuSample, error) {
	wrong := func(what string) (gpuSample, error) {
		return gpuSample{}, fmt.Errorf("nvidia-smi says %.120q: %s", line, what)
	}
	f := strings.Split(line, ", ")
	if len(f) != len(gpuQuantities)+3 {
		return wrong(fmt.Sprintf("%d columns, want %d (%s)", len(f), len(gpuQuantities)+3, gpuQuery))
	}
	index, err := strconv.Atoi(f[0])
	if err != nil || index < 0 {
		return wrong("no index in front")
	}
	s := gpuSample{index: index, id: boardID(f[1])}
	for i, name := range gpuQuantities {
		v, ok := parseQuantity(f[2+i])
		if !ok {
			return wrong(fmt.Sprintf("%q is no %s", f[2+i], name))
		}
		s.values = append(s.values, v)
	}
	bits := f[len(f)-1]
	if unsupported(bits) {
		return s, nil
	}
	digits, hexadecimal := strings.CutPrefix(bits, "0x")
	if s.throttle, err = strconv.ParseUint(digits, 16, 64); err != nil || !hexadecimal {
		return wrong(fmt.Sprintf("%q are no throttle bits", bits))
	}
	return s, nil
}

// parseQuantity reads a number that is not negative, or NaN for what the GPU
// does not support.
func parseQuantity(text string) (float64, bool) {
	if unsupported(text) {
		return math.NaN(), true
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && v >= 0 && !math.IsInf(v, 1)
}

func unsupported(text string) bool {
	return text == "[N/A]" || text == "N/A" || text == "[Not Supported]" || text == "[Requested functionality has been deprecated]"
}

// boardID is a digest of a UUID: it tells boards apart without naming them.
func boardID(uuid string) string {
	sum := sha256.Sum256([]byte(uuid))
	return hex.EncodeToString(sum[:6])
}

// GPUWatch samples the GPUs until it is stopped.
type GPUWatch struct {
	cmd     *exec.Cmd
	done    chan struct{} // closed when the output has ended
	mu      sync.Mutex
	samples []gpuSample
	err     error // the first line that was not understood
	stopped bool
}

// Watch begins to sample. Start it before the timed part: nvidia-smi needs up to
// a second of CPU time to begin with.
func (g *GPUs) Watch() (*GPUWatch, error) {
	w := &GPUWatch{done: make(chan struct{}),
		cmd: exec.Command(g.smi, "--query-gpu="+gpuQuery, "--format=csv,noheader,nounits", "-lms", samplePeriod)}
	out, err := w.cmd.StdoutPipe()
	if err == nil {
		err = w.cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("watch the GPUs: %w", err)
	}
	go w.read(out)
	return w, nil
}

func (w *GPUWatch) read(out io.Reader) {
	defer close(w.done)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		s, err := parseSample(strings.TrimSpace(lines.Text()))
		s.wall = time.Now().UnixNano()
		w.mu.Lock()
		if err == nil {
			w.samples = append(w.samples, s)
		} else if w.err == nil && !w.stopped {
			w.err = err
		}
		w.mu.Unlock()
	}
}

// Stop ends the watch and sums up what was sampled between two wall times, ns
// since the epoch. A GPU without a sample in between is left out. The error says
// what kept the watch from seeing everything.
func (w *GPUWatch) Stop(from, to int64) ([]results.GPU, error) {
	w.mu.Lock()
	w.stopped = true
	w.mu.Unlock()
	_ = w.cmd.Process.Kill() // it may have ended by itself, which the samples show
	<-w.done
	_ = w.cmd.Wait()
	gpus := sumUp(w.samples, from, to)
	if w.err == nil && len(gpus) == 0 {
		w.err = errors.New("nvidia-smi gave no sample during the timed part")
	}
	return gpus, w.err
}

// sumUp reduces the samples between two wall times, by GPU.
func sumUp(samples []gpuSample, from, to int64) []results.GPU {
	var out []results.GPU
	place := map[int]int{}
	counts := []map[string]int{}
	for _, s := range samples {
		if s.wall < from || s.wall > to {
			continue
		}
		i, seen := place[s.index]
		if !seen {
			i = len(out)
			place[s.index] = i
			out = append(out, results.GPU{Index: s.index, ID: s.id, Ranges: map[string]results.Range{}})
			counts = append(counts, map[string]int{})
		}
		out[i].Samples++
		for q, v := range s.values {
			widen(out[i].Ranges, counts[i], gpuQuantities[q], v)
		}
		countReasons(&out[i], s.throttle)
	}
	return out
}

// widen adds a value to the range of a quantity; the mean is a running one.
func widen(ranges map[string]results.Range, count map[string]int, name string, v float64) {
	if math.IsNaN(v) {
		return
	}
	count[name]++
	r := ranges[name]
	if count[name] == 1 {
		r = results.Range{Min: v, Max: v}
	}
	r.Min, r.Max = min(r.Min, v), max(r.Max, v)
	r.Mean += (v - r.Mean) / float64(count[name])
	ranges[name] = r
}

func countReasons(g *results.GPU, bits uint64) {
	for b := range 64 {
		if bits&(1<<b) == 0 {
			continue
		}
		if g.Throttle == nil {
			g.Throttle = map[string]int{}
		}
		name := fmt.Sprintf("bit %d", b)
		if b < len(throttleReasons) {
			name = throttleReasons[b]
		}
		g.Throttle[name]++
	}
}

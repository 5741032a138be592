package harness

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/harness/engine"
	"github.com/aituner/opprof/results"
)

func TestClockStep(t *testing.T) {
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct {
		wall, elapsed time.Duration
		want          float64
	}{
		"no step":   {time.Hour, time.Hour, 0},
		"set ahead": {time.Minute + 2*time.Second, time.Minute, 2},
		"set back":  {-time.Minute, time.Minute, -120},
		"slewed":    {time.Minute + 30*time.Millisecond, time.Minute, 0.03},
	} {
		assert.InDelta(t, c.want, clockStep(begin, begin.Add(c.wall), c.elapsed), 1e-9, name)
	}
	now := time.Now()
	end := time.Now()
	assert.InDelta(t, 0, clockStep(now.Round(0), end.Round(0), end.Sub(now)), 0.1, "two readings in a row")
}

func TestEdges(t *testing.T) {
	got := edges(map[string]float64{"waiting": 1, "gone": 7}, map[string]float64{"waiting": 3, "new": 2})
	assert.Equal(t, map[string][2]float64{"waiting": {1, 3}, "new": {0, 2}}, got)
}

func TestNoGPUToWatch(t *testing.T) {
	var record results.Phase
	(*gpuLook)(nil).into(t.Context(), &record)
	assert.Equal(t, results.Phase{}, record)
}

// gpuServer is a server on a host with GPUs.
type gpuServer struct {
	engine.Server
	gpus *engine.GPUs
}

func (s gpuServer) GPUs() *engine.GPUs { return s.gpus }

// fakeSMI answers as nvidia-smi: one foreign process, and samples of one GPU.
const fakeSMI = `#!/bin/sh
case "$1" in
--query-compute-apps=*) echo "4194305, GPU-aa, train" ;;
*) while :; do echo "0, GPU-aa, 97, 1830, 2619, 512.30, 61, 70123, 0x4"; sleep 0.02; touch "$0.seen"; done ;;
esac
`

func TestGPUsBesideAPhase(t *testing.T) {
	smi := filepath.Join(t.TempDir(), "nvidia-smi")
	require.NoError(t, os.WriteFile(smi, []byte(fakeSMI), 0o755))
	r := &run{server: gpuServer{gpus: engine.LookAtGPUs(t.Context(), smi)}}
	look := r.watchGPUs(t.Context())
	record := results.Phase{TimedStartNS: 1, TimedEndNS: math.MaxInt64}
	require.Eventually(t, func() bool { _, err := os.Stat(smi + ".seen"); return err == nil }, 20*time.Second, time.Millisecond)
	time.Sleep(50 * time.Millisecond) // the line was written well before
	look.into(t.Context(), &record)
	assert.Empty(t, record.GPUProblem)
	require.Len(t, record.GPU, 1)
	assert.Equal(t, 1830.0, record.GPU[0].Ranges["sm_clock_mhz"].Mean)
	require.Len(t, record.ForeignGPU, 2)
	assert.Equal(t, "before", record.ForeignGPU[0].When)
	assert.Equal(t, "after", record.ForeignGPU[1].When)

	// Without a sample in the timed part the record says so and the run goes on.
	look = r.watchGPUs(t.Context())
	record = results.Phase{TimedStartNS: 1, TimedEndNS: 2}
	look.into(t.Context(), &record)
	assert.Contains(t, record.GPUProblem, "no sample during the timed part")
}

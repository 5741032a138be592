package preflight

import (
	"time"

	"github.com/aituner/opprof/harness/engine"
	"github.com/aituner/opprof/patches"
)

// Reading is the answer of one probe, or why there is none.
type Reading[T any] struct {
	Value T
	Err   error
}

func reading[T any](v T, err error) Reading[T] { return Reading[T]{v, err} }

// Machine is everything that the checks know about a host. What depends on a
// scenario stays zero without one.
type Machine struct {
	Package Reading[engine.Package]
	Trees   map[string]Reading[patches.Tree] // by patch id
	Model   Reading[Model]

	Output   string // absolute folder for the campaign's files
	Free     Reading[uint64]
	Recorder error // why records cannot be written below Output

	// Holder is who holds the lock of the campaign's GPUs or of the host, ""
	// for nobody.
	Holder  Reading[string]
	Servers Reading[[]engine.Process]
	Ports   Reading[PortRange]

	GPUs     Reading[[]GPU]
	GPUUsers Reading[[]GPUUser]
	// Visible are the devices of CUDA_VISIBLE_DEVICES, over all arms; none
	// means that vLLM takes the first ones.
	Visible []string

	Cores       int
	Memory      Reading[uint64] // bytes that new processes can use
	Load        Reading[float64]
	Busy        Reading[Busy]
	Governors   Reading[map[string]int] // governor to number of cores
	Clocksource Reading[string]
	Unsynced    Reading[bool]
	OpenFiles   Reading[uint64]
	Loopback    Reading[RoundTrips]
}

// Model is a model directory.
type Model struct {
	Dir string // absolute; "" if engine.model is a name that vLLM resolves
	// WeightBytes is the size of all weight files, 0 if there are none.
	WeightBytes uint64
}

// PortRange are the ports that the kernel gives to connections, inclusive.
type PortRange struct{ First, Last int }

// GPU is one device as nvidia-smi sees it. A field that the driver does not
// know is 0, or false.
type GPU struct {
	Index         int
	UUID, Name    string
	Persistence   bool
	UsedMiB       uint64
	TotalMiB      uint64
	PowerLimit    float64 // watts
	PowerDefault  float64 // watts
	SlowedBy      uint64  // bits of clocks_throttle_reasons.active
	SMClock       int     // MHz, now
	MaxSMClock    int     // MHz
	TemperatureC  int
	MultiInstance bool
}

// GPUUser is a compute process on a device.
type GPUUser struct {
	GPU  string // UUID
	PID  int
	Name string
	Own  bool // of the campaign that is resumed, which will end it
}

// Busy is the CPU use of the whole host over a sample, in cores.
type Busy struct {
	Cores  float64
	Stolen float64 // part of Cores that the hypervisor gave to others
	Over   time.Duration
}

// RoundTrips are quantiles of one-byte round trips over the loopback device.
type RoundTrips struct {
	Count    int
	P50, P99 time.Duration
}

package preflight

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/harness/engine"
	"github.com/aituner/opprof/patches"
	"github.com/aituner/opprof/scenarios"
)

const scenarioText = `
scenario: fit
engine: {kind: vllm, model: /models/m}
arms:
  off: {patch: r1-seed}
  on: {patch: r1-seed, env: {VLLM_OPPROF_DIR: "{run_dir}/steps"}}
phases:
  - name: wide
    source: {kind: synthetic, requests: 100, prompt_tokens: 512, output_tokens: 100, seed: 1}
    arrival: {kind: closed, streams: 10}
    warmup: {requests: 100}
design: {blocks: 6, seed: 1}
identity: {prompts: 10, output_tokens: 10}
`

func scenario(t *testing.T) *scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Load("fit.yaml", []byte(scenarioText), scenarios.Known{Patches: []string{"r1-seed"}})
	require.NoError(t, err)
	return s
}

func read[T any](v T) Reading[T] { return Reading[T]{Value: v} }

const uuid0, uuid1 = "GPU-00000000-aaaa", "GPU-11111111-bbbb"

// healthy is a machine on which every check is ok.
func healthy() Machine {
	gpu := func(i int, uuid string) GPU {
		return GPU{Index: i, UUID: uuid, Name: "NVIDIA H20", Persistence: true, TotalMiB: 97871, PowerLimit: 500, PowerDefault: 500,
			SlowedBy: 1, SMClock: 345, MaxSMClock: 1980, TemperatureC: 30}
	}
	return Machine{
		Package:  read(engine.Package{Python: "/venv/bin/python", Dir: "/venv/site-packages", Versions: map[string]string{"vllm": "0.24.0"}}),
		Trees:    map[string]Reading[patches.Tree]{"r1-seed": read(patches.Tree{Root: "/venv/site-packages", State: patches.Pristine})},
		Model:    read(Model{Dir: "/models/m", WeightBytes: 60 << 30}),
		Output:   "/data/runs",
		Free:     read(uint64(100 << 30)),
		Ports:    read(PortRange{32768, 60999}),
		GPUs:     read([]GPU{gpu(0, uuid0), gpu(1, uuid1)}),
		Cores:    16,
		Memory:   read(uint64(100 << 30)),
		Load:     read(0.2),
		Busy:     read(Busy{Cores: 0.1, Over: time.Second}),
		Unsynced: read(false), OpenFiles: read(uint64(1 << 20)), Clocksource: read("tsc"),
		Governors: read(map[string]int{"performance": 16}),
		Loopback:  read(RoundTrips{Count: 200, P50: 20 * time.Microsecond, P99: 90 * time.Microsecond}),
	}
}

func TestHealthyMachine(t *testing.T) {
	for _, c := range Checks(healthy(), scenario(t), 14) {
		assert.Equal(t, OK, c.Status, c.String())
		assert.NotEmpty(t, c.Finding, c.ID)
		assert.Empty(t, c.Remedy, c.ID)
	}
}

// change is one thing that differs from the healthy machine.
type change struct {
	id     string
	status Status
	want   string // part of the finding
	apply  func(m *Machine, s *scenarios.Scenario)
}

func failed[T any](err error) Reading[T] { return Reading[T]{Err: err} }

var errOdd = errors.New("an odd thing")

// Every status of every check; the names are in the findings.
var changes = []change{
	{"vllm-package", Fail, "no such interpreter", func(m *Machine, _ *scenarios.Scenario) {
		m.Package = failed[engine.Package](errors.New("no such interpreter"))
	}},
	{"vllm-package", Warn, "without a version", func(m *Machine, _ *scenarios.Scenario) { m.Package.Value.Versions = nil }},
	{"patch-tree", Skip, "no package", func(m *Machine, _ *scenarios.Scenario) { m.Package.Err = errOdd }},
	{"patch-tree", Fail, "envs.py (foreign)", func(m *Machine, _ *scenarios.Scenario) {
		m.Trees["r1-seed"] = read(patches.Tree{State: patches.Foreign, Files: []patches.TreeFile{{Path: "vllm/envs.py", State: patches.Foreign}}})
	}},
	{"patch-tree", Fail, "already applied", func(m *Machine, _ *scenarios.Scenario) {
		m.Trees["r1-seed"] = read(patches.Tree{State: patches.Applied})
	}},
	{"patch-tree", Fail, "an odd thing", func(m *Machine, _ *scenarios.Scenario) { m.Trees["r1-seed"] = failed[patches.Tree](errOdd) }},
	{"model", Fail, "an odd thing", func(m *Machine, _ *scenarios.Scenario) { m.Model = failed[Model](errOdd) }},
	{"model", Warn, "/models/m is no directory here", func(m *Machine, _ *scenarios.Scenario) { m.Model = read(Model{}) }},
	{"model", OK, "without weight files", func(m *Machine, _ *scenarios.Scenario) { m.Model.Value.WeightBytes = 0 }},
	{"log-stats", Skip, "no arm records", noRecorder},
	{"log-stats", Fail, "arm on", func(_ *Machine, s *scenarios.Scenario) { s.Engine.Args["disable-log-stats"] = "" }},
	{"log-stats", OK, "on in on", func(_ *Machine, s *scenarios.Scenario) { // of the other arm: not nice, but no fault
		s.Arms[0].Args = map[string]string{"disable-log-stats": ""}
	}},
	{"opprof-dir", Skip, "no arm records", noRecorder},
	{"opprof-dir", Fail, "would record into steps", func(_ *Machine, s *scenarios.Scenario) {
		s.Arms[1].Env[scenarios.RecorderVariable] = "steps"
	}},
	{"opprof-dir", Fail, "read-only", func(m *Machine, _ *scenarios.Scenario) { m.Recorder = errors.New("read-only file system") }},
	{"disk-space", Fail, "1.0 MiB free in /data/runs", func(m *Machine, _ *scenarios.Scenario) { m.Free = read(uint64(1 << 20)) }},
	{"disk-space", Warn, "1.0 GiB free", func(m *Machine, _ *scenarios.Scenario) { m.Free = read(uint64(1 << 30)) }},
	{"disk-space", Warn, "could not be read", func(m *Machine, _ *scenarios.Scenario) { m.Free.Err = errOdd }},
	{"lock", Fail, "lock of the host: process 7", func(m *Machine, _ *scenarios.Scenario) { m.Holder = read("process 7 holds it") }},
	{"lock", Fail, "lock of GPU 0, 1", func(m *Machine, _ *scenarios.Scenario) {
		m.Visible, m.Holder = []string{"0", "1"}, read("process 7 holds it")
	}},
	{"lock", Skip, "permission", func(m *Machine, _ *scenarios.Scenario) { m.Holder = failed[string](fs.ErrPermission) }},
	{"leftover-servers", Fail, "1 live server: process 7 (VLLM::EngineCore)", leftover},
	{"leftover-servers", Warn, "process 7", func(m *Machine, s *scenarios.Scenario) {
		leftover(m, s)
		m.Visible = []string{"1"}
	}},
	{"leftover-servers", Warn, "process 7", func(m *Machine, s *scenarios.Scenario) {
		leftover(m, s)
		s.Engine.Kind = scenarios.EngineSim
	}},
	{"leftover-servers", Skip, "attached", func(m *Machine, s *scenarios.Scenario) {
		leftover(m, s)
		s.Engine.Kind = scenarios.EngineAttach
	}},
	{"leftover-servers", Skip, "cannot be seen", func(m *Machine, _ *scenarios.Scenario) { m.Servers = failed[[]engine.Process](fs.ErrNotExist) }},
	{"port-range", Warn, "100 local ports", func(m *Machine, _ *scenarios.Scenario) { m.Ports = read(PortRange{1001, 1100}) }},
	{"port-range", Fail, "10 local ports (1001 to 1010) for up to 10 connections", func(m *Machine, _ *scenarios.Scenario) { m.Ports = read(PortRange{1001, 1010}) }},
	{"port-range", Warn, "could not be read", func(m *Machine, _ *scenarios.Scenario) { m.Ports = failed[PortRange](errOdd) }},
	{"gpu-processes", Fail, "GPU 1: process 8 (python)", onGPU1},
	{"gpu-processes", Warn, "on GPUs of others: GPU 1", func(m *Machine, s *scenarios.Scenario) {
		onGPU1(m, s)
		m.Visible = []string{"0"}
	}},
	{"gpu-processes", Fail, "GPU 1: process 8", func(m *Machine, s *scenarios.Scenario) {
		onGPU1(m, s)
		m.Visible = []string{"GPU-11111111"}
	}},
	{"gpu-processes", OK, "GPU 1 4000 of 97871 MiB", func(m *Machine, s *scenarios.Scenario) { // resume ends it
		onGPU1(m, s)
		m.GPUUsers.Value[0].Own = true
	}},
	{"gpu-processes", Fail, "cannot be seen from here", func(m *Machine, _ *scenarios.Scenario) { m.GPUs.Value[0].UsedMiB = 1025 }},
	{"gpu-processes", Fail, "no GPU of this host is one of 7", func(m *Machine, _ *scenarios.Scenario) { m.Visible = []string{"7"} }},
	{"gpu-processes", OK, "GPU 0", func(m *Machine, _ *scenarios.Scenario) {
		m.Visible, m.GPUs.Value[0].MultiInstance = []string{"MIG-1"}, true
	}},
	{"gpu-processes", Skip, "cannot be seen here", noGPU},
	{"gpu-processes", Warn, "could not be read", func(m *Machine, _ *scenarios.Scenario) { m.GPUUsers.Err = errOdd }},
	{"gpu-clocks", Skip, "cannot be seen here", noGPU},
	{"gpu-clocks", Skip, "no GPU of this host", func(m *Machine, _ *scenarios.Scenario) { m.Visible = []string{"7"} }},
	{"gpu-clocks", Warn, "could not be read", func(m *Machine, _ *scenarios.Scenario) { m.GPUs.Err = errOdd }},
	{"gpu-clocks", Warn, "GPU 1 has persistence mode off", func(m *Machine, _ *scenarios.Scenario) { m.GPUs.Value[1].Persistence = false }},
	{"gpu-clocks", Warn, "power cap, hardware thermal slowdown", func(m *Machine, _ *scenarios.Scenario) { m.GPUs.Value[1].SlowedBy = 0x44 }},
	{"gpu-clocks", Warn, "power limit of 300 W, default 500 W", func(m *Machine, _ *scenarios.Scenario) { m.GPUs.Value[1].PowerLimit = 300 }},
	{"gpu-clocks", Warn, "split by MIG", func(m *Machine, _ *scenarios.Scenario) { m.GPUs.Value[0].MultiInstance = true }},
	{"gpu-clocks", OK, "GPU 0", func(m *Machine, _ *scenarios.Scenario) { // the odd one is not ours
		m.Visible, m.GPUs.Value[1].Persistence = []string{"0"}, false
	}},
	{"memory", Fail, "60.0 GiB of weights for each of 1 GPUs", func(m *Machine, _ *scenarios.Scenario) { m.GPUs.Value[1].UsedMiB = 60000 }},
	{"memory", OK, "30.0 GiB of weights for each of 2 GPUs", func(m *Machine, s *scenarios.Scenario) {
		m.GPUs.Value[1].UsedMiB = 60000
		s.Engine.Args["tensor-parallel-size"] = "2"
		s.Engine.Args["data-parallel-size"] = "4" // copies share nothing
	}},
	{"memory", Skip, "no weight files", func(m *Machine, _ *scenarios.Scenario) { m.Model.Value.WeightBytes = 0 }},
	{"memory", Fail, "50.0 GiB of memory available", hostMemory(50 << 30)},
	{"memory", Warn, "70.0 GiB of memory available", hostMemory(70 << 30)},
	{"memory", OK, "90.0 GiB of memory available", hostMemory(90 << 30)},
	{"memory", Warn, "could not be read", func(m *Machine, s *scenarios.Scenario) {
		noGPU(m, s)
		m.Memory = failed[uint64](errOdd)
	}},
	{"cores", Fail, "1 core for 2 processes", func(m *Machine, _ *scenarios.Scenario) { m.Cores = 1 }},
	{"cores", Warn, "3 cores for 2 processes", func(m *Machine, _ *scenarios.Scenario) { m.Cores = 3 }},
	{"cores", OK, "2 of them under SCHED_IDLE", func(m *Machine, s *scenarios.Scenario) {
		m.Cores, s.Engine.Schedule = 2, map[string]string{"engine_core": "idle", "worker": "idle"}
	}},
	{"cores", Warn, "16 cores for 20 processes", func(_ *Machine, s *scenarios.Scenario) {
		s.Engine.Args["data-parallel-size"], s.Engine.Args["tensor-parallel-size"] = "4", "4"
	}},
	{"cores", OK, "2 cores", func(m *Machine, s *scenarios.Scenario) { m.Cores, s.Engine.Kind = 2, scenarios.EngineSim }},
	{"cpu-load", Warn, "others used 0.60 of 16 cores over 1s", func(m *Machine, _ *scenarios.Scenario) { m.Busy.Value.Cores = 0.6 }},
	{"cpu-load", OK, "0.60 of 64 cores over 1s, 0.50 of it taken by the hypervisor", func(m *Machine, _ *scenarios.Scenario) {
		m.Cores, m.Busy.Value.Cores, m.Busy.Value.Stolen = 64, 0.6, 0.5
	}},
	{"cpu-load", Warn, "load average of the last minute 17.00", func(m *Machine, _ *scenarios.Scenario) { m.Load = read(17.0) }},
	{"cpu-load", Warn, "could not be read", func(m *Machine, _ *scenarios.Scenario) { m.Busy.Err = errOdd }},
	{"cpu-governor", Warn, "performance on 8 cores, powersave on 8 cores: clocks", func(m *Machine, _ *scenarios.Scenario) {
		m.Governors = read(map[string]int{"powersave": 8, "performance": 8})
	}},
	{"cpu-governor", Warn, "cores differ", func(m *Machine, _ *scenarios.Scenario) {
		m.Governors = read(map[string]int{"schedutil": 8, "performance": 8})
	}},
	{"cpu-governor", OK, "schedutil on 16 cores", func(m *Machine, _ *scenarios.Scenario) { m.Governors = read(map[string]int{"schedutil": 16}) }},
	{"cpu-governor", Skip, "cannot be seen here", func(m *Machine, _ *scenarios.Scenario) { m.Governors = failed[map[string]int](fs.ErrNotExist) }},
	{"clocksource", Warn, "hpet", func(m *Machine, _ *scenarios.Scenario) { m.Clocksource = read("hpet") }},
	{"clocksource", OK, "kvm-clock", func(m *Machine, _ *scenarios.Scenario) { m.Clocksource = read("kvm-clock") }},
	{"clocksource", Skip, "cannot be seen here", func(m *Machine, _ *scenarios.Scenario) { m.Clocksource = failed[string](fs.ErrNotExist) }},
	{"time-sync", Warn, "not synchronised", func(m *Machine, _ *scenarios.Scenario) { m.Unsynced = read(true) }},
	{"time-sync", Skip, "cannot be seen here", func(m *Machine, _ *scenarios.Scenario) { m.Unsynced = failed[bool](errors.ErrUnsupported) }},
	{"open-files", Fail, "limit 83, needed up to 84", func(m *Machine, _ *scenarios.Scenario) { m.OpenFiles = read(uint64(83)) }},
	{"open-files", Warn, "limit 84", func(m *Machine, _ *scenarios.Scenario) { m.OpenFiles = read(uint64(84)) }},
	{"open-files", Warn, "could not be read", func(m *Machine, _ *scenarios.Scenario) { m.OpenFiles.Err = errOdd }},
	{"loopback", Warn, "p99 201µs of 200", func(m *Machine, _ *scenarios.Scenario) { m.Loopback.Value.P99 = 201 * time.Microsecond }},
	{"loopback", Skip, "cannot be seen here", func(m *Machine, _ *scenarios.Scenario) { m.Loopback.Err = fs.ErrPermission }},
}

func noRecorder(_ *Machine, s *scenarios.Scenario) { s.Arms[1].Env = nil }

func noGPU(m *Machine, _ *scenarios.Scenario) {
	m.GPUs = failed[[]GPU](&exec.Error{Name: "nvidia-smi", Err: exec.ErrNotFound})
}

func leftover(m *Machine, _ *scenarios.Scenario) {
	m.Servers = read([]engine.Process{{PID: 7, Title: "VLLM::EngineCore"}})
}

func onGPU1(m *Machine, _ *scenarios.Scenario) {
	m.GPUs.Value[1].UsedMiB = 4000
	m.GPUUsers = read([]GPUUser{{GPU: uuid1, PID: 8, Name: "python"}})
}

func hostMemory(bytes uint64) func(*Machine, *scenarios.Scenario) {
	return func(m *Machine, s *scenarios.Scenario) {
		noGPU(m, s)
		m.Memory = read(bytes)
	}
}

func find(t *testing.T, all []Check, id string) Check {
	t.Helper()
	for _, c := range all {
		if c.ID == id {
			return c
		}
	}
	require.FailNow(t, "no check "+id)
	return Check{}
}

func TestEveryStatus(t *testing.T) {
	for _, c := range changes {
		m, s := healthy(), scenario(t)
		c.apply(&m, s)
		got := find(t, Checks(m, s, 14), c.id)
		assert.Equal(t, c.status, got.Status, "%s", got)
		assert.Contains(t, got.Finding, c.want, c.id)
		assert.Equal(t, c.status == Warn || c.status == Fail, got.Remedy != "", "%s: what is wrong has a remedy", got)
	}
}

// README.md lists the checks, and says when each warns and fails; what it says
// has a case above, and nothing else has.
func TestReadme(t *testing.T) {
	data, err := os.ReadFile("README.md")
	require.NoError(t, err)
	rows := map[string][]string{}
	for _, line := range strings.Split(string(data), "\n") {
		if f := strings.Split(line, " | "); len(f) == 5 {
			rows[strings.TrimPrefix(f[0], "| ")] = f
		}
	}
	tested := map[string]bool{}
	for _, c := range changes {
		if !strings.Contains(c.want, "could not be read") { // the same for all
			tested[fmt.Sprint(c.id, c.status)] = true
		}
	}
	for _, c := range checks {
		row := rows[c.id]
		require.Len(t, row, 5, "README.md has no row for %s", c.id)
		assert.Equal(t, row[2] != "–", tested[c.id+string(Warn)], "%s warns: %s", c.id, row[2])
		assert.Equal(t, row[3] != "–", tested[c.id+string(Fail)], "%s fails: %s", c.id, row[3])
		delete(rows, c.id)
	}
	delete(rows, "id")
	assert.Empty(t, rows, "rows without a check")
}

// A check that does not apply is skipped, with the reason.
func TestScopes(t *testing.T) {
	skipped := func(s *scenarios.Scenario) string {
		var ids []string
		for _, c := range Checks(healthy(), s, 14) {
			if c.Status == Skip {
				ids = append(ids, c.ID+" "+c.Finding)
			}
		}
		return strings.Join(ids, "\n")
	}
	assert.Empty(t, skipped(scenario(t)))
	none := skipped(nil)
	assert.Equal(t, 8, strings.Count(none, "no scenario was named"), none)
	sim := scenario(t)
	sim.Engine.Kind = scenarios.EngineSim
	assert.Equal(t, 7, strings.Count(skipped(sim), "engine kind sim starts no vLLM"), skipped(sim))
}

func TestWorstFirst(t *testing.T) {
	m := healthy()
	m.Cores, m.Clocksource = 1, read("hpet")
	m.Governors.Err = fs.ErrNotExist
	all := Checks(m, scenario(t), 14)
	require.Len(t, all, len(checks))
	assert.Equal(t, "cores", all[0].ID)
	assert.Equal(t, "clocksource", all[1].ID)
	assert.Equal(t, "cpu-governor", all[len(all)-1].ID)
	assert.Equal(t, 1, Count(all, Fail))
	assert.Equal(t, 1, Count(all, Skip))
	assert.Equal(t, len(checks)-3, Count(all, OK))
}

// Command lines and messages of other programs reach a terminal as one line.
func TestFindingsAreClean(t *testing.T) {
	m := healthy()
	m.Servers = read([]engine.Process{{PID: 7, Title: "VLLM::\x1b[31m\nred\x00" + strings.Repeat("x", 9999)}})
	got := find(t, Checks(m, scenario(t), 14), "leftover-servers")
	assert.Contains(t, got.Finding, "VLLM::?[31m red?x")
	assert.Less(t, len(got.Finding), 500)
	assert.Contains(t, got.String(), "fail leftover-servers: 1 live server")
	assert.Contains(t, got.String(), "(end it by its id")
}

func TestForecast(t *testing.T) {
	s := scenario(t)
	// Closed: 200 requests of 100 tokens over 10 streams, 1.5 prefill steps
	// each; then 10 identity prompts of 10 tokens, alone.
	f := foresee(s, 14)
	assert.Equal(t, 19, f.runs)
	assert.Equal(t, 2000+300+110, f.steps)
	perRun := runBytes + 210*requestBytes + 100*tokenBytes
	assert.Equal(t, uint64(19*perRun+10*2410*stepBytes), f.bytes)

	noRecorder(nil, s)
	assert.Equal(t, uint64(19*perRun), foresee(s, 14).bytes)
	assert.Zero(t, foresee(s, 0).bytes, "nothing left, nothing written")

	// Open: 200 requests in 100 s, at most 500 steps a second, and a token each.
	ph := s.Phases[0]
	ph.Arrival = scenarios.Arrival{Kind: "poisson", Rate: 2}
	assert.Equal(t, 20000.0+300, phaseSteps(ph))
	ph.Arrival.Rate = 100
	assert.Equal(t, 1000.0+300, phaseSteps(ph))
}

func TestMean(t *testing.T) {
	assert.Equal(t, 7.0, mean(scenarios.Dist{Kind: "fixed", Value: 7}))
	assert.Equal(t, 15.0, mean(scenarios.Dist{Kind: "uniform", Min: 10, Max: 20}))
	// exp(σ²/2) with σ = ln(4)/1.6449
	assert.InDelta(t, 512*1.4264, mean(scenarios.Dist{Kind: "lognormal", Median: 512, P95: 2048, Max: 8192}), 1)
	assert.Equal(t, 512.0, mean(scenarios.Dist{Kind: "lognormal", Median: 512, P95: 512, Max: 2048}))
}

func TestConnections(t *testing.T) {
	assert.Equal(t, 1, connections(nil))
	s := scenario(t)
	assert.Equal(t, 10, connections(s))
	s.Phases[0].Arrival = scenarios.Arrival{Kind: "poisson", Rate: 1}
	s.Client.RequestTimeout = 120 * time.Second
	assert.Equal(t, 120, connections(s), "those that wait for their time-out")
	s.Phases[0].Arrival.Rate = 12
	assert.Equal(t, 200, connections(s), "not more than there are")
}

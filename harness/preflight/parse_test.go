package preflight

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const statText = "cpu  100 10 50 800 20 5 5 10 0 0\ncpu0 60 5 25 400 10 3 2 5 0 0\ncpu1 40 5 25 400 10 2 3 5 0 0\nintr 5 1 2\nbtime 1\n"

func TestCPUTimes(t *testing.T) {
	before, err := parseCPUTimes([]byte(statText))
	require.NoError(t, err)
	assert.Equal(t, cpuTimes{busy: 180, stolen: 10, total: 1000, cores: 2}, before)

	// A tenth of a second of two cores later: half of one core, a tenth stolen.
	after, err := parseCPUTimes([]byte(strings.Replace(statText, "100 10 50 800 20 5 5 10", "104 10 50 815 20 5 5 11", 1)))
	require.NoError(t, err)
	cores, stolen, err := after.since(before)
	require.NoError(t, err)
	assert.InDelta(t, 0.5, cores, 1e-9)
	assert.InDelta(t, 0.1, stolen, 1e-9)

	for _, c := range []struct{ name, from, to string }{
		{"the same", "", ""},
		{"another boot", "100 10 50 800", "10 1 5 80"},
		{"fewer busy ticks", "100 10 50 800", "90 10 50 900"},
		{"fewer stolen ticks", "5 5 10 0", "90 5 9 0"},
	} {
		odd, err := parseCPUTimes([]byte(strings.Replace(statText, c.from, c.to, 1)))
		require.NoError(t, err, c.name)
		_, _, err = odd.since(before)
		assert.ErrorContains(t, err, "did not advance", c.name)
	}
}

func TestCPUTimesDamaged(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "no line for any core"},
		{"another file", "processor: 0\n", `want "cpu"`},
		{"cut in the first line", "cpu  100 10 50", `want "cpu"`},
		{"cut after the first line", "cpu  1 2 3 4 5 6 7 8 9 10\n", "no line for any core"},
		{"a word", "cpu  1 2 x 4 5 6 7 8\ncpu0 1\n", "field 4: not a counter"},
		{"negative", "cpu  1 2 3 4 5 6 7 -8\ncpu0 1\n", "field 9: not a counter"},
		{"too large", "cpu  1 2 3 99999999999999999999 5 6 7 8\ncpu0 1\n", "field 5"},
		{"a huge line", statText + strings.Repeat("9", 2<<20), "token too long"},
	} {
		_, err := parseCPUTimes([]byte(c.text))
		assert.ErrorContains(t, err, c.want, c.name)
	}
}

func TestSmallFiles(t *testing.T) {
	load, err := parseLoad([]byte("0.52 0.18 0.12 1/80 11206\n"))
	require.NoError(t, err)
	assert.Equal(t, 0.52, load)
	for _, bad := range []string{"", "0.52", "0.52 0.18 0.12 1/80", "x 0.18 0.12 1/80 1", "-1 0 0 1/8 1", "NaN 0 0 1/8 1", "Inf 0 0 1/8 1"} {
		_, err := parseLoad([]byte(bad))
		assert.ErrorContains(t, err, "/proc/loadavg", bad)
	}

	bytes, err := parseAvailable([]byte("MemTotal: 9 kB\nMemAvailable:   21482776 kB\nBuffers: 1 kB\n"))
	require.NoError(t, err)
	assert.Equal(t, uint64(21482776<<10), bytes)
	for _, bad := range []string{"", "MemTotal: 9 kB\n", "MemAvailable:", "MemAvailable: 5", "MemAvailable: 5 MB", "MemAvailable: -5 kB", "MemAvailable: 99999999999999999 kB"} {
		_, err := parseAvailable([]byte(bad))
		assert.ErrorContains(t, err, "/proc/meminfo", bad)
	}

	ports, err := parsePorts([]byte("32768\t60999\n"))
	require.NoError(t, err)
	assert.Equal(t, PortRange{32768, 60999}, ports)
	for _, bad := range []string{"", "32768", "a b", "2 1", "0 5", "1 65536", "1 2 3"} {
		_, err := parsePorts([]byte(bad))
		assert.ErrorContains(t, err, "ip_local_port_range", bad)
	}

	name, err := word([]byte("tsc\n"))
	require.NoError(t, err)
	assert.Equal(t, "tsc", name)
	for _, bad := range []string{"", "\n", "two words"} {
		_, err := word([]byte(bad))
		assert.ErrorContains(t, err, "want one word", bad)
	}
}

const gpuText = "0, GPU-8f2a, NVIDIA H200, Enabled, 0, 143771, 700.00, 700.00, 0x0000000000000001, 345, 1980, 31, Disabled\n" +
	"1, GPU-9c1b, NVIDIA GB10, Disabled, 12, [N/A], [N/A], [N/A], 0x0000000000000044, 210, 1980, [N/A], [N/A]\n"

func TestParseGPUs(t *testing.T) {
	gpus, err := parseGPUs([]byte(strings.ReplaceAll(gpuText, "\n", "\r\n")))
	require.NoError(t, err)
	assert.Equal(t, []GPU{
		{Index: 0, UUID: "GPU-8f2a", Name: "NVIDIA H200", Persistence: true, TotalMiB: 143771, PowerLimit: 700, PowerDefault: 700,
			SlowedBy: 1, SMClock: 345, MaxSMClock: 1980, TemperatureC: 31},
		{Index: 1, UUID: "GPU-9c1b", Name: "NVIDIA GB10", UsedMiB: 12, SlowedBy: 0x44, SMClock: 210, MaxSMClock: 1980},
	}, gpus)
	assert.Equal(t, []string{"power cap", "hardware thermal slowdown"}, gpus[1].slow())
	assert.Empty(t, gpus[0].slow(), "an idle GPU is not slowed down")
}

func TestParseGPUsDamaged(t *testing.T) {
	line := strings.SplitAfter(gpuText, "\n")[0]
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "lists no GPU"},
		{"no device", "No devices were found\n", "want 13 columns, got 1"},
		{"cut", line[:60], "columns"},
		{"a column more", strings.Replace(line, "345, ", "345, 345, ", 1), "column 13: want Enabled or Disabled"},
		{"units", strings.Replace(line, "143771", "143771 MiB", 1), "column 6"},
		{"negative", strings.Replace(line, "345", "-1", 1), "column 10"},
		{"too large", strings.Replace(line, "345", "99999999999", 1), "column 10: want a smaller number"},
		{"power", strings.Replace(line, "700.00", "NaN", 1), "column 7: want watts"},
		{"reasons", strings.Replace(line, "0x0000000000000001", "idle", 1), "column 9"},
		{"mode", strings.Replace(line, "Disabled", "Off", 1), "column 13: want Enabled or Disabled"},
		{"no UUID", strings.Replace(line, "GPU-8f2a", "8f2a", 1), "column 2: want a UUID"},
	} {
		_, err := parseGPUs([]byte(c.text))
		assert.ErrorContains(t, err, c.want, c.name)
	}
	for cut := range len(line) - len("\n") - len("Disabled") { // within the last column nobody can tell
		_, err := parseGPUs([]byte(line[:cut]))
		assert.Error(t, err, "cut after %d bytes", cut)
	}
}

func TestParseGPUUsers(t *testing.T) {
	users, err := parseGPUUsers([]byte("GPU-8f2a, 4711, /opt/a, b/python3\nGPU-8f2a, 4712, [Not Found]\n"))
	require.NoError(t, err)
	assert.Equal(t, []GPUUser{{GPU: "GPU-8f2a", PID: 4711, Name: "/opt/a, b/python3"}, {GPU: "GPU-8f2a", PID: 4712, Name: "[Not Found]"}}, users)
	users, err = parseGPUUsers(nil)
	require.NoError(t, err)
	assert.Empty(t, users, "an idle host")
	for _, bad := range []string{"GPU-8f2a, 4711", "GPU-8f2a, x, python", "GPU-8f2a", ", 4711, python", "NVIDIA-SMI has failed"} {
		_, err := parseGPUUsers([]byte(bad))
		assert.ErrorContains(t, err, "nvidia-smi", bad)
	}
}

func FuzzParsers(f *testing.F) {
	f.Add([]byte(statText))
	f.Add([]byte(gpuText))
	f.Add([]byte("GPU-8f2a, 4711, python\n"))
	f.Add([]byte("0.52 0.18 0.12 1/80 11206\n"))
	f.Add([]byte("MemAvailable:   21482776 kB\n"))
	f.Add([]byte("32768\t60999\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, err := parseCPUTimes(data); err == nil {
			assert.LessOrEqual(t, c.busy, c.total)
			assert.LessOrEqual(t, c.stolen, c.busy)
			assert.Positive(t, c.cores)
		}
		if v, err := parseLoad(data); err == nil {
			assert.True(t, v >= 0 && !math.IsInf(v, 0))
		}
		if p, err := parsePorts(data); err == nil {
			assert.True(t, 0 < p.First && p.First <= p.Last && p.Last < 1<<16)
		}
		if v, err := parseAvailable(data); err == nil {
			assert.Zero(t, v%1024)
		}
		if gpus, err := parseGPUs(data); err == nil {
			require.NotEmpty(t, gpus)
			for _, g := range gpus {
				assert.True(t, g.Index >= 0 && g.PowerLimit >= 0 && g.TemperatureC >= 0)
			}
		}
		if users, err := parseGPUUsers(data); err == nil {
			for _, u := range users {
				assert.NotEmpty(t, u.GPU)
			}
		}
	})
}

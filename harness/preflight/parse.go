package preflight

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// cpuTimes are the counters of all cores together since boot, in ticks.
type cpuTimes struct {
	busy, stolen uint64
	total        uint64
	cores        int
}

// parseCPUTimes reads /proc/stat (proc(5)): the line "cpu" with user, nice,
// system, idle, iowait, irq, softirq and steal, then one line for each core.
// Guest times are part of user and nice.
func parseCPUTimes(data []byte) (cpuTimes, error) {
	var t cpuTimes
	sc := bufio.NewScanner(bytes.NewReader(data))
	sc.Buffer(nil, 1<<20) // the line of interrupts is long
	for n := 1; sc.Scan(); n++ {
		f := strings.Fields(sc.Text())
		switch {
		case n == 1 && (len(f) < 9 || f[0] != "cpu"):
			return t, fmt.Errorf(`/proc/stat:1: want "cpu" and at least eight numbers, got %.60q`, sc.Text())
		case n == 1:
			if err := t.add(f[1:9]); err != nil {
				return t, err
			}
		case len(f) > 1 && strings.HasPrefix(f[0], "cpu"):
			t.cores++
		}
	}
	if err := sc.Err(); err != nil {
		return t, fmt.Errorf("/proc/stat: %w", err)
	}
	if t.cores == 0 {
		return t, fmt.Errorf("/proc/stat: cut short, there is no line for any core")
	}
	return t, nil
}

func (t *cpuTimes) add(fields []string) error {
	for i, f := range fields {
		v, err := strconv.ParseUint(f, 10, 56) // sums of eight do not overflow
		if err != nil {
			return fmt.Errorf("/proc/stat:1: field %d: not a counter: %.20q", i+2, f)
		}
		t.total += v
		if i != 3 && i != 4 { // idle, iowait
			t.busy += v
		}
		if i == 7 {
			t.stolen = v
		}
	}
	return nil
}

// since is the CPU use between two readings, in cores.
func (t cpuTimes) since(before cpuTimes) (cores, stolen float64, err error) {
	if t.total <= before.total || t.busy < before.busy || t.stolen < before.stolen {
		return 0, 0, fmt.Errorf("/proc/stat: the counters did not advance (%d to %d ticks)", before.total, t.total)
	}
	share := float64(t.cores) / float64(t.total-before.total)
	return float64(t.busy-before.busy) * share, float64(t.stolen-before.stolen) * share, nil
}

// parseLoad reads /proc/loadavg: the mean of the last minute comes first.
func parseLoad(data []byte) (float64, error) {
	f := strings.Fields(string(data))
	if len(f) != 5 {
		return 0, fmt.Errorf("/proc/loadavg: want five fields, got %d", len(f))
	}
	v, err := strconv.ParseFloat(f[0], 64)
	if err != nil || v < 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("/proc/loadavg: not a load: %.20q", f[0])
	}
	return v, nil
}

// parseAvailable reads MemAvailable of /proc/meminfo, in bytes: what new
// processes can use without swapping.
func parseAvailable(data []byte) (uint64, error) {
	for _, line := range strings.Split(string(data), "\n") {
		rest, found := strings.CutPrefix(line, "MemAvailable:")
		if !found {
			continue
		}
		f := strings.Fields(rest)
		if len(f) != 2 || f[1] != "kB" {
			return 0, fmt.Errorf("/proc/meminfo: want MemAvailable in kB, got %.60q", line)
		}
		kib, err := strconv.ParseUint(f[0], 10, 53)
		if err != nil {
			return 0, fmt.Errorf("/proc/meminfo: MemAvailable: not a number: %.20q", f[0])
		}
		return kib << 10, nil
	}
	return 0, fmt.Errorf("/proc/meminfo: no MemAvailable")
}

// parsePorts reads /proc/sys/net/ipv4/ip_local_port_range.
func parsePorts(data []byte) (PortRange, error) {
	f := strings.Fields(string(data))
	if len(f) != 2 {
		return PortRange{}, fmt.Errorf("ip_local_port_range: want two ports, got %.40q", data)
	}
	first, err1 := strconv.ParseUint(f[0], 10, 16)
	last, err2 := strconv.ParseUint(f[1], 10, 16)
	if err1 != nil || err2 != nil || first == 0 || last < first {
		return PortRange{}, fmt.Errorf("ip_local_port_range: not a range of ports: %.40q", data)
	}
	return PortRange{int(first), int(last)}, nil
}

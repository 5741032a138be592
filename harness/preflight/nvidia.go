package preflight

import (
	"fmt"
	"strconv"
	"strings"
)

// gpuQuery are the fields that parseGPUs expects, in order. clocks_throttle_
// reasons was renamed clocks_event_reasons; drivers still know the old name.
const gpuQuery = "index,uuid,name,persistence_mode,memory.used,memory.total,power.limit,power.default_limit," +
	"clocks_throttle_reasons.active,clocks.sm,clocks.max.sm,temperature.gpu,mig.mode.current"

// userQuery has the name last: it is a path, in which nvidia-smi quotes nothing.
const userQuery = "gpu_uuid,pid,process_name"

// rows splits the output of --format=csv,noheader,nounits; the last column
// keeps its commas. No output is no rows.
func rows(out []byte, columns int) ([][]string, error) {
	var all [][]string
	for i, line := range strings.Split(string(out), "\n") {
		line = strings.TrimSuffix(line, "\r")
		if line == "" {
			continue
		}
		f := strings.SplitN(line, ", ", columns)
		if len(f) != columns {
			return nil, fmt.Errorf("nvidia-smi: line %d: want %d columns, got %d: %.80q", i+1, columns, len(f), line)
		}
		all = append(all, f)
	}
	return all, nil
}

// row reads the columns of one line and keeps the first error.
type row struct {
	fields []string
	next   int
	err    error
}

func (r *row) text() string {
	r.next++
	return r.fields[r.next-1]
}

// known is the next column, unless the driver has no value for it.
func (r *row) known() (string, bool) {
	s := r.text()
	switch s {
	case "N/A", "[N/A]", "[Not Supported]", "[Unknown Error]", "[GPU requires reset]":
		return "", false
	}
	return s, true
}

func (r *row) bad(want, got string) {
	if r.err == nil {
		r.err = fmt.Errorf("nvidia-smi: column %d: want %s, got %.40q", r.next, want, got)
	}
}

func (r *row) number(base int) uint64 {
	s, known := r.known()
	if !known {
		return 0
	}
	v, err := strconv.ParseUint(s, base, 63)
	if err != nil {
		r.bad("a whole number", s)
	}
	return v
}

func (r *row) integer() int {
	v := r.number(10)
	if v > 1<<31-1 {
		r.bad("a smaller number", strconv.FormatUint(v, 10))
		return 0
	}
	return int(v)
}

func (r *row) watts() float64 {
	s, known := r.known()
	if !known {
		return 0
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0 && v < 1e6) {
		r.bad("watts", s)
		return 0
	}
	return v
}

func (r *row) enabled() bool {
	s, known := r.known()
	if known && s != "Enabled" && s != "Disabled" {
		r.bad("Enabled or Disabled", s)
	}
	return s == "Enabled"
}

// parseGPUs reads the answer to gpuQuery.
func parseGPUs(out []byte) ([]GPU, error) {
	lines, err := rows(out, strings.Count(gpuQuery, ",")+1)
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("nvidia-smi: it lists no GPU")
	}
	var gpus []GPU
	for _, fields := range lines {
		r := &row{fields: fields}
		g := GPU{Index: r.integer(), UUID: r.text(), Name: r.text(), Persistence: r.enabled(), UsedMiB: r.number(10), TotalMiB: r.number(10),
			PowerLimit: r.watts(), PowerDefault: r.watts(), SlowedBy: r.number(0), SMClock: r.integer(), MaxSMClock: r.integer(),
			TemperatureC: r.integer(), MultiInstance: r.enabled()}
		if !strings.HasPrefix(g.UUID, "GPU-") {
			r.next = 2
			r.bad("a UUID", g.UUID)
		}
		if r.err != nil {
			return nil, r.err
		}
		gpus = append(gpus, g)
	}
	return gpus, nil
}

// parseGPUUsers reads the answer to userQuery. An idle host has none.
func parseGPUUsers(out []byte) ([]GPUUser, error) {
	lines, err := rows(out, strings.Count(userQuery, ",")+1)
	if err != nil {
		return nil, err
	}
	var users []GPUUser
	for _, fields := range lines {
		r := &row{fields: fields}
		u := GPUUser{GPU: r.text(), PID: r.integer(), Name: r.text()}
		if u.GPU == "" {
			r.bad("the UUID of a GPU", u.GPU)
		}
		if r.err != nil {
			return nil, r.err
		}
		users = append(users, u)
	}
	return users, nil
}

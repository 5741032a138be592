package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/aituner/opprof/results"
)

// Beside is what was recorded beside the requests. It decides nothing; it says
// under which conditions the numbers arose. What no run recorded is named and
// never shown as zero.
type Beside struct {
	Quantities []Quantity `json:"quantities,omitempty"`
	// NotRecorded names what no valid run recorded.
	NotRecorded []string `json:"not_recorded,omitempty"`
	// Problems say where the GPUs could not be looked at.
	Problems []string `json:"problems,omitempty"`
}

// Quantity is one number of a phase, by arm, over the valid runs.
type Quantity struct {
	Phase string     `json:"phase,omitempty"` // empty: of the whole run
	Name  string     `json:"name"`
	Unit  string     `json:"unit,omitempty"` // empty: a count
	Arms  []Recorded `json:"arms"`
}

// Recorded sums up one quantity over the valid runs of an arm.
type Recorded struct {
	Arm   string  `json:"arm"`
	Runs  int     `json:"runs"` // that recorded it; 0: the numbers below mean nothing
	Of    int     `json:"of"`   // valid runs
	Mean  float64 `json:"mean"`
	Worst float64 `json:"worst"`
	// WorstRun is empty where all runs are equal.
	WorstRun string `json:"worst_run,omitempty"`
}

// reading is what one run says: the mean of a quantity and its bad end, which
// differ only for what was sampled.
type reading struct{ mean, worst float64 }

// probe reads one quantity out of a phase; false: not recorded.
type probe struct {
	group, name, unit string
	low               bool // the lowest value is the worst
	read              func(*results.Phase) (reading, bool)
}

// Groups that not every campaign has: a host without GPUs, arms that take no turns.
const (
	groupGPU  = "GPU telemetry"
	groupIdle = "idle arms"
)

// besideGroups are what a phase should record, in the order of the report.
var besideGroups = []string{"queue lengths", "preemptions", "prefix cache", "connections", "client lateness", "receive stamps", "GC pauses", "CPU seconds", groupIdle, groupGPU}

// groupClock is recorded for the whole run.
const groupClock = "wall clock step"

// beside sums up what stands beside the requests of the accepted runs.
func (b *builder) beside() *Beside {
	if !b.c.Complete || len(b.blocks) == 0 {
		return nil
	}
	out := &Beside{}
	seen := map[string]bool{}
	probes := b.probes()
	for _, p := range b.s.Phases {
		for _, one := range probes {
			q := b.quantity(p.Name, one.name, one.unit, one.low, func(a *attempt) (reading, bool) {
				if got := a.phase(p.Name); got != nil {
					return one.read(got)
				}
				return reading{}, false
			})
			if q.recorded() {
				seen[one.group] = true
				out.Quantities = append(out.Quantities, q)
			}
		}
	}
	clock := b.quantity("", groupClock, "s", false, readClock)
	if clock.recorded() {
		seen[groupClock] = true
		out.Quantities = append(out.Quantities, clock)
	}
	out.NotRecorded = slices.DeleteFunc(append(slices.Clone(besideGroups), groupClock), func(group string) bool {
		return seen[group] || group == groupGPU && !b.hasGPUs() || group == groupIdle && !b.s.Design.Interleaved()
	})
	out.Problems = b.gpuProblems()
	return out
}

// readClock: run.json leaves a step of zero out. The runs of every version that
// read the clock count their connections too.
func readClock(a *attempt) (reading, bool) {
	step := a.Run.ClockStep
	read := slices.ContainsFunc(a.Run.Phases, func(p results.Phase) bool { return p.Dials > 0 })
	return reading{step, step}, read || step != 0
}

// quantity sums up one reading over the accepted runs of each arm.
func (b *builder) quantity(phase, name, unit string, low bool, read func(*attempt) (reading, bool)) Quantity {
	q := Quantity{Phase: phase, Name: name, Unit: unit}
	for _, arm := range b.s.Arms {
		r := Recorded{Arm: arm.Name}
		var all []reading
		for i := range b.blocks {
			a := b.blocks[i].runs[arm.Name]
			if a == nil || a.Run == nil {
				continue
			}
			r.Of++
			if x, ok := read(a); ok {
				all = append(all, x)
				r.take(x, low, a.Key.String())
			}
		}
		r.sum(all)
		q.Arms = append(q.Arms, r)
	}
	return q
}

// take keeps the worst run: the first one whose bad end lies furthest out.
func (r *Recorded) take(x reading, low bool, run string) {
	worse := math.Abs(x.worst) > math.Abs(r.Worst)
	if low {
		worse = x.worst < r.Worst
	}
	if r.Runs == 0 || worse {
		r.Worst, r.WorstRun = x.worst, run
	}
	r.Runs++
}

func (r *Recorded) sum(all []reading) {
	equal := true
	for _, x := range all {
		r.Mean += x.mean / float64(len(all))
		equal = equal && x == all[0] && x.mean == x.worst
	}
	if equal && len(all) > 0 {
		r.Mean, r.WorstRun = all[0].mean, "" // without rounding of the sum
	}
}

func (q *Quantity) recorded() bool {
	return slices.ContainsFunc(q.Arms, func(r Recorded) bool { return r.Runs > 0 })
}

func (b *builder) hasGPUs() bool {
	return slices.ContainsFunc(b.attempts, func(a *attempt) bool { return a.Environment != nil && len(a.Environment.GPUs) > 0 })
}

// gpuProblems names the first run of each reason why a GPU could not be looked at.
func (b *builder) gpuProblems() []string {
	var out, known []string
	for i := range b.blocks {
		for _, arm := range b.blocks[i].plan.Order {
			a := b.blocks[i].runs[arm]
			if a.Run == nil {
				continue
			}
			for _, p := range a.Run.Phases {
				if p.GPUProblem != "" && !slices.Contains(known, p.GPUProblem) {
					known = append(known, p.GPUProblem)
					out = append(out, fmt.Sprintf("GPUs, first in phase %s of %s: %s", p.Name, a.Key, p.GPUProblem))
				}
			}
		}
	}
	return out
}

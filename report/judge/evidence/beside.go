package evidence

import (
	"fmt"
	"math"
	"slices"

	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

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

// Beside sums up what stands beside the requests of the accepted runs.
func Beside(in *accept.Accepted) *view.Beside {
	if !in.Campaign.Complete || len(in.Blocks) == 0 {
		return nil
	}
	out := &view.Beside{}
	seen := map[string]bool{}
	probes := probes(in)
	for _, p := range in.Scenario.Phases {
		out.Quantities = append(out.Quantities, liveStreams(in, p)...)
		for _, one := range probes {
			q := quantityOf(in, p.Name, one.name, one.unit, one.low, func(a *accept.Run) (reading, bool) {
				if got := a.Phase(p.Name); got != nil {
					return one.read(got)
				}
				return reading{}, false
			})
			if wasRecorded(&q) {
				seen[one.group] = true
				out.Quantities = append(out.Quantities, q)
			}
		}
	}
	clock := quantityOf(in, "", groupClock, "s", false, readClock)
	if wasRecorded(&clock) {
		seen[groupClock] = true
		out.Quantities = append(out.Quantities, clock)
	}
	out.NotRecorded = slices.DeleteFunc(append(slices.Clone(besideGroups), groupClock), func(group string) bool {
		return seen[group] || group == groupGPU && !hasGPUs(in) || group == groupIdle && !in.Scenario.Design.Interleaved()
	})
	out.Problems = gpuProblems(in)
	return out
}

// liveStreams are the mean streams of a closed loop that were busy, up to the last
// send and up to the last token: throughput divides by the longer time, in which the
// last streams end one by one.
func liveStreams(in *accept.Accepted, p scenarios.Phase) []view.Quantity {
	if p.Arrival.Kind != scenarios.ArrivalClosed || p.Arrival.Streams < 2 {
		return nil
	}
	of := func(name string, pick func(accept.Live) float64) view.Quantity {
		return quantityOf(in, p.Name, name, "", true, func(a *accept.Run) (reading, bool) {
			x := pick(a.Live[p.Name])
			return reading{x, x}, x > 0
		})
	}
	return []view.Quantity{
		of("streams busy up to the last send", func(l accept.Live) float64 { return l.ToLastSend }),
		of("streams busy, drain included", func(l accept.Live) float64 { return l.ToLastToken }),
	}
}

// readClock: run.json leaves a step of zero out. The runs of every version that
// read the clock count their connections too.
func readClock(a *accept.Run) (reading, bool) {
	step := a.Run.ClockStep
	read := slices.ContainsFunc(a.Run.Phases, func(p results.Phase) bool { return p.Dials > 0 })
	return reading{step, step}, read || step != 0
}

// quantityOf sums up one reading over the accepted runs of each arm.
func quantityOf(in *accept.Accepted, phase, name, unit string, low bool, read func(*accept.Run) (reading, bool)) view.Quantity {
	q := view.Quantity{Phase: phase, Name: name, Unit: unit}
	for _, arm := range in.Scenario.Arms {
		r := view.Recorded{Arm: arm.Name}
		var all []reading
		for i := range in.Blocks {
			a := in.Blocks[i].Runs[arm.Name]
			if a == nil || a.Run == nil {
				continue
			}
			r.Of++
			if x, ok := read(a); ok {
				all = append(all, x)
				take(&r, x, low, a.Key.String())
			}
		}
		sum(&r, all)
		q.Arms = append(q.Arms, r)
	}
	return q
}

// take keeps the worst run: the first one whose bad end lies furthest out.
func take(r *view.Recorded, x reading, low bool, run string) {
	worse := math.Abs(x.worst) > math.Abs(r.Worst)
	if low {
		worse = x.worst < r.Worst
	}
	if r.Runs == 0 || worse {
		r.Worst, r.WorstRun = x.worst, run
	}
	r.Runs++
}

func sum(r *view.Recorded, all []reading) {
	equal := true
	for _, x := range all {
		r.Mean += x.mean / float64(len(all))
		equal = equal && x == all[0] && x.mean == x.worst
	}
	if equal && len(all) > 0 {
		r.Mean, r.WorstRun = all[0].mean, "" // without rounding of the sum
	}
}

func wasRecorded(q *view.Quantity) bool {
	return slices.ContainsFunc(q.Arms, func(r view.Recorded) bool { return r.Runs > 0 })
}

func hasGPUs(in *accept.Accepted) bool {
	return slices.ContainsFunc(in.Runs, func(a *accept.Run) bool { return a.Environment != nil && len(a.Environment.GPUs) > 0 })
}

// gpuProblems names the first run of each reason why a GPU could not be looked at.
func gpuProblems(in *accept.Accepted) []string {
	var out, known []string
	for i := range in.Blocks {
		for _, arm := range in.Blocks[i].Plan.Order {
			a := in.Blocks[i].Runs[arm]
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

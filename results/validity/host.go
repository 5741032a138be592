package validity

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// maxClockStep is by how many seconds the wall clock may leave the monotonic
// clock during a run. Time synchronisation slews it by 0.5 ms per second at
// most.
const maxClockStep = 0.5

// wallClock: phases are cut out of the step records, and log lines put into
// phases, by wall time.
func wallClock(s *subject) {
	if step := s.run.ClockStep; !(math.Abs(step) <= maxClockStep) { // also true for NaN
		s.add(finding(ruleWallClockStep, CauseHost, "the wall clock was set by %+.3f s during the run, at most %.1f s may be: phases are cut by wall time; stop time synchronisation by steps and repeat",
			step, maxClockStep))
	}
}

// foreignGPU: another process on a GPU takes memory, power and time from the
// server.
func foreignGPU(s *subject) {
	s.phases(func(plan scenarios.Phase, got *results.Phase) {
		var names []string
		for _, p := range got.ForeignGPU {
			if name := fmt.Sprintf("%d %s", p.PID, p.Name); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			s.add(finding(ruleForeignGPUProcess, CauseHost, "%d processes that are not the server's computed on a GPU beside phase %s (%s); none may: end them and repeat",
				len(names), plan.Name, strings.Join(names, ", ")).in(plan.Name))
		}
	})
}

// profiler: a server whose profiler ran once may stay slower; it is never
// measured.
func profiler(s *subject) {
	i := slices.IndexFunc(s.run.Server.LogFindings, func(l results.LogLine) bool { return l.Kind == results.LogProfiler })
	if i >= 0 {
		s.add(finding(ruleProfilerActive, CauseHarness, "the server's profiler was started: %s; no time of such a server counts, take windows from another start",
			s.run.Server.LogFindings[i].Text))
	}
}

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
		s.add(finding(ruleWallClockStep, CauseHost, "the wall clock was set by %+.3f s during the run and may be set by %.1f s at most, because phases are cut by wall time: stop time synchronisation by steps and repeat the block",
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
			s.add(finding(ruleForeignGPUProcess, CauseHost, "%s computed on a GPU beside phase %s (%s); no other process may compute there: end what is named and repeat the block",
				counted(len(names), "process that is not the server's", "processes that are not the server's"), plan.Name, strings.Join(names, ", ")).in(plan.Name))
		}
	})
}

// profiler: a server whose profiler ran once may stay slower; it is never
// measured.
func profiler(s *subject) {
	i := slices.IndexFunc(s.run.Server.LogFindings, func(l results.LogLine) bool { return l.Kind == results.LogProfiler })
	if i >= 0 {
		s.add(finding(ruleProfilerActive, CauseHarness, "the server's profiler was started: %s; a server that was profiled may stay slower, so its times do not count: take windows in a run of their own",
			s.run.Server.LogFindings[i].Text))
	}
}

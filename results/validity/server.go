package validity

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// serverExit: the server lives until it is asked to stop, and then stops.
func serverExit(s *subject) {
	if s.attached() {
		return
	}
	switch stop := s.run.Server.Stop; {
	case !stop.Requested:
		s.add(finding(ruleServerExit, CauseArm, "the server ended by itself (exit code %d%s); look at its log", stop.ExitCode, signal(stop)))
	case !stop.Graceful:
		s.add(finding(ruleServerExit, CauseArm, "the server did not stop within %.0f s of SIGINT and was killed; its step records may be cut", stop.Seconds))
	}
}

func signal(stop results.Stop) string {
	if stop.Signal == "" {
		return ""
	}
	return ", signal: " + stop.Signal
}

// proofs: vLLM shares its port with any other server that asks for it, so the
// only listening socket must be ours, before and after each timed phase.
func proofs(s *subject) {
	if s.attached() {
		return
	}
	seen := map[string]bool{}
	for _, p := range s.run.Server.Proofs {
		seen[p.When] = true
		if p.Listeners != 1 || p.Ours != 1 {
			s.add(finding(ruleForeignServer, CauseHost, "%s; there must be exactly one, and it must be ours: stop the other server",
				listeners(p, s.run.Server.Port)))
			return
		}
	}
	s.phases(func(plan scenarios.Phase, _ *results.Phase) {
		for _, when := range []string{plan.Name + ":before", plan.Name + ":after"} {
			if !seen[when] {
				s.add(finding(ruleUnprovenServer, CauseHarness, "the proof %q that the server is ours is missing; repeat the block", when).in(plan.Name))
			}
		}
	})
}

// listeners says which sockets listen on the server's port, and whose.
func listeners(p results.Proof, port int) string {
	place := fmt.Sprintf("port %d (%s)", port, p.When)
	if p.Detail != "" {
		place += ": " + p.Detail
	}
	switch p.Listeners {
	case 0:
		return "no socket listens on " + place
	case 1:
		return "a socket that is not ours listens on " + place
	}
	return fmt.Sprintf("%d sockets listen, %d of them ours, on %s", p.Listeners, p.Ours, place)
}

// lateJIT: a kernel compiled in a timed phase stops the engine for seconds.
// Burn-in blocks are there to take it.
func lateJIT(s *subject) {
	if s.run.BurnIn {
		return
	}
	s.phases(func(plan scenarios.Phase, got *results.Phase) {
		n, text := 0, ""
		for _, l := range s.run.Server.LogFindings {
			if l.Kind == results.LogJIT && got.TimedStartNS <= l.WallNS && l.WallNS <= got.TimedEndNS {
				n++
				text = l.Text
			}
		}
		if n > 0 {
			s.add(finding(ruleJITInTimedPhase, CauseHarness, "%s during the timed part of phase %s (last: %s); none may be compiled there: the warm-up must cover its shapes",
				counted(n, "kernel was compiled", "kernels were compiled"), plan.Name, text).in(plan.Name))
		}
	})
}

// serverLog: a traceback through the recorder, or a dying engine core, belongs
// to the arm. The recorder's warnings show in its own counters.
func serverLog(s *subject) {
	s.logLine(ruleRecorderTraceback, func(l results.LogLine) bool {
		return l.Kind == results.LogRecorder && !strings.Contains(strings.ToUpper(l.Text), "WARNING")
	})
	s.logLine(ruleEngineError, func(l results.LogLine) bool { return l.Kind == results.LogEngine })
}

// logLine reports the first line that matches.
func (s *subject) logLine(rule Rule, matches func(results.LogLine) bool) {
	if i := slices.IndexFunc(s.run.Server.LogFindings, matches); i >= 0 {
		s.add(finding(rule, CauseArm, "the server's log says: %s; see server.log.zst of the run", s.run.Server.LogFindings[i].Text))
	}
}

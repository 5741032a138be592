package validity

import (
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// Run applies the run-level rules to one run. An empty result means that the
// run is valid. Requests are all requests of the run, identity pass included;
// identity is nil where the run has no outputs.json.
//
// A run that ended early is judged by that and by what its requests and its log
// say: what is missing after the end follows from it.
func Run(plan *results.Plan, run *results.Run, requests []results.Request, identity *results.Identity) []Finding {
	s := &subject{scenario: &plan.Scenario, shapes: plan.ShapeSHA256, run: run, requests: requests, identity: identity}
	s.arm, s.planned = plan.Scenario.Arm(run.Key.Arm)
	rules := []func(*subject){unplannedArm, runFailed, requestsFailed, serverLog}
	if run.Failure == "" {
		rules = append(rules, phasesMissing, requestsUnsent, work, primaries,
			serverExit, proofs, wallClock, wrongModel, fingerprints, cachedTokens,
			recorderPresence, recorderRevision, stepChecks, droppedRecords, identityMissing)
	}
	if run.Failure == "" && plan.Scenario.Purpose != scenarios.Correctness {
		rules = append(rules, probeLag, sendLateness, concurrency, slicing, idleArm, stampsMixed, lateJIT, profiler, foreignGPU) // no time is reported without them
	}
	for _, rule := range rules {
		rule(s)
	}
	return s.found
}

// subject is the run under judgement.
type subject struct {
	scenario *scenarios.Scenario
	shapes   map[string]string // of the plan
	arm      scenarios.Arm
	planned  bool // the plan knows the arm
	run      *results.Run
	requests []results.Request
	identity *results.Identity
	found    []Finding
}

func (s *subject) add(f Finding) {
	f.Scope, f.Key, f.Arm = ScopeRun, s.run.Key, s.run.Key.Arm
	s.found = append(s.found, f)
}

func (s *subject) attached() bool { return !s.scenario.Engine.Kind.Capabilities().Starts }

// phases visits the phases that were planned and measured.
func (s *subject) phases(visit func(plan scenarios.Phase, got *results.Phase)) {
	for _, plan := range s.scenario.Phases {
		for i := range s.run.Phases {
			if s.run.Phases[i].Name == plan.Name {
				visit(plan, &s.run.Phases[i])
			}
		}
	}
}

func unplannedArm(s *subject) {
	if !s.planned {
		s.add(finding(ruleUnplannedArm, CauseHarness, "the plan has no arm %q: this run belongs to another campaign", s.run.Key.Arm))
	}
}

func runFailed(s *subject) {
	if s.run.Failure == "" {
		return
	}
	cause := CauseHarness
	switch s.run.FailureClass {
	case results.FailureEngine:
		cause = CauseArm
	case results.FailureRecorder:
		cause = CauseRecorder
	case results.FailureHost:
		cause = CauseHost
	}
	look := ""
	if !s.attached() { // whose log is someone else's
		look = "; see server.log.zst of the run"
	}
	s.add(finding(ruleRunFailed, cause, "the run ended early: %s%s", s.run.Failure, look).quoting(s.run.Failure))
}

func phasesMissing(s *subject) {
	for _, plan := range s.scenario.Phases {
		seen := 0
		for _, got := range s.run.Phases {
			if got.Name == plan.Name {
				seen++
			}
		}
		if seen != 1 {
			s.add(finding(rulePhaseMissing, CauseHarness, "phase %s must be measured once and was measured %d times; repeat the block", plan.Name, seen).in(plan.Name))
		}
	}
}

func identityMissing(s *subject) {
	want := s.scenario.Identity.Prompts
	switch {
	case want == 0:
	case s.identity == nil || s.run.Identity == nil:
		s.add(finding(ruleIdentityMissing, CauseHarness, "the identity pass is missing, %s planned; repeat the block", counted(want, "prompt was", "prompts were")))
	case len(s.identity.Tokens) != want || s.run.Identity.Prompts != want:
		s.add(finding(ruleIdentityMissing, CauseHarness, "the identity pass has %d of %d prompts; repeat the block", len(s.identity.Tokens), want))
	}
}

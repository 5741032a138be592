package validity

import (
	"maps"
	"strings"

	"github.com/aituner/opprof/scenarios"
)

// recorderPrefix begins the names of the variables that a recorder reads.
const recorderPrefix = "VLLM_OPPROF_"

// expectsEqual reports whether the arms of a comparison must give the same
// outputs: as identity.expect says, else if they differ in patch and recorder only.
// Other options may give other outputs by right. Two endpoints of an A/A are said to
// be equal; the options of a simulated engine stand for its patch.
func expectsEqual(s *scenarios.Scenario, c scenarios.Comparison) bool {
	if s.Identity.Expect != "" {
		return s.Identity.Expect == scenarios.ExpectEqual
	}
	if s.Engine.Kind.Capabilities().Simulated {
		return true
	}
	a, _ := s.Arm(c.Baseline)
	b, _ := s.Arm(c.Candidate)
	return (a.URL == b.URL || s.Purpose == scenarios.AA) &&
		maps.Equal(s.ArmArgs(a), s.ArmArgs(b)) && maps.Equal(withoutRecorder(s.ArmEnv(a)), withoutRecorder(s.ArmEnv(b)))
}

func withoutRecorder(env map[string]string) map[string]string {
	rest := maps.Clone(env)
	maps.DeleteFunc(rest, func(name, _ string) bool { return strings.HasPrefix(name, recorderPrefix) })
	return rest
}

// batchInvariant reports whether no batch changes an output in either arm of a
// comparison.
func batchInvariant(s *scenarios.Scenario, c scenarios.Comparison) bool {
	a, _ := s.Arm(c.Baseline)
	b, _ := s.Arm(c.Candidate)
	return s.ArmEnv(a)[scenarios.BatchInvariant] == "1" && s.ArmEnv(b)[scenarios.BatchInvariant] == "1"
}

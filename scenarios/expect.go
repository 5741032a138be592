package scenarios

import (
	"maps"
	"strings"
)

// Expectation is what is asked of the outputs of two arms.
type Expectation string

// The expectations. Without one, ExpectsEqual decides.
const (
	ExpectEqual  Expectation = "equal"  // a difference is a FAIL
	ExpectReport Expectation = "report" // differences are shown, and decide nothing
)

// recorderPrefix begins the names of the variables that a recorder reads.
const recorderPrefix = "VLLM_OPPROF_"

// batchInvariant makes vLLM use kernels whose result for a request does not depend on
// the others of its batch.
const batchInvariant = "VLLM_BATCH_INVARIANT"

// ExpectsEqual reports whether the arms of a comparison must give the same
// outputs: as identity.expect says, else if they differ in patch and recorder only.
// Other options may give other outputs by right. Two endpoints of an A/A are said to
// be equal; the options of a simulated engine stand for its patch.
func (s *Scenario) ExpectsEqual(c Comparison) bool {
	if s.Identity.Expect != "" {
		return s.Identity.Expect == ExpectEqual
	}
	if s.Engine.Kind.Capabilities().Simulated {
		return true
	}
	a, _ := s.Arm(c.Baseline)
	b, _ := s.Arm(c.Candidate)
	return (a.URL == b.URL || s.Purpose == AA) &&
		maps.Equal(s.ArmArgs(a), s.ArmArgs(b)) && maps.Equal(withoutRecorder(s.ArmEnv(a)), withoutRecorder(s.ArmEnv(b)))
}

func withoutRecorder(env map[string]string) map[string]string {
	rest := maps.Clone(env)
	maps.DeleteFunc(rest, func(name, _ string) bool { return strings.HasPrefix(name, recorderPrefix) })
	return rest
}

// BatchInvariant reports whether no batch changes an output in either arm of a
// comparison.
func (s *Scenario) BatchInvariant(c Comparison) bool {
	a, _ := s.Arm(c.Baseline)
	b, _ := s.Arm(c.Candidate)
	return s.ArmEnv(a)[batchInvariant] == "1" && s.ArmEnv(b)[batchInvariant] == "1"
}

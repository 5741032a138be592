package view

import "github.com/aituner/opprof/results/validity"

// Reason says in a few words what a result rests on other than its metrics. The
// rules of package validity are reasons too, with spaces for their hyphens.
type Reason string

// Reasons of a FAIL.
const (
	ReasonIdentity    Reason = "identity"    // outputs differ
	ReasonReliability Reason = "reliability" // only the candidate breaks
	// ReasonNotSensitive is of a positive control: a metric passes all the same.
	ReasonNotSensitive Reason = "not sensitive"
)

// Reasons of an INCONCLUSIVE, and of a PASS that is none of metrics.
const (
	ReasonStalls  Reason = "stalls"  // the candidate stalls more often
	ReasonAA      Reason = "A/A"     // the required A/A did not show equality
	ReasonChecks  Reason = "checks"  // a correctness campaign
	ReasonControl Reason = "control" // a positive control that is noticed
)

// Reasons of an INVALID that the report finds beside the rules.
const (
	ReasonDamaged         Reason = "damaged"               // what the files say was not planned, or cannot have been measured
	ReasonDamagedRun      Reason = "damaged run"           // its files are not what was sealed
	ReasonRecomputation   Reason = "recomputation differs" // a stored number is not what its data give
	ReasonStepsUnreadable Reason = "step files unreadable"
	ReasonTwoAccepted     Reason = "two accepted attempts"
	ReasonIncomplete      Reason = "incomplete block"
	ReasonOrder           Reason = "order differs from plan"
	ReasonBlocksMissing   Reason = "valid blocks missing"
	ReasonSpansHosts      Reason = "block spans hosts"
	ReasonHostTooSmall    Reason = "host group too small"
	ReasonSoftware        Reason = "software differs"
	ReasonPilot           Reason = "pilot differs"
	ReasonExtension       Reason = "extension"
	ReasonLookMissing     Reason = "look missing"
	ReasonLookIgnored     Reason = "look ignored"
	ReasonLookUnplanned   Reason = "look unplanned"
	ReasonAAFailed        Reason = "A/A failed"
	ReasonAAMissing       Reason = "A/A missing"
	ReasonUnbalanced      Reason = "unbalanced order"
	ReasonProbeLag        Reason = "probe lag"
	ReasonBias            Reason = "bias" // equal arms differ
	ReasonNotApplied      Reason = "control not applied"
	ReasonValueMissing    Reason = "value missing"
	ReasonZeroVariance    Reason = "zero variance"
	ReasonNotAnalysable   Reason = "not analysable"
	ReasonTooFewBlocks    Reason = "too few blocks"
)

// NewInRules3 reports whether analysis rules 1 and 2 did not know a reason: a
// campaign that has it may have been judged otherwise under them.
func NewInRules3(r Reason) bool {
	switch r {
	case ReasonDamaged, Reason(validity.RuleWork.Words()):
		return true
	}
	return false
}

// rank is the place of a reason among those of an INVALID: where files are not what
// was measured, nothing else that they say counts.
func (r Reason) rank() int {
	switch r {
	case ReasonDamaged, ReasonDamagedRun:
		return 0
	}
	return 2
}

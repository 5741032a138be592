package view

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
	ReasonBatch Reason = "outputs in batch" // they differ more between the arms than within the baseline
	// ReasonUnadjusted is of a FAIL, too: a metric costs more than the margin by its
	// own bound, and the number of metrics that were asked explains it.
	ReasonUnadjusted Reason = "unadjusted"
	ReasonStalls     Reason = "stalls"  // the candidate stalls more often
	ReasonAA         Reason = "A/A"     // the required A/A did not show equality
	ReasonChecks     Reason = "checks"  // a correctness campaign
	ReasonControl    Reason = "control" // a positive control: noticed, or not shown
)

// Reasons of an INVALID that the report finds beside the rules.
const (
	ReasonDamaged    Reason = "damaged"     // what the files say was not planned, or cannot have been measured
	ReasonDamagedRun Reason = "damaged run" // its files are not what was sealed
	// ReasonSelection: runs may have been chosen; as that of an INCONCLUSIVE, the verdict
	// hangs on runs that do not count.
	ReasonSelection       Reason = "selection"
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

// rank is the place of a reason among those of an INVALID: where files are not what
// was measured, nothing else that they say counts; where runs were chosen, nothing that
// the others give.
func (r Reason) rank() int {
	switch r {
	case ReasonDamaged, ReasonDamagedRun:
		return 0
	case ReasonSelection:
		return 1
	}
	return 2
}

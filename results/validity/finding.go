// Package validity judges whether what a run directory holds may be analysed at
// all. It is the one place that knows the INVALID rules: pure functions from
// records to findings, used by the harness right after a run (is the block to
// be repeated?) and by the report, years later, on the same files.
//
// Rules that need statistics of effects (bias, probe lag between arms) are the
// report's.
package validity

import (
	"fmt"

	"github.com/aituner/opprof/results"
)

// Scope is what a finding makes INVALID.
type Scope string

// The scopes of a finding.
const (
	ScopeRun        Scope = "run"        // the run, and with it its block
	ScopePair       Scope = "pair"       // the comparison, seen in the two runs of one block
	ScopeComparison Scope = "comparison" // the comparison, seen over all its runs
)

// Cause says whose fault it is. Only CauseArm counts for FAIL(reliability):
// engine exit, recorder traceback, failed requests.
type Cause string

// The causes of a finding.
const (
	CauseArm      Cause = "arm"
	CauseRecorder Cause = "recorder" // the step records are missing or wrong
	CauseClient   Cause = "client"   // the load generator
	CauseHost     Cause = "host"     // the machine, or another server on it
	CauseHarness  Cause = "harness"  // the plan, or this tool
)

// Finding is one reason why something is INVALID.
type Finding struct {
	Rule   Rule        `json:"rule"`
	Scope  Scope       `json:"scope"`
	Key    results.Key `json:"key,omitzero"` // run; for a pair the candidate's
	Arm    string      `json:"arm,omitempty"`
	Phase  string      `json:"phase,omitempty"`
	Metric string      `json:"metric,omitempty"`
	Cause  Cause       `json:"cause"`
	// Message says what was seen, the limit, and what to do.
	Message string `json:"message"`
	// Said is what a server or the system said, where the message only repeats it:
	// findings of one run with the same words have one cause.
	Said string `json:"said,omitempty"`
	// First is the finding of a run that one of several runs begins with
	// (reliability).
	First *Finding `json:"first,omitempty"`
}

func (f Finding) in(phase string) Finding {
	f.Phase = phase
	return f
}

func (f Finding) of(metric string) Finding {
	f.Metric = metric
	return f
}

func (f Finding) quoting(said string) Finding {
	f.Said = said
	return f
}

// counted is a number with its noun.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func finding(rule Rule, cause Cause, format string, args ...any) Finding {
	return Finding{Rule: rule, Cause: cause, Message: fmt.Sprintf(format, args...)}
}

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

// The scopes of a finding: what it makes INVALID.
const (
	ScopeRun        = "run"        // the run, and with it its block
	ScopePair       = "pair"       // the comparison, seen in the two runs of one block
	ScopeComparison = "comparison" // the comparison, seen over all its runs
)

// The causes of a finding: whose fault it is. Only CauseArm counts for
// FAIL(reliability): engine exit, recorder traceback, failed requests.
const (
	CauseArm      = "arm"
	CauseRecorder = "recorder" // the step records are missing or wrong
	CauseClient   = "client"   // the load generator
	CauseHost     = "host"     // the machine, or another server on it
	CauseHarness  = "harness"  // the plan, or this tool
)

// Finding is one reason why something is INVALID.
type Finding struct {
	Rule   string      `json:"rule"` // kebab-case, see README.md
	Scope  string      `json:"scope"`
	Key    results.Key `json:"key,omitzero"` // run; for a pair the candidate's
	Arm    string      `json:"arm,omitempty"`
	Phase  string      `json:"phase,omitempty"`
	Metric string      `json:"metric,omitempty"`
	Cause  string      `json:"cause"`
	// Message says what was seen, the limit, and what to do.
	Message string `json:"message"`
}

func (f Finding) in(phase string) Finding {
	f.Phase = phase
	return f
}

func (f Finding) of(metric string) Finding {
	f.Metric = metric
	return f
}

func finding(rule, cause, format string, args ...any) Finding {
	return Finding{Rule: rule, Cause: cause, Message: fmt.Sprintf(format, args...)}
}

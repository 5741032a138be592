package view

import (
	"github.com/aituner/opprof/report/stat"
)

// Result is a verdict and, where it does not rest on the metrics alone, why:
// INVALID(probe lag). The zero value is that of what was not judged.
type Result struct {
	Verdict stat.Verdict `json:"verdict,omitempty"`
	Reason  Reason       `json:"reason,omitempty"`
	// Text is String() for those who read JSON by eye. It is ignored on reading.
	Text string `json:"result,omitempty"`
}

// NewResult makes a result with its text; reason may be empty.
func NewResult(v stat.Verdict, reason Reason) Result {
	r := Result{Verdict: v, Reason: reason}
	r.Text = r.String()
	return r
}

// String is the verdict with its reason in parentheses.
func (r Result) String() string {
	if r.Reason == "" {
		return string(r.Verdict)
	}
	return string(r.Verdict) + "(" + string(r.Reason) + ")"
}

// Is reports whether the result has this verdict for this reason.
func (r Result) Is(v stat.Verdict, reason Reason) bool { return r.Verdict == v && r.Reason == reason }

// unfinished is the headline of a campaign without a verdict.
const Unfinished = "UNFINISHED"

// Headline is the result of the campaign, or UNFINISHED.
func (v *View) Headline() string {
	if !v.Finished {
		return Unfinished
	}
	return v.Result.String()
}

// Nothing reports whether a campaign ended without a valid block: there are no
// numbers to show.
func (v *View) Nothing() bool { return v.Finished && v.Blocks.Valid == 0 }

// Exit codes that go with a view.
const (
	ExitPass         = 0
	ExitFail         = 10
	ExitInconclusive = 11
	ExitInvalid      = 12
	ExitUnfinished   = 14
	// ExitUnderpowered is of aa and power: what was to be shown, or planned, is
	// more than the blocks can carry.
	ExitUnderpowered = 12
)

// ExitCodeOf is that of a verdict; one that does not exist is INVALID.
func ExitCodeOf(v stat.Verdict) int {
	switch v {
	case stat.Pass:
		return ExitPass
	case stat.Fail:
		return ExitFail
	case stat.Inconclusive:
		return ExitInconclusive
	}
	return ExitInvalid
}

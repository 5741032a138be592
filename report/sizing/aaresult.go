package sizing

import (
	"fmt"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
)

// equalRank orders the statements, the worst last: INVALID outranks BIAS, BIAS
// outranks UNDERPOWERED, UNDERPOWERED outranks INCONCLUSIVE: equal on average, but
// one arm stalls more often, which no number of blocks takes away.
func equalRank(r view.Result) int {
	for rank, v := range []stat.Verdict{view.Equal, stat.Inconclusive, view.Underpowered, view.Bias} {
		if r.Verdict == v {
			return rank
		}
	}
	return 4
}

// concludePair joins the metrics of a comparison.
func concludePair(c *view.EqualArms) {
	c.Result = view.NewResult(view.Equal, "")
	if c.Stalls != "" {
		c.Result = view.NewResult(stat.Inconclusive, view.ReasonStalls)
	}
	if c.Outputs != "" {
		c.Result = view.NewResult(stat.Inconclusive, view.ReasonBatch)
	}
	for _, m := range c.Metrics {
		if equalRank(m.Result) > equalRank(c.Result) {
			c.Result = m.Result
		}
	}
	if len(c.Reasons) > 0 {
		c.Result = view.NewResult(stat.Invalid, c.Reasons[0].Name)
	}
}

// equalExits are the exit codes of the statements.
var equalExits = map[stat.Verdict]int{view.Equal: view.ExitPass, stat.Inconclusive: view.ExitInconclusive, view.Underpowered: view.ExitUnderpowered, view.Bias: view.ExitInvalid, stat.Invalid: view.ExitInvalid}

// concludeAA joins the comparisons.
func concludeAA(e *view.Equality) {
	e.Result = view.NewResult(view.Equal, "")
	for _, c := range e.Comparisons {
		if equalRank(c.Result) > equalRank(e.Result) {
			e.Result = c.Result
		}
	}
	e.ExitCode = equalExits[e.Verdict]
	e.Sentence = equalClaim(e) + fmt.Sprintf(". %s.", view.Plural(e.Blocks.Valid, "block", "blocks"))
	if e.Simulated {
		e.Sentence = "Simulated engine, not vLLM: " + e.Sentence
	}
}

func equalClaim(e *view.Equality) string {
	margin := view.Plain(e.Subject.MarginPct)
	equal, of := countOf(e, view.Equal)
	all := view.Plural(of, "primary metric", "primary metrics")
	if e.Verdict == view.Underpowered && equal == 0 {
		return fmt.Sprintf("Equal arms are not shown to be equal within %s %% on any of %s: the data are too noisy", margin, all)
	}
	switch e.Verdict {
	case view.Equal:
		return fmt.Sprintf("Equal arms are equal within %s %% on %s", margin, view.AllOf(of, "primary metric", "primary metrics"))
	case stat.Inconclusive:
		if e.Reason == view.ReasonSelection {
			return fmt.Sprintf("Equal arms are equal within %s %% on %d of %s; on the others that rests on which attempts count, of those that were aborted or void", margin, equal, all)
		}
		if e.Reason == view.ReasonBatch {
			return fmt.Sprintf("Equal arms are equal within %s %% on every primary metric, but their timed outputs differ more than those of one arm do", margin)
		}
		return fmt.Sprintf("Equal arms are equal within %s %% on every primary metric, but one stalls more often", margin)
	case view.Underpowered:
		return fmt.Sprintf("Equal arms are equal within %s %% on %d of %s; for the others the data are too noisy to say so", margin, equal, all)
	case view.Bias:
		n, _ := countOf(e, view.Bias)
		return fmt.Sprintf("Equal arms differ on %d of %s: this set-up favours one arm over the other, even if both run the same", n, all)
	}
	return "Nothing can be said about this set-up: " + whyInvalid(e)
}

// countOf returns how many metrics have a statement, of how many.
func countOf(e *view.Equality, v stat.Verdict) (n, of int) {
	for _, c := range e.Comparisons {
		of += len(c.Metrics)
		for _, m := range c.Metrics {
			if m.Verdict == v {
				n++
			}
		}
	}
	return n, of
}

// whyInvalid is the first reason for which something is INVALID.
func whyInvalid(e *view.Equality) string {
	for _, c := range e.Comparisons {
		if len(c.Reasons) > 0 {
			return c.Reasons[0].String()
		}
		for _, m := range c.Metrics {
			if m.Verdict == stat.Invalid {
				return m.Label + ", " + m.Phase + ": " + m.Why
			}
		}
	}
	return "nothing was judged"
}

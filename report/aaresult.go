package report

import "fmt"

// Statements about equal arms. UNDERPOWERED: the data are too noisy to show
// equality, and more blocks would help. INCONCLUSIVE: equal on average, but one
// arm stalls more often, which no number of blocks takes away.
const (
	resultEqual        = "EQUAL"
	resultStalls       = "INCONCLUSIVE(stalls)"
	resultUnderpowered = "UNDERPOWERED"
	resultBias         = "BIAS"
)

// conclude joins the metrics: INVALID outranks BIAS, BIAS outranks UNDERPOWERED,
// UNDERPOWERED outranks INCONCLUSIVE.
func (e *EqualArms) conclude() {
	e.Result = resultEqual
	if e.Stalls != "" {
		e.Result = resultStalls
	}
	for _, m := range e.Metrics {
		if equalRank(m.Result) > equalRank(e.Result) {
			e.Result = m.Result
		}
	}
	if len(e.Reasons) > 0 {
		e.Result = "INVALID(" + e.Reasons[0].Name + ")"
	}
}

// Ranks of a result, worst last.
const (
	rankEqual = iota
	rankStalls
	rankUnderpowered
	rankBias
	rankInvalid
)

func equalRank(result string) int {
	rank, known := map[string]int{
		resultEqual: rankEqual, resultStalls: rankStalls, resultUnderpowered: rankUnderpowered, resultBias: rankBias,
	}[result]
	if !known {
		return rankInvalid
	}
	return rank
}

// count returns how many metrics have a result, of how many.
func (e *Equality) count(result string) (n, of int) {
	for _, c := range e.Comparisons {
		of += len(c.Metrics)
		for _, m := range c.Metrics {
			if m.Result == result {
				n++
			}
		}
	}
	return n, of
}

func (e *Equality) conclude() {
	e.Result = resultEqual
	for _, c := range e.Comparisons {
		if equalRank(c.Result) > equalRank(e.Result) {
			e.Result = c.Result
		}
	}
	e.ExitCode = []int{ExitPass, ExitInconclusive, ExitUnderpowered, ExitInvalid, ExitInvalid}[equalRank(e.Result)]
	e.Sentence = e.claim() + fmt.Sprintf(". %s.", plural(e.Blocks.Valid, "block", "blocks"))
	if e.Simulated {
		e.Sentence = "Simulated engine, not vLLM: " + e.Sentence
	}
}

func (e *Equality) claim() string {
	margin := plainNumber(e.Subject.MarginPct)
	equal, of := e.count(resultEqual)
	switch equalRank(e.Result) {
	case rankEqual:
		return fmt.Sprintf("Equal arms are equal within %s %% on all %s", margin, plural(of, "primary metric", "primary metrics"))
	case rankStalls:
		return fmt.Sprintf("Equal arms are equal within %s %% on every primary metric, but one stalls more often", margin)
	case rankUnderpowered:
		return fmt.Sprintf("Equal arms are equal within %s %% on %d of %s; on the others the data are too noisy to say so",
			margin, equal, plural(of, "primary metric", "primary metrics"))
	case rankBias:
		n, _ := e.count(resultBias)
		return fmt.Sprintf("Equal arms differ on %d of %s: this set-up favours one of them, whatever runs in it",
			n, plural(of, "primary metric", "primary metrics"))
	}
	return "Nothing can be said about this set-up: " + e.whyInvalid()
}

// whyInvalid is the first reason for which something is INVALID.
func (e *Equality) whyInvalid() string {
	for _, c := range e.Comparisons {
		if len(c.Reasons) > 0 {
			return c.Reasons[0].String()
		}
		for _, m := range c.Metrics {
			if equalRank(m.Result) == rankInvalid {
				return m.Label + ", " + m.Phase + ": " + m.Why
			}
		}
	}
	return "nothing was judged"
}

package stat

import "math"

// Verdict is the answer for one phase × metric, or for a campaign.
type Verdict string

// The verdicts. INCONCLUSIVE isn't a pass: the data neither exclude nor show a
// loss of the margin.
const (
	Pass         Verdict = "PASS"
	Fail         Verdict = "FAIL"
	Inconclusive Verdict = "INCONCLUSIVE"
	Invalid      Verdict = "INVALID"
)

// MinBlocks is the smallest number of blocks that is judged. With five the order
// can't be balanced and rank and sign intervals of the stated level don't exist.
const MinBlocks = 6

// Judge compares the bounds with the margin, both on the scale of d and neither
// rounded: PASS if U < margin, FAIL if L > margin, both strictly, else
// INCONCLUSIVE. Zero variance, fewer than MinBlocks blocks and a margin that
// isn't a positive number are INVALID.
func Judge(e Estimate, margin float64) Verdict {
	if e.N < MinBlocks {
		return Invalid
	}
	return judge(e, margin)
}

// judge is Judge without the lower limit on blocks, which leaving one out breaks.
func judge(e Estimate, margin float64) Verdict {
	usable := margin > 0 && !math.IsInf(margin, 1) && e.L <= e.U
	switch {
	case e.ZeroVariance || e.N < 2 || !usable:
		return Invalid
	case e.U < margin:
		return Pass
	case e.L > margin:
		return Fail
	}
	return Inconclusive
}

// Conditions are the facts beside the metrics that bear on the overall verdict.
type Conditions struct {
	IdentityFailed    bool // the candidate's outputs differ
	ReliabilityFailed bool // the candidate breaks and the baseline doesn't
	Invalid           bool // a finding voids the campaign or a comparison
	Stalls            bool // StallTest below StallAlpha, or OutputsTest below BatchAlpha
}

// Overall joins the verdicts of all primary metrics. They must all pass, so no
// correction for their number is needed (intersection-union test). FAIL outranks
// INVALID; nothing judged is INVALID, and so is a verdict that it doesn't know.
func Overall(metrics []Verdict, c Conditions) Verdict {
	seen := map[Verdict]int{}
	for _, v := range metrics {
		seen[v]++
	}
	known := seen[Pass] + seen[Fail] + seen[Inconclusive]
	switch {
	case seen[Fail] > 0 || c.IdentityFailed || c.ReliabilityFailed:
		return Fail
	case c.Invalid || len(metrics) == 0 || known < len(metrics):
		return Invalid
	case seen[Inconclusive] > 0 || c.Stalls:
		return Inconclusive
	}
	return Pass
}

package stat

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// StallAlpha is the p value below which stalls keep a campaign from passing.
const StallAlpha = 0.01

// StallTest asks whether the candidate stalls more often than the baseline: the
// one-sided binomial P(X ≥ xc) of xc+xb events of which each falls to the
// candidate with probability tc/(tc+tb). xc and xb are stall events over all
// valid runs, tc and tb the timed seconds. It is apart from the intervals because
// rare stalls defeat every interval of a mean and averages hide them.
func StallTest(xc, xb int, tc, tb float64) (p float64, err error) {
	if xc < 0 || xb < 0 {
		return 0, fmt.Errorf("stalls: %d and %d events: counts can't be negative", xc, xb)
	}
	if !(tc > 0 && tb > 0) || math.IsInf(tc+tb, 1) {
		return 0, fmt.Errorf("stalls: timed seconds %g and %g must be finite and above zero", tc, tb)
	}
	if xc == 0 {
		return 1, nil
	}
	b := distuv.Binomial{N: float64(xc + xb), P: tc / (tc + tb)}
	return twelveDigits(b.Survival(float64(xc - 1))), nil
}

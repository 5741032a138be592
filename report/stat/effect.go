package stat

import (
	"fmt"
	"math"
)

// Direction says which way a metric gets better. The zero value is invalid, so
// that a forgotten direction can't pass for a declared one.
type Direction int

// The directions of a metric: times are LowerIsBetter, throughput is
// HigherIsBetter.
const (
	LowerIsBetter Direction = iota + 1
	HigherIsBetter
)

// String returns "lower", "higher" or "undeclared".
func (dir Direction) String() string {
	switch dir {
	case LowerIsBetter:
		return "lower"
	case HigherIsBetter:
		return "higher"
	}
	return "undeclared"
}

// LogRatio returns the effect d of one block: ln(candidate/baseline), negated
// for HigherIsBetter, so that positive is always worse. Both values must be
// finite and above zero and share one unit, which cancels.
func LogRatio(baseline, candidate float64, dir Direction) (float64, error) {
	if dir != LowerIsBetter && dir != HigherIsBetter {
		return 0, fmt.Errorf("log ratio: direction %d is not declared: say lower or higher is better", int(dir))
	}
	if err := positive("baseline", baseline); err != nil {
		return 0, err
	}
	if err := positive("candidate", candidate); err != nil {
		return 0, err
	}
	worse, better := candidate, baseline
	if dir == HigherIsBetter {
		worse, better = baseline, candidate
	}
	if ratio := worse / better; ratio == 0 || math.IsInf(ratio, 1) {
		return 0, fmt.Errorf("log ratio: %g and %g are too far apart to be two runs of one metric: check the units", baseline, candidate)
	}
	return ln(wide(worse), wide(better)), nil
}

func positive(name string, x float64) error {
	if x > 0 && !math.IsInf(x, 1) {
		return nil
	}
	return fmt.Errorf("log ratio: %s value %g must be finite and above zero: the run is invalid", name, x)
}

// Margin turns the accepted loss, a fraction of the baseline such as 0.03, into
// the scale of d: ln(1+f) for times, −ln(1−f) for throughput. It returns NaN,
// which Judge reads as INVALID, if the fraction isn't in (0, 1) or the direction
// is undeclared.
func Margin(fraction float64, dir Direction) float64 {
	if !(fraction > 0 && fraction < 1) {
		return math.NaN()
	}
	switch dir {
	case LowerIsBetter:
		return ln(wide(1).Add(wide(1), wide(fraction)), wide(1))
	case HigherIsBetter:
		return ln(wide(1), wide(1).Sub(wide(1), wide(fraction)))
	}
	return math.NaN()
}

// Percent turns d into the percentage that a report shows, positive is worse:
// 100(e^d − 1) is the rise of a time, 100(1 − e^−d) the loss of throughput, both
// to twelve digits. It is NaN for an undeclared direction.
func Percent(d float64, dir Direction) float64 {
	switch dir {
	case LowerIsBetter:
		return twelveDigits(100 * math.Expm1(d))
	case HigherIsBetter:
		return twelveDigits(-100 * math.Expm1(-d))
	}
	return math.NaN()
}

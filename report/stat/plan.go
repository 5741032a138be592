package stat

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// mostBlocks is where the planner gives up: nobody runs a million blocks.
const mostBlocks = 1_000_000

// Power returns the probability that the upper t bound with one-sided error
// alpha lies below the margin, if d has mean theta and standard deviation sd. The
// bootstrap bound of the gate costs a little more: see README.md.
func Power(n int, sd, margin, theta, alpha float64) (float64, error) {
	if err := checkPlan(sd, margin, theta, alpha); err != nil {
		return 0, err
	}
	if n < 2 {
		return 0, fmt.Errorf("power: %d blocks: need at least 2", n)
	}
	return power(n, (margin-theta)/sd, alpha), nil
}

// power is exact: √n(M−d̄)/s has a noncentral t distribution. Beyond a
// noncentrality of 35, before its series underflows, only the spread of s is left
// to matter (error below 0.0002).
func power(n int, effect, alpha float64) float64 {
	df := float64(n - 1)
	shift := math.Sqrt(float64(n)) * effect
	critical := tQuantile(alpha, df)
	if math.Abs(shift) < 35 {
		// The series can leave [0, 1] by a rounding.
		return min(1, max(0, 1-distuv.NoncentralT{Nu: df, Mu: shift}.CDF(critical)))
	}
	if shift < 0 {
		return 0
	}
	return distuv.ChiSquared{K: df}.CDF(df * (shift / critical) * (shift / critical))
}

func checkPlan(sd, margin, theta, alpha float64) error {
	for _, x := range []float64{sd, margin, theta} {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("planner: standard deviation %g, margin %g and effect %g must be finite", sd, margin, theta)
		}
	}
	if sd <= 0 {
		return fmt.Errorf("planner: standard deviation %g must be above zero", sd)
	}
	return checkAlpha("planner", alpha)
}

// BlocksNeeded returns the smallest number of blocks with which a true effect
// theta passes with the given power; sd is the standard deviation of d, and
// margin, theta and sd are on its scale. It starts from
// ((z_α+z_power)·sd/(margin−theta))² + z_α²/2 and corrects by the exact power. A
// plan rounds it up to an even number of at least MinBlocks.
func BlocksNeeded(sd, margin, theta, alpha, wanted float64) (int, error) {
	if err := checkPlan(sd, margin, theta, alpha); err != nil {
		return 0, err
	}
	if !(wanted > alpha && wanted < 1) {
		return 0, fmt.Errorf("planner: power %g must lie between alpha %g and 1", wanted, alpha)
	}
	if theta >= margin {
		return 0, fmt.Errorf("planner: an effect of %g isn't below the margin %g: no number of blocks makes it pass", theta, margin)
	}
	effect := (margin - theta) / sd
	z := distuv.UnitNormal.Quantile(1 - alpha)
	guess := math.Pow((z+distuv.UnitNormal.Quantile(wanted))/effect, 2) + float64(z*z/2)
	if guess > mostBlocks {
		return 0, fmt.Errorf("planner: more than %d blocks needed: reduce the noise", mostBlocks)
	}
	n := max(2, int(guess))
	for n > 2 && power(n-1, effect, alpha) >= wanted {
		n--
	}
	for power(n, effect, alpha) < wanted {
		n++
	}
	return n, nil
}

// SDUpperFactor returns the factor by which a standard deviation found in n
// blocks is multiplied to get its upper 80 % confidence limit:
// √((n−1)/χ²(0.2; n−1)). It is NaN below two blocks.
func SDUpperFactor(n int) float64 {
	if n < 2 {
		return math.NaN()
	}
	df := float64(n - 1)
	return math.Sqrt(df / distuv.ChiSquared{K: df}.Quantile(0.2))
}

// TightestMargin returns the smallest margin, on the scale of d, that the data
// would not contradict: PASS holds for every larger one. It is U.
func TightestMargin(e Estimate) float64 { return e.U }

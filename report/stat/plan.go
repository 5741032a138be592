package stat

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// mostBlocks is where the planner gives up: nobody runs a million blocks.
const mostBlocks = 1_000_000

// Rule is how a gate bounds an effect: the one-sided error of each bound, and whether
// effects are adjusted for order.
type Rule struct {
	Alpha   float64
	ByOrder bool
}

// GatePower returns the probability that the gate passes a metric: both upper bounds
// lie below the margin, if d is normal with mean theta and standard deviation sd. That
// of the t bound is exact; what the bootstrap takes away from it is simulated (12 000
// campaigns up to twelve blocks, 3 000 above, whose standard error is at most 0.4 points,
// none from MostForecast on). Fewer than MinBlocks never pass.
func GatePower(n int, sd, margin, theta float64, rule Rule) (float64, error) {
	if err := checkPlan(sd, margin, theta, rule.Alpha); err != nil {
		return 0, err
	}
	if n < MinBlocks { // not judged
		return 0, nil
	}
	effect := (margin - theta) / sd
	if n > MostForecast {
		return power(n, effect, rule.Alpha), nil
	}
	f := forecastOfOne(n, rule)
	return max(0, powerOf(n, f.df, effect, f.alphaT)-f.refused(effect)), nil
}

// GateBlocksNeeded returns the smallest plan with which a true effect theta passes the
// gate with the given power. size rounds a number of blocks up to one that a plan can
// have.
func GateBlocksNeeded(sd, margin, theta float64, rule Rule, wanted float64, size func(int) int) (int, error) {
	least, err := BlocksNeeded(sd, margin, theta, rule.Alpha, wanted)
	if err != nil {
		return 0, err
	}
	for n := size(max(least, MinBlocks)); ; n = size(n + 1) {
		if n > MostForecast {
			return n, nil
		}
		if p, err := GatePower(n, sd, margin, theta, rule); err != nil || p >= wanted {
			return n, err
		}
	}
}

// MostForecast is the number of blocks above which the bootstrap costs less than can be
// told.
const MostForecast = 200

// power is the probability that Student's upper bound passes: exact, since √n(M−d̄)/s has
// a noncentral t distribution. Beyond a
// noncentrality of 35, before its series underflows, only the spread of s is left
// to matter (error below 0.0002).
func power(n int, effect, alpha float64) float64 { return powerOf(n, float64(n-1), effect, alpha) }

func powerOf(n int, df, effect, alpha float64) float64 {
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

// SpreadUpper returns the spread that a plan should reckon with: the upper 80 %
// confidence limit of a standard deviation that n blocks gave, or, if it is larger, the
// upper 80 % prediction limit of the next campaign's, from this one and what earlier
// campaigns of the host gave (their logarithms taken as normal): hosts differ more
// between campaigns than one campaign can tell.
func SpreadUpper(sd float64, n int, earlier []float64) float64 {
	own := sd * SDUpperFactor(n)
	if len(earlier) == 0 || !(sd > 0) {
		return own
	}
	logs := []float64{math.Log(sd)}
	for _, x := range earlier {
		logs = append(logs, math.Log(x))
	}
	p := single(logs)
	k := float64(len(logs))
	next := math.Exp(p.mean + float64(tQuantile(0.2, k-1)*p.sd*math.Sqrt(1+1/k)))
	return max(own, next)
}

// TightestMargin returns the smallest margin, on the scale of d, that the data
// would not contradict: PASS holds for every larger one. It is U.
func TightestMargin(e Estimate) float64 { return e.U }

package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
)

// Bootstrap intervals of statistics that the product has no use for, on data sets
// with published values: they check how resamples become intervals.

var (
	lsat = []float64{576, 635, 558, 578, 666, 580, 555, 661, 651, 605, 653, 575, 545, 572, 594}
	gpa  = []float64{3.39, 3.30, 2.81, 3.03, 3.44, 3.07, 3.00, 3.43, 3.36, 3.13, 3.12, 2.74, 2.76, 2.88, 2.96}
)

func correlation(x, y []float64) float64 {
	n := float64(len(x))
	var mx, my, xy, xx, yy float64
	for i := range x {
		mx += x[i] / n
		my += y[i] / n
	}
	for i := range x {
		xy += (x[i] - mx) * (y[i] - my)
		xx += (x[i] - mx) * (x[i] - mx)
		yy += (y[i] - my) * (y[i] - my)
	}
	return xy / math.Sqrt(xx*yy)
}

// jackknife returns the values with one point left out, less their mean, and that
// mean.
func jackknife(n int, statistic func(leave int) float64) (dev []float64, mean float64) {
	for i := range n {
		v := statistic(i)
		dev = append(dev, v)
		mean += v / float64(n)
	}
	for i := range dev {
		dev[i] = mean - dev[i]
	}
	return dev, mean
}

func accelerationOf(dev []float64) float64 {
	var squares, cubes float64
	for _, e := range dev {
		squares += e * e
		cubes += e * e * e
	}
	return cubes / (6 * math.Pow(squares, 1.5))
}

func leaveOut(x, y []float64) func(int) float64 {
	return func(i int) float64 { return correlation(without(x, i), without(y, i)) }
}

// resampled is a statistic with its sorted resamples and its acceleration: what
// the 90 % intervals of others need.
type resampled struct {
	sorted                 []float64
	estimate, acceleration float64
}

// resampleOf draws indices below n; a resample without a value of the statistic is
// left out.
func resampleOf(n int, statistic func(draw []int) float64) resampled {
	r := rand.New(rand.NewPCG(15, 1))
	draw := make([]int, n)
	for i := range draw {
		draw[i] = i
	}
	out := resampled{estimate: statistic(draw)}
	dev, _ := jackknife(n, func(leave int) float64 { return statistic(slices.Delete(slices.Clone(draw), leave, leave+1)) })
	out.acceleration = accelerationOf(dev)
	for range 100_000 {
		for i := range draw {
			draw[i] = r.IntN(n)
		}
		if x := statistic(draw); !math.IsNaN(x) {
			out.sorted = append(out.sorted, x)
		}
	}
	slices.Sort(out.sorted)
	return out
}

func drawn(x []float64, draw []int) []float64 {
	out := make([]float64, len(draw))
	for i, k := range draw {
		out[i] = x[k]
	}
	return out
}

func resampledCorrelation(x, y []float64) resampled {
	return resampleOf(len(x), func(draw []int) float64 { return correlation(drawn(x, draw), drawn(y, draw)) })
}

// resampledVariance is that of the variance with divisor n.
func resampledVariance(x []float64) resampled {
	return resampleOf(len(x), func(draw []int) float64 {
		_, ss := meanSS(drawn(x, draw))
		return ss / float64(len(draw))
	})
}

func (r resampled) percentile(*testing.T) Interval {
	return Interval{r.sorted[len(r.sorted)/20], r.sorted[len(r.sorted)-1-len(r.sorted)/20]}
}

func (r resampled) bca(*testing.T) Interval {
	return bcaOf(r.sorted, r.estimate, r.acceleration, .05)
}

// varianceChi is the 90 % interval of a variance under normal noise.
func varianceChi(x []float64) func(*testing.T) Interval {
	return func(*testing.T) Interval {
		_, ss := meanSS(x)
		chi := distuv.ChiSquared{K: float64(len(x) - 1)}
		return Interval{ss / chi.Quantile(.95), ss / chi.Quantile(.05)}
	}
}

// bcaOf is the BCa interval of any statistic from its sorted resamples.
func bcaOf(sorted []float64, estimate, a, alpha float64) Interval {
	below, _ := slices.BinarySearch(sorted, estimate)
	z0 := distuv.UnitNormal.Quantile(float64(below) / float64(len(sorted)))
	at := func(q float64) float64 {
		z := z0 + distuv.UnitNormal.Quantile(q)
		p := distuv.UnitNormal.CDF(z0 + z/(1-a*z))
		return sorted[int(p*float64(len(sorted)))]
	}
	return Interval{at(alpha), at(1 - alpha)}
}

func TestOracleLawSchool(t *testing.T) {
	r := correlation(lsat, gpa)
	digits(t, ".776374491", r, "correlation")
	dev, mean := jackknife(len(lsat), leaveOut(lsat, gpa))
	digits(t, "-.006473623", 14*(mean-r), "jackknife bias")
	squares := 0.0
	for _, e := range dev {
		squares += e * e
	}
	digits(t, ".142518619", math.Sqrt(squares*14/15), "jackknife standard error")
	a := accelerationOf(dev)
	digits(t, "-.075671565", a, "acceleration")

	all := resampledCorrelation(lsat, gpa)
	digits(t, "-.075671565", all.acceleration, "acceleration of the resampled")
	_, ss := meanSS(all.sorted)
	assert.InDelta(t, .134, math.Sqrt(ss/float64(len(all.sorted)-1)), .002, "bootstrap standard error")
}

func TestOracleCD4Correlation(t *testing.T) {
	digits(t, ".723", correlation(cd4First, cd4Year), "printed by DiCiccio and Efron (1996)")
}

// The two-sample acceleration of a difference of means, as SciPy's tests have it
// for the mouse data of Efron and Tibshirani.
func TestOracleTwoSampleAcceleration(t *testing.T) {
	control := []float64{10, 27, 31, 40, 46, 50, 52, 104, 146}
	treated := []float64{16, 23, 38, 94, 99, 141, 197}
	var cubes, squares float64
	for _, x := range [][]float64{control, treated} {
		n := float64(len(x))
		dev, _ := jackknife(len(x), func(i int) float64 { m, _ := meanSS(without(x, i)); return m })
		sign := 1.0
		if len(x) == len(treated) {
			sign = -1
		}
		for _, e := range dev {
			influence := sign * (n - 1) * e
			cubes += influence * influence * influence / (n * n * n)
			squares += influence * influence / (n * n)
		}
	}
	assert.InDelta(t, 0.011008228344026734, math.Abs(cubes/(6*math.Pow(squares, 1.5))), 1e-15)
}

// The basic interval turns the percentile interval around; SciPy's comparison with
// R has both.
func TestOracleBasicInterval(t *testing.T) {
	p := single(scipy16)
	perc := p.percentile(shifts(resamples(p.groups, 1)), .025, .975)
	assert.InEpsilon(t, 23.77, 2*p.mean-perc.Hi, .005)
	assert.InEpsilon(t, 79.12, 2*p.mean-perc.Lo, .005)
}

// Constant data have no BCa interval, and no other one either.
func TestConstantDataHaveNoInterval(t *testing.T) {
	e, err := Analyze([]float64{3, 3, 3, 3, 3, 3}, Options{})
	require.ErrorIs(t, err, ErrZeroVariance)
	assert.Zero(t, e.BCa)
	assert.Zero(t, e.Percentile)
	assert.True(t, math.IsNaN(acceleration(newGroup([]float64{3, 3, 3}, 1))))
}

// Mean failure time of an exponential model, printed by Davison and Hinkley
// (1997): the χ² quantiles that the planner and Cochran's Q use.
func TestOracleExponentialMean(t *testing.T) {
	mean, _ := meanSS(aircond)
	digits(t, "108.083", mean, "mean")
	chi := distuv.ChiSquared{K: 24}
	digits(t, "65.9", 24*mean/chi.Quantile(.975), "lower")
	digits(t, "209.2", 24*mean/chi.Quantile(.025), "upper")
}

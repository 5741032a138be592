package stat

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	toy5     = []float64{.012, -.004, .021, .007, .015}
	toy6     = append([]float64{.001}, toy5...)
	darwin   = []float64{49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48}
	sleep    = []float64{1.2, 2.4, 1.3, 1.3, 0, 1, 1.8, .8, 4.6, 1.4}
	aircond  = []float64{3, 5, 7, 18, 43, 85, 91, 98, 100, 130, 230, 487}
	scipy16  = []float64{10, 12, 12.5, 12.5, 13.9, 15, 21, 22, 23, 34, 50, 81, 89, 121, 134, 213}
	spatial  = []float64{48, 36, 20, 29, 42, 42, 20, 42, 22, 41, 45, 14, 6, 0, 33, 28, 34, 4, 32, 24, 47, 41, 24, 26, 30, 41}
	cd4First = []float64{2.12, 4.35, 3.39, 2.51, 4.04, 5.10, 3.77, 3.35, 4.10, 3.35, 4.15, 3.56, 3.39, 1.88, 2.56, 2.96, 2.49, 3.03, 2.66, 3.00}
	cd4Year  = []float64{2.47, 4.61, 5.26, 3.02, 6.36, 5.93, 3.93, 4.09, 4.88, 3.81, 4.74, 3.29, 5.55, 2.82, 4.23, 3.23, 2.56, 4.31, 4.37, 2.40}
	offMS    = []float64{412, 405, 418, 409, 411, 407}
	onMS     = []float64{417, 409, 420, 416, 414, 413}
)

// digits asserts that got rounds to the printed number.
func digits(t *testing.T, printed string, got float64, what string) {
	t.Helper()
	want, err := strconv.ParseFloat(printed, 64)
	require.NoError(t, err)
	places := 0
	if i := strings.IndexByte(printed, '.'); i >= 0 {
		places = len(printed) - i - 1
	}
	assert.InDelta(t, want, got, 0.51*math.Pow10(-places), what)
}

func ratios(t *testing.T, baseline, candidate []float64, dir Direction) []float64 {
	t.Helper()
	d := make([]float64, len(baseline))
	for i := range d {
		var err error
		d[i], err = LogRatio(baseline[i], candidate[i], dir)
		require.NoError(t, err)
	}
	return d
}

func TestOracleMeanAndT(t *testing.T) {
	for _, o := range []struct {
		name             string
		d                []float64
		mean, sd, lo, hi string
	}{
		{"toy5", toy5, ".0102", ".009418068", "-.001494076", ".021894076"},
		{"toy6", toy6, ".008666667", ".009223159", "-.001012445", ".018345779"},
		{"darwin", darwin, "20.93333", "37.74438", ".031193318", "41.835473348"},
		{"sleep", sleep, "1.58", "", ".700114237", "2.459885763"},
		{"cd4", ratios(t, cd4First, cd4Year, LowerIsBetter), ".208952123", ".206488557", ".112312504", ".305591742"},
	} {
		e, err := Analyze(o.d, Options{})
		require.NoError(t, err, o.name)
		digits(t, o.mean, e.Mean, o.name+" mean")
		if o.sd != "" {
			digits(t, o.sd, e.SD, o.name+" sd")
		}
		digits(t, o.lo, e.T.Lo, o.name+" t lower")
		digits(t, o.hi, e.T.Hi, o.name+" t upper")
		ti, err := TInterval(o.d, 0.95)
		require.NoError(t, err, o.name)
		assert.InDelta(t, e.T.Hi, ti.Hi, 1e-12, o.name)
	}
	e, err := Analyze(toy5, Options{})
	require.NoError(t, err)
	digits(t, ".019179100", e.OneSided95, "toy5 one-sided")
	digits(t, "2.147987", darwinT(t), "darwin t")
	digits(t, "4.062128", 1.58/mustAnalyze(t, sleep, Options{}).SE, "sleep t")
}

func darwinT(t *testing.T) float64 {
	e := mustAnalyze(t, darwin, Options{})
	return e.Mean / e.SE
}

func mustAnalyze(t *testing.T, d []float64, opt Options) Estimate {
	t.Helper()
	e, err := Analyze(d, opt)
	require.NoError(t, err)
	return e
}

func TestOracleExactBootstrap(t *testing.T) {
	for _, o := range []struct {
		name       string
		d          []float64
		confidence float64
		lo, hi     string
	}{
		{"toy5 95", toy5, .95, "-.006994961", ".019087962"},
		{"toy5 90", toy5, .90, "-.002220180", ".017231579"},
		{"toy6 95", toy6, .95, "-.002472272", ".018173447"},
		{"sleep 95", sleep, .95, ".949171523", "3.104581082"},
		{"aircondit 95", aircond, .95, "47.079035", "292.044065"},
	} {
		got, err := bootstrapT(o.d, o.confidence, 0)
		require.NoError(t, err, o.name)
		digits(t, o.lo, got.Lo, o.name+" lower")
		digits(t, o.hi, got.Hi, o.name+" upper")
	}
}

func TestOracleEnumerationWeights(t *testing.T) {
	p := single(toy5)
	all := resamples(p.groups, 0)
	require.Len(t, all, 126)
	below, equal, degenerate, total := 0.0, 0.0, 0.0, 0.0
	for _, r := range all {
		total += r.count
		switch {
		case math.Abs(r.shift) < 1e-12:
			equal += r.count
		case r.shift < 0:
			below += r.count
		}
		if r.ss == 0 {
			degenerate += r.count
		}
	}
	assert.Equal(t, 3125.0, total)
	assert.Equal(t, .46304, below/total)
	assert.Equal(t, .0416, equal/total)
	assert.Equal(t, .0016, degenerate/total)
	for n, want := range map[int]int{6: 462, 10: 92_378, 12: 1_352_078} {
		assert.Equal(t, want, multisets(n, n))
	}
}

func TestOraclePercentileAndBCa(t *testing.T) {
	five := mustAnalyze(t, toy5, Options{})
	digits(t, ".0024", five.Percentile.Lo, "toy5")
	digits(t, ".0170", five.Percentile.Hi, "toy5")
	five = mustAnalyze(t, toy5, Options{Alpha: .05})
	digits(t, ".0036", five.Percentile.Lo, "toy5 90")
	digits(t, ".0162", five.Percentile.Hi, "toy5 90")
	digits(t, ".015166667", mustAnalyze(t, toy6, Options{}).Percentile.Hi, "toy6")
	ten := mustAnalyze(t, sleep, Options{})
	digits(t, ".95", ten.Percentile.Lo, "sleep")
	digits(t, "2.38", ten.Percentile.Hi, "sleep")
	twelve := mustAnalyze(t, aircond, Options{})
	digits(t, "46.75", twelve.Percentile.Lo, "aircondit")
	digits(t, "191.1667", twelve.Percentile.Hi, "aircondit")
	digits(t, "57.0", twelve.BCa.Lo, "aircondit BCa")
	digits(t, "226.0833", twelve.BCa.Hi, "aircondit BCa")
	digits(t, "-.037904787", acceleration(newGroup(toy5, 1)), "toy5")
	digits(t, ".077579985", acceleration(newGroup(sleep, 1)), "sleep")
	digits(t, ".093798074", acceleration(newGroup(aircond, 1)), "aircondit")
	digits(t, ".061529", acceleration(newGroup(scipy16, 1)), "scipy")
}

// The reference values of SciPy against R at n = 16 have a tolerance of 0.5 %.
func TestOracleMonteCarlo(t *testing.T) {
	e := mustAnalyze(t, scipy16, Options{Seed: 1})
	assert.InEpsilon(t, 28.86, e.Percentile.Lo, .005)
	assert.InEpsilon(t, 84.21, e.Percentile.Hi, .005)
	assert.InEpsilon(t, 32.31, e.BCa.Lo, .005)
	assert.InEpsilon(t, 91.43, e.BCa.Hi, .005)
	assert.InEpsilon(t, 29.3, e.BootT.Lo, .01)
	assert.InEpsilon(t, 105.5, e.BootT.Hi, .01)
}

// What is drawn must agree with what is enumerated.
func TestMonteCarloAgreesWithEnumeration(t *testing.T) {
	p := single(sleep)
	exact := p.bootT(resamples(p.groups, 0), p.groups, .025)
	drawn := p.bootT(monteCarlo(p.groups, 7, draws), p.groups, .025)
	assert.InDelta(t, exact.Lo, drawn.Lo, .01*p.sd)
	assert.InDelta(t, exact.Hi, drawn.Hi, .03*p.sd)
}

func TestMonteCarloDependsOnTheSeedOnly(t *testing.T) {
	a := mustAnalyze(t, darwin, Options{Seed: 1})
	assert.Equal(t, a, mustAnalyze(t, darwin, Options{Seed: 1}))
	assert.NotEqual(t, a.BootT, mustAnalyze(t, darwin, Options{Seed: 2}).BootT)
}

func TestOracleRawExample(t *testing.T) {
	d := ratios(t, offMS, onMS, LowerIsBetter)
	e := mustAnalyze(t, d, Options{})
	digits(t, ".010923585", e.Mean, "mean")
	digits(t, "1.0983", Percent(e.Mean, LowerIsBetter), "mean in percent")
	digits(t, ".015709368", e.T.Hi, "t upper")
	digits(t, "1.5833", Percent(e.T.Hi, LowerIsBetter), "t upper in percent")
	digits(t, ".006137802", e.T.Lo, "t lower")
	digits(t, ".016111568", e.BootT.Hi, "bootstrap upper")
	digits(t, "1.6242", Percent(e.U, LowerIsBetter), "U in percent")
	assert.Equal(t, e.BootT.Hi, e.U)
	assert.Equal(t, Pass, Judge(e, Margin(.03, LowerIsBetter)))

	order := []bool{true, false, true, false, true, false}
	r, err := OrderEffect(d, order)
	require.NoError(t, err)
	digits(t, "-.002887282", r.Effect, "order effect")
	p, _, err := prepare(d, &Options{Order: order})
	require.NoError(t, err)
	digits(t, ".015086907", p.tInterval(.025).Hi, "adjusted upper")
}

func TestTQuantiles(t *testing.T) {
	for _, q := range []struct {
		df         float64
		t975, t950 string
	}{
		{4, "2.7764", "2.1318"}, {5, "2.5706", "2.0150"}, {7, "2.3646", "1.8946"},
		{9, "2.2622", "1.8331"}, {14, "2.1448", "1.7613"}, {19, "2.0930", "1.7291"},
	} {
		digits(t, q.t975, tQuantile(.025, q.df), "t.975")
		digits(t, q.t950, tQuantile(.05, q.df), "t.95")
	}
	digits(t, "2.776445105", tQuantile(.025, 4), "t.975")
}

func TestAccelerationIsBounded(t *testing.T) {
	for n := 2; n <= 20; n++ {
		d := make([]float64, n)
		d[0] = 1 // the most skewed sample there is
		assert.LessOrEqual(t, math.Abs(acceleration(newGroup(d, 1))), 1.0/6, n)
	}
}

// A symmetric sample has no bias and no acceleration: BCa is the percentile.
func TestBCaOfSymmetricSampleIsPercentile(t *testing.T) {
	e := mustAnalyze(t, []float64{-3, -2, -1, 1, 2, 3.0}, Options{})
	assert.InDelta(t, e.Percentile.Lo, e.BCa.Lo, 1e-12)
	assert.InDelta(t, e.Percentile.Hi, e.BCa.Hi, 1e-12)
}

package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnalyzeRefuses(t *testing.T) {
	for _, c := range []struct {
		d    []float64
		opt  Options
		want string
	}{
		{nil, Options{}, "got 0 values, need at least 2"},
		{[]float64{.1}, Options{}, "got 1 values, need at least 2"},
		{[]float64{.1, math.NaN()}, Options{}, "value 2 is NaN"},
		{[]float64{math.Inf(-1), .1}, Options{}, "value 1 is -Inf"},
		{[]float64{1e300, .1}, Options{}, "value 1 is 1e+300"},
		{toy6, Options{Alpha: .5}, "one-sided error 0.5"},
		{toy6, Options{Alpha: math.NaN()}, "one-sided error NaN"},
		{toy6, Options{Order: []bool{true}}, "1 orders for 6 blocks"},
		{toy6, Options{Order: make([]bool, 6)}, "same order"},
		{toy6, Options{Host: []string{"a"}}, "1 hosts for 6 blocks"},
		{toy6, Options{Host: []string{"a", "b", "c", "d", "e", "f"}}, "no degree of freedom"},
		{toy6, Options{Host: make([]string, 6), Order: make([]bool, 6)}, "can't be combined"},
	} {
		e, err := Analyze(c.d, c.opt)
		assert.ErrorContains(t, err, c.want)
		assert.Equal(t, Invalid, Judge(e, .03))
	}
}

func TestIntervalsRefuse(t *testing.T) {
	for _, d := range [][]float64{nil, {1}, {1, math.NaN()}, {1, math.Inf(1)}, {1, 1}} {
		_, err := TInterval(d, .95)
		require.Error(t, err, d)
		_, err = bootstrapT(d, .95, 0)
		require.Error(t, err, d)
		_, _, err = Welch(d, toy5, .95)
		require.ErrorContains(t, err, "first campaign")
		_, _, err = Welch(toy5, d, .95)
		require.ErrorContains(t, err, "second campaign")
	}
	for _, confidence := range []float64{0, 1, 95, math.NaN()} {
		_, err := TInterval(toy5, confidence)
		assert.Error(t, err, confidence)
	}
}

func TestZeroVariance(t *testing.T) {
	off := []float64{400, 401, 402, 403, 404, 405}
	// Copied data: the ratios differ by rounding only.
	d := ratios(t, off, scaled(off, 1.01), LowerIsBetter)
	for _, opt := range []Options{{}, {Order: []bool{true, false, true, false, true, false}}, {Host: []string{"a", "a", "a", "b", "b", "b"}}} {
		e, err := Analyze(d, opt)
		require.ErrorIs(t, err, ErrZeroVariance)
		assert.True(t, e.ZeroVariance)
		assert.InDelta(t, math.Log(1.01), e.Mean, 1e-12)
		assert.Equal(t, Invalid, Judge(e, .03), "an ignored error must not pass")
	}
}

func TestTiesWarn(t *testing.T) {
	third := []float64{.01, .01, .02, .03, .04, .05}
	e := mustAnalyze(t, third, Options{})
	assert.Equal(t, 2, e.Tied)
	assert.False(t, e.TieWarning, "exactly a third")
	e = mustAnalyze(t, []float64{.01, .01, .01, .03, .04, .05}, Options{})
	assert.Equal(t, 3, e.Tied)
	assert.True(t, e.TieWarning)
}

func TestBoundsAreTheWider(t *testing.T) {
	for seed := range uint64(20) {
		off, on := campaign(seed, 8)
		e := mustAnalyze(t, ratios(t, off, on, LowerIsBetter), Options{})
		assert.Equal(t, max(e.T.Hi, e.BootT.Hi), e.U)
		assert.Equal(t, min(e.T.Lo, e.BootT.Lo), e.L)
		assert.Less(t, e.OneSided95, e.T.Hi)
	}
}

// Values that differ by little more than rounding give huge t values; they must
// stay finite.
func TestNearTiesStayFinite(t *testing.T) {
	e := mustAnalyze(t, []float64{.01, .01 + 1e-12, .01 + 2e-12, .01 + 3e-12, .01 + 4e-12, .5}, Options{})
	assert.False(t, math.IsInf(e.U, 0) || math.IsNaN(e.U), "U %g", e.U)
	assert.False(t, math.IsInf(e.L, 0) || math.IsNaN(e.L), "L %g", e.L)
}

// Where cancellation leaves nothing, a resample of different values must not look
// degenerate.
func TestSpreadIsPositive(t *testing.T) {
	for _, x := range []float64{.1, .3, 1.0 / 3, 1e-160} {
		assert.Positive(t, spread(x+x+x, 3*x*x, 3), x)
	}
}

func TestDrawingSeesDegenerateResamples(t *testing.T) {
	degenerate := 0
	for _, r := range monteCarlo([]group{newGroup([]float64{.1, .3}, 1)}, 1, draws) {
		if r.ss == 0 {
			degenerate++
		}
	}
	assert.InDelta(t, .5, float64(degenerate)/draws, .01)
}

func TestOneHostIsThePlainAnalysis(t *testing.T) {
	plain := mustAnalyze(t, toy6, Options{})
	host := mustAnalyze(t, toy6, Options{Host: slices.Repeat([]string{"a"}, 6)})
	assert.Equal(t, plain.T, host.T)
	assert.Equal(t, plain.BootT, host.BootT)
	assert.Equal(t, []HostEffect{{"a", 6, plain.Mean}}, host.Hosts)
	assert.Equal(t, 1.0, host.QP)
}

func TestHostsArePooled(t *testing.T) {
	// Two hosts of different level: the level must not count as noise.
	d := append(slices.Clone(toy6), .101, .112, .096, .121, .107, .115)
	host := append(slices.Repeat([]string{"a"}, 6), slices.Repeat([]string{"b"}, 6)...)
	e := mustAnalyze(t, d, Options{Host: host})
	plain := mustAnalyze(t, d, Options{})
	assert.InDelta(t, plain.Mean, e.Mean, 1e-15)
	assert.Equal(t, 10.0, e.DF)
	assert.InDelta(t, e.SD/math.Sqrt(12), e.SE, 1e-15)
	assert.Less(t, e.U, plain.U)
	assert.True(t, e.HasBootT)
	assert.Less(t, e.QP, 1e-6, "the hosts differ")
	// Q of two equal groups is the squared t of their difference.
	z := (e.Hosts[1].Mean - e.Hosts[0].Mean) / (e.SD * math.Sqrt(2.0/6))
	assert.InDelta(t, z*z, e.Q, 1e-9)
}

func TestSmallHostsTakeTheStricterT(t *testing.T) {
	host := []string{"a", "a", "a", "b", "b", "b"}
	e := mustAnalyze(t, toy6, Options{Host: host})
	assert.False(t, e.HasBootT)
	assert.InDelta(t, e.Mean+tQuantile(.01, 4)*e.SE, e.U, 1e-15, "one-sided 99 %")
	assert.InDelta(t, e.Mean-tQuantile(.01, 4)*e.SE, e.L, 1e-15)
}

// Hosts too small to be resampled still count in the estimate and its error.
func TestMixedHosts(t *testing.T) {
	d := append(slices.Clone(toy6), .011, .005)
	host := append(slices.Repeat([]string{"a"}, 6), "b", "b")
	e := mustAnalyze(t, d, Options{Host: host})
	require.True(t, e.HasBootT)
	assert.InDelta(t, e.Mean+tQuantile(.025, 6)*e.SE, e.T.Hi, 1e-15)
	alone, err := bootstrapT(toy6, .95, 0)
	require.NoError(t, err)
	six := mustAnalyze(t, toy6, Options{})
	// The shape of t* comes from host a alone, the error from all blocks.
	assert.InDelta(t, (alone.Hi-six.Mean)/six.SE, (e.BootT.Hi-e.Mean)/e.SE, 1e-9)
}

func TestOrderAdjustment(t *testing.T) {
	order := []bool{true, false, false, true, true, false, false, true}
	d := []float64{.02, .001, .002, .021, .019, .003, .0, .022}
	adjusted := mustAnalyze(t, d, Options{Order: order})
	plain := mustAnalyze(t, d, Options{})
	assert.InDelta(t, plain.Mean, adjusted.Mean, 1e-15, "balanced orders")
	assert.Equal(t, 6.0, adjusted.DF)
	assert.True(t, adjusted.HasBootT, "groups of four are resampled")
	assert.Less(t, adjusted.U, plain.U, "the order effect is not noise")
	assert.False(t, mustAnalyze(t, d[:6], Options{Order: order[:6]}).HasBootT, "groups of three are not")
}

// The product of enumerated groups against drawing from both.
func TestGroupedEnumerationAgreesWithDrawing(t *testing.T) {
	groups := []group{newGroup(sleep[:5], .5), newGroup(sleep[5:], .5)}
	p := pool(groups)
	exact := p.bootT(resamples(groups, 0), groups, .025)
	drawn := p.bootT(monteCarlo(groups, 3, draws), groups, .025)
	assert.InDelta(t, exact.Lo, drawn.Lo, .03*p.sd)
	assert.InDelta(t, exact.Hi, drawn.Hi, .03*p.sd)
}

// The enumeration against counting every ordered resample, ties included.
func TestEnumerationAgainstAllOrderedDraws(t *testing.T) {
	d := []float64{1, 1, 2, 5}
	degenerate, below := 0.0, 0.0
	for code := range 256 {
		draw := []float64{d[code&3], d[code>>2&3], d[code>>4&3], d[code>>6&3]}
		if slices.Min(draw) == slices.Max(draw) {
			degenerate++
		}
		if draw[0]+draw[1]+draw[2]+draw[3] < 9 {
			below++
		}
	}
	gotDegenerate, gotBelow, total := 0.0, 0.0, 0.0
	for _, r := range resamples([]group{newGroup(d, 1)}, 0) {
		total += r.count
		if r.ss == 0 {
			gotDegenerate += r.count
		}
		if r.shift < -1e-12 {
			gotBelow += r.count
		}
	}
	assert.Equal(t, []float64{256, degenerate, below}, []float64{total, gotDegenerate, gotBelow})
}

func TestQuantileAgainstSorting(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 200 {
		a := make([]weighted, 1+r.IntN(40))
		for i := range a {
			a[i] = weighted{float64(r.IntN(12)), float64(1 + r.IntN(5))}
		}
		p := float64(1+r.IntN(39)) / 40
		assert.Equal(t, sortedQuantile(a, p), quantile(a, p))
	}
}

// (1−0.95)/2 is a little above 1/40; the first of forty values is meant.
func TestQuantileForgivesTheRoundingOfItsLevel(t *testing.T) {
	confidence := .95
	forty := make([]weighted, 40)
	for i := range forty {
		forty[i] = weighted{float64(i), 1}
	}
	require.Greater(t, (1-confidence)/2, .025)
	assert.Equal(t, 0.0, quantile(forty, (1-confidence)/2))
}

func sortedQuantile(a []weighted, p float64) float64 {
	s := slices.Clone(a)
	slices.SortFunc(s, func(x, y weighted) int { return int(x.value - y.value) })
	sum := 0.0
	for _, w := range s {
		sum += w.count
		if sum >= p*totalCount(s)-1e-9 {
			return w.value
		}
	}
	return math.NaN()
}

func TestWelch(t *testing.T) {
	// Equal sizes and spreads: Welch is the pooled two-sample t.
	b := make([]float64, len(toy5))
	for i, x := range toy5 {
		b[i] = x - .011
	}
	diff, interval, err := Welch(toy5, b, .95)
	require.NoError(t, err)
	assert.InDelta(t, -.011, diff, 1e-15)
	half := tQuantile(.025, 8) * mustAnalyze(t, toy5, Options{}).SD * math.Sqrt(2.0/5)
	assert.InDelta(t, -.011+half, interval.Hi, 1e-12)
	assert.InDelta(t, -.011-half, interval.Lo, 1e-12)
	// One campaign without noise to speak of: its degrees of freedom don't matter.
	quiet := []float64{0, 1e-9, 0, 1e-9, 0, 1e-9}
	_, interval, err = Welch(quiet, toy5, .95)
	require.NoError(t, err)
	digits(t, ".021894", interval.Hi, "the other campaign's own interval")
}

package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// campaign is a pair of arms in milliseconds, with a little skew and some ties.
func campaign(seed uint64, n int) (off, on []float64) {
	r := rand.New(rand.NewPCG(seed, 1))
	for range n {
		off = append(off, math.Round(400+8*r.NormFloat64()))
		on = append(on, math.Round(404+5*r.ExpFloat64()+4*r.NormFloat64()))
	}
	return off, on
}

func scaled(x []float64, by float64) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = x[i] * by
	}
	return out
}

func reciprocal(x []float64) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = 1 / x[i]
	}
	return out
}

// eachCampaign runs check on campaigns small enough to be enumerated, and, where
// drawn is set, also on one that is not.
func eachCampaign(t *testing.T, drawn bool, check func(off, on []float64)) {
	t.Helper()
	sizes := []int{6, 7, 8, 9, 10}
	if drawn {
		sizes = append(sizes, 14)
	}
	for _, n := range sizes {
		for seed := range uint64(2) {
			off, on := campaign(seed, n)
			check(off, on)
		}
	}
}

func same(t *testing.T, want, got Estimate) {
	t.Helper()
	const tolerance = 1e-12
	assert.InDelta(t, want.Mean, got.Mean, tolerance)
	assert.InDelta(t, want.SD, got.SD, tolerance)
	for _, pair := range [][2]Interval{
		{want.T, got.T}, {want.BootT, got.BootT}, {want.Percentile, got.Percentile},
		{want.BCa, got.BCa}, {{want.L, want.U}, {got.L, got.U}},
	} {
		assert.InDelta(t, pair[0].Lo, pair[1].Lo, tolerance)
		assert.InDelta(t, pair[0].Hi, pair[1].Hi, tolerance)
	}
}

func TestSwappingArmsMirrors(t *testing.T) {
	eachCampaign(t, false, func(off, on []float64) {
		a := mustAnalyze(t, ratios(t, off, on, LowerIsBetter), Options{})
		b := mustAnalyze(t, ratios(t, on, off, LowerIsBetter), Options{})
		mirror := func(i Interval) Interval { return Interval{-i.Hi, -i.Lo} }
		b.Mean = -b.Mean
		b.T, b.BootT = mirror(b.T), mirror(b.BootT)
		b.Percentile, b.BCa = mirror(b.Percentile), mirror(b.BCa)
		b.L, b.U = -b.U, -b.L
		same(t, a, b)
	})
}

// Seconds for milliseconds, and any other common factor, change nothing.
func TestUnitsCancel(t *testing.T) {
	eachCampaign(t, true, func(off, on []float64) {
		want := mustAnalyze(t, ratios(t, off, on, LowerIsBetter), Options{})
		for _, factor := range []float64{1e-3, 7.3, 1e9} {
			d := ratios(t, scaled(off, factor), scaled(on, factor), LowerIsBetter)
			same(t, want, mustAnalyze(t, d, Options{}))
		}
	})
}

func TestPermutingBlocksChangesNothing(t *testing.T) {
	eachCampaign(t, true, func(off, on []float64) {
		d := ratios(t, off, on, LowerIsBetter)
		want := mustAnalyze(t, d, Options{})
		kept := slices.Clone(d)
		slices.Reverse(d)
		assert.Equal(t, want, mustAnalyze(t, d, Options{}), "bit for bit")
		slices.Reverse(d)
		assert.Equal(t, kept, d, "the caller's slice is left alone")
	})
}

func TestShiftMovesTheBounds(t *testing.T) {
	shift := math.Log(1.03)
	eachCampaign(t, true, func(off, on []float64) {
		d := ratios(t, off, on, LowerIsBetter)
		want := mustAnalyze(t, d, Options{})
		for i := range d {
			d[i] += shift
		}
		got := mustAnalyze(t, d, Options{})
		back := func(i *Interval) { i.Lo -= shift; i.Hi -= shift }
		got.Mean -= shift
		got.L -= shift
		got.U -= shift
		for _, i := range []*Interval{&got.T, &got.BootT, &got.Percentile, &got.BCa} {
			back(i)
		}
		same(t, want, got)
	})
}

// A rate is the reciprocal of a time: same d, same everything.
func TestReciprocalMetric(t *testing.T) {
	eachCampaign(t, true, func(off, on []float64) {
		times := mustAnalyze(t, ratios(t, off, on, LowerIsBetter), Options{})
		rates := ratios(t, reciprocal(off), reciprocal(on), HigherIsBetter)
		same(t, times, mustAnalyze(t, rates, Options{}))
	})
}

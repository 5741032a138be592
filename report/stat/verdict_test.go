package stat

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestJudge(t *testing.T) {
	m := Margin(.03, LowerIsBetter)
	up, down := math.Nextafter(m, 1), math.Nextafter(m, 0)
	for _, c := range []struct {
		name string
		e    Estimate
		m    float64
		want Verdict
	}{
		{"clear pass", Estimate{N: 10, L: -.01, U: .01}, m, Pass},
		{"just below", Estimate{N: 10, L: 0, U: down}, m, Pass},
		{"equal is not below", Estimate{N: 10, L: 0, U: m}, m, Inconclusive},
		{"straddles", Estimate{N: 10, L: 0, U: .05}, m, Inconclusive},
		{"equal is not above", Estimate{N: 10, L: m, U: .05}, m, Inconclusive},
		{"just above", Estimate{N: 10, L: up, U: .05}, m, Fail},
		{"five blocks", Estimate{N: 5, L: -.01, U: .01}, m, Invalid},
		{"six blocks", Estimate{N: 6, L: -.01, U: .01}, m, Pass},
		{"zero variance", Estimate{N: 10, ZeroVariance: true}, m, Invalid},
		{"nothing", Estimate{}, m, Invalid},
		{"bound is NaN", Estimate{N: 10, L: math.NaN(), U: .01}, m, Invalid},
		{"margin is NaN", Estimate{N: 10, L: -.01, U: .01}, math.NaN(), Invalid},
		{"margin is zero", Estimate{N: 10, L: -.02, U: -.01}, 0, Invalid},
		{"margin is infinite", Estimate{N: 10, L: -.01, U: .01}, math.Inf(1), Invalid},
	} {
		assert.Equal(t, c.want, Judge(c.e, c.m), c.name)
	}
}

func TestOverall(t *testing.T) {
	none := Conditions{}
	for _, c := range []struct {
		name    string
		metrics []Verdict
		c       Conditions
		want    Verdict
	}{
		{"all pass", []Verdict{Pass, Pass}, none, Pass},
		{"one inconclusive", []Verdict{Pass, Inconclusive}, none, Inconclusive},
		{"fail outranks invalid", []Verdict{Invalid, Fail, Pass}, Conditions{Invalid: true}, Fail},
		{"invalid outranks inconclusive", []Verdict{Inconclusive, Invalid}, none, Invalid},
		{"campaign invalid", []Verdict{Pass}, Conditions{Invalid: true}, Invalid},
		{"stalls hold a pass back", []Verdict{Pass}, Conditions{Stalls: true}, Inconclusive},
		{"stalls don't soften a fail", []Verdict{Fail}, Conditions{Stalls: true}, Fail},
		{"stalls don't hide invalid", []Verdict{Invalid}, Conditions{Stalls: true}, Invalid},
		{"identity outranks invalid", []Verdict{Invalid}, Conditions{IdentityFailed: true, Invalid: true}, Fail},
		{"identity needs no metric", nil, Conditions{IdentityFailed: true}, Fail},
		{"reliability needs no metric", nil, Conditions{ReliabilityFailed: true}, Fail},
		{"nothing judged", nil, none, Invalid},
		{"unknown word", []Verdict{Pass, "pass"}, none, Invalid},
	} {
		assert.Equal(t, c.want, Overall(c.metrics, c.c), c.name)
	}
}

func TestEquivalentAndBiased(t *testing.T) {
	const m = .03
	assert.True(t, Equivalent(Estimate{N: 10, L: -.01, U: .01}, m))
	assert.False(t, Equivalent(Estimate{N: 10, L: -.03, U: .01}, m), "lower end on the margin")
	assert.False(t, Equivalent(Estimate{N: 10, L: -.01, U: .03}, m), "upper end on the margin")
	assert.False(t, Equivalent(Estimate{N: 5, L: -.01, U: .01}, m))
	assert.True(t, Biased(Estimate{Mean: -.0031}, .009, m))
	assert.False(t, Biased(Estimate{Mean: -.0029}, .009, m), "too small to matter")
	assert.False(t, Biased(Estimate{Mean: -.0031}, .01, m), "not significant")
}

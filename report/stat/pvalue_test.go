package stat

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The p value is the bound turned around: at most alpha where L lies above the
// place, more where it does not, whatever the design, the level and the shape.
func TestPIsTheBoundTurnedAround(t *testing.T) {
	halves := func(n int) (order []bool, host []string) {
		for i := range n {
			order = append(order, i%2 == 0)
			host = append(host, map[bool]string{true: "a", false: "b"}[i < n/2])
		}
		return order, host
	}
	above := 0
	for i := range 120 {
		r := rand.New(rand.NewPCG(uint64(i), 15))
		n := []int{6, 8, 10}[i%3]
		d := make([]float64, n)
		for k := range d {
			d[k] = noises[i%len(noises)].draw(r)
		}
		order, host := halves(n)
		for k, opt := range []Options{{}, {Order: order}, {Host: host}, {Alpha: .0117}} {
			e := mustAnalyze(t, d, opt)
			at := e.Mean - (.5+2.5*r.Float64())*e.SE*1.5
			p, err := PAbove(d, at, opt)
			require.NoError(t, err)
			alpha := opt.Alpha
			if alpha == 0 {
				alpha = DefaultAlpha
			}
			assert.Equal(t, e.L > at, p <= alpha, "campaign %d, design %d: L %g, at %g, p %g", i, k, e.L, at, p)
			if e.L > at {
				above++
			}
			turned, err := PBelow(scaled(d, -1), -at, opt)
			require.NoError(t, err)
			assert.InDelta(t, p, turned, 1e-12)
		}
	}
	assert.Greater(t, above, 100)
}

func TestPOfUnusableEffects(t *testing.T) {
	_, err := PAbove([]float64{.1, .1, .1, .1, .1, .1}, 0, Options{})
	require.ErrorIs(t, err, ErrZeroVariance)
	_, err = PAbove(nil, 0, Options{})
	require.Error(t, err)
	p, err := PAbove([]float64{0, 0, 0, .1, .1, .1}, -5, Options{})
	require.NoError(t, err)
	assert.Greater(t, p, .03, "equal effects never show a cost: their resamples count against it")
}

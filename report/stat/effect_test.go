package stat

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLogRatioSign(t *testing.T) {
	slower, err := LogRatio(100, 103, LowerIsBetter)
	require.NoError(t, err)
	assert.InDelta(t, math.Log(1.03), slower, 1e-15)
	less, err := LogRatio(100, 97, HigherIsBetter)
	require.NoError(t, err)
	assert.InDelta(t, -math.Log(.97), less, 1e-15)
	more, err := LogRatio(100, 103, HigherIsBetter)
	require.NoError(t, err)
	assert.Negative(t, more, "more throughput is better")
}

func TestLogRatioRefuses(t *testing.T) {
	for _, c := range []struct {
		baseline, candidate float64
		dir                 Direction
		want                string
	}{
		{0, 1, LowerIsBetter, "baseline value 0"},
		{1, 0, HigherIsBetter, "candidate value 0"},
		{-1, 1, LowerIsBetter, "baseline value -1"},
		{1, math.NaN(), LowerIsBetter, "candidate value NaN"},
		{math.Inf(1), 1, LowerIsBetter, "baseline value +Inf"},
		{1, 2, 0, "direction 0 is not declared"},
		{1e-300, 1e300, LowerIsBetter, "too far apart"},
		{1e300, 1e-300, LowerIsBetter, "too far apart"},
	} {
		_, err := LogRatio(c.baseline, c.candidate, c.dir)
		assert.ErrorContains(t, err, c.want)
	}
}

func TestMarginAndPercent(t *testing.T) {
	digits(t, ".0295588", Margin(.03, LowerIsBetter), "times")
	digits(t, ".0304592", Margin(.03, HigherIsBetter), "throughput")
	for _, dir := range []Direction{LowerIsBetter, HigherIsBetter} {
		assert.InDelta(t, 3, Percent(Margin(.03, dir), dir), 1e-12, dir)
		assert.Negative(t, Percent(-.01, dir), dir)
	}
	for _, bad := range []float64{0, -.03, 1, math.NaN(), math.Inf(1)} {
		assert.True(t, math.IsNaN(Margin(bad, LowerIsBetter)), bad)
	}
	assert.True(t, math.IsNaN(Margin(.03, 0)))
	assert.True(t, math.IsNaN(Percent(.03, 0)))
	assert.Equal(t, []string{"lower", "higher", "undeclared"},
		[]string{LowerIsBetter.String(), HigherIsBetter.String(), Direction(0).String()})
}

package stat

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Extra hours of sleep with two drugs (Student, 1908).
var (
	sleepFirst  = []float64{.7, -1.6, -.2, -1.2, -.1, 3.4, 3.7, .8, 0, 2}
	sleepSecond = []float64{1.9, .8, 1.1, .1, -.1, 4.4, 5.5, 1.6, 4.6, 3.4}
)

// publication is an interval that somebody else has published, and ours.
type publication struct {
	data, interval, source string
	lo, hi                 float64 // published
	places                 int     // of the published numbers
	tolerance              float64 // 0: equal as printed; else relative, for other people's random numbers
	ours                   func(t *testing.T) Interval
}

func publications() []publication {
	of := func(d []float64, pick func(Estimate) Interval) func(*testing.T) Interval {
		return func(t *testing.T) Interval { return pick(mustAnalyze(t, d, Options{Seed: 1})) }
	}
	student := func(e Estimate) Interval { return e.T }
	boot := func(e Estimate) Interval { return e.BootT }
	perc := func(e Estimate) Interval { return e.Percentile }
	bca := func(e Estimate) Interval { return e.BCa }
	variances, correlations := resampledVariance(spatial), resampledCorrelation(lsat, gpa)
	inches := make([]float64, len(darwin))
	for i, x := range darwin {
		inches[i] = x / 8
	}
	octave := "R's packages `bootstrap` and `resample`, 19 999 draws, in bootknife.m"
	spatialR := "R's package `boot`, 19 999 draws, in bootknife.m"
	book := func(where string) string { return "Efron and Tibshirani (1993), " + where + ", quoted in bootknife.m" }
	scipy := "SciPy's test of `bootstrap`, from R's `boot.ci`, 10⁶ draws"
	return []publication{
		{"Darwin's maize, n = 15, inches", "t", "R's linear model with pairs, in course texts", .0038992, 5.229434, 6, 0, of(inches, student)},
		{"Student's sleep, n = 10, hours", "t", "R's `t.test`, paired, in many course texts", .7001142, 2.4598858, 7, 0, of(sleep, student)},
		{"the same, unpaired", "Welch", "R's help page of `t.test`", -.2054832, 3.3654832, 7, 0, func(t *testing.T) Interval {
			_, i, err := Welch(sleepFirst, sleepSecond, .95)
			require.NoError(t, err)
			return i
		}},
		{"air conditioning, n = 12, hours", "percentile", octave, 47.7, 191.8, 1, .025, of(aircond, perc)},
		{"the same", "BCa", octave, 57.1, 226.5, 1, .01, of(aircond, bca)},
		{"the same", "bootstrap-t", octave + ", standard errors by a nested bootstrap", 45.2, 301.6, 1, .05, of(aircond, boot)},
		{"spatial test, n = 26, variance, 90 %", "normal theory", book("table 14.2"), 118.4, 305.2, 1, 0, varianceChi(spatial)},
		{"the same", "percentile", book("table 14.2"), 100.8, 233.9, 1, .035, variances.percentile},
		{"the same", "BCa", book("table 14.2"), 115.8, 259.6, 1, .015, variances.bca},
		{"the same", "percentile", spatialR, 97.9, 234.8, 1, .01, variances.percentile},
		{"the same", "BCa", spatialR, 116.0, 260.7, 1, .01, variances.bca},
		{"law school, n = 15, correlation, 90 %", "percentile", book("page 266"), .524, .928, 3, .03, correlations.percentile},
		{"the same", "BCa", book("page 266"), .410, .923, 3, .06, correlations.bca},
		{"SciPy's skewed sample, n = 16", "percentile", scipy, 28.86, 84.21, 2, .005, of(scipy16, perc)},
		{"the same", "BCa", scipy, 32.31, 91.43, 2, .005, of(scipy16, bca)},
	}
}

func (p publication) row(i Interval) string {
	return fmt.Sprintf("| %s | %s | %.*f to %.*f | %.*f to %.*f | %s |", p.data, p.interval, p.places, p.lo, p.places, p.hi, p.places, i.Lo, p.places, i.Hi, p.source)
}

// Intervals of public data that others have published, and the README's list of
// them.
func TestPublishedIntervals(t *testing.T) {
	var rows strings.Builder
	for _, p := range publications() {
		got := p.ours(t)
		lo, hi := .51*math.Pow10(-p.places), .51*math.Pow10(-p.places)
		if p.tolerance > 0 {
			lo, hi = p.tolerance*math.Abs(p.lo), p.tolerance*math.Abs(p.hi)
		}
		assert.InDelta(t, p.lo, got.Lo, lo, "%s, %s", p.data, p.interval)
		assert.InDelta(t, p.hi, got.Hi, hi, "%s, %s", p.data, p.interval)
		rows.WriteString(p.row(got) + "\n")
	}
	documented(t, "<!-- published -->\n", "| data | interval | published | ours | source |\n|---|---|---|---|---|\n"+rows.String())
}

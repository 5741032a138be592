package stat

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// passRate simulates the gate by the functions that judge: enumerated up to eight
// blocks, a bootstrap of 999 draws above.
func passRate(t *testing.T, n, campaigns int, sd float64, rule Rule) float64 {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(n), 99))
	pass := 0
	for range campaigns {
		d := make([]float64, n)
		opt := Options{Alpha: rule.Alpha}
		for i := range d {
			d[i] = sd * r.NormFloat64()
			if rule.ByOrder {
				opt.Order = append(opt.Order, i%2 == 0)
			}
		}
		p, least, err := prepare(d, &opt)
		require.NoError(t, err)
		e, _ := boundsFrom(p, least, opt.Alpha, func(g []group) []resample {
			if n <= 8 {
				return resamples(g, 0)
			}
			return monteCarlo(g, r.Uint64(), fewDraws)
		})
		if Judge(e, margin) == Pass {
			pass++
		}
	}
	return float64(pass) / float64(campaigns)
}

// The power of the planner is how often the gate passes, whatever way it is adjusted:
// not that of the t bound, which promised 90 % at eight blocks and an SD of 2 % where
// 87 % pass.
func TestGatePowerIsHowOftenTheGatePasses(t *testing.T) {
	plain, looks, order := Rule{Alpha: .025}, Rule{Alpha: .01433}, Rule{Alpha: .025, ByOrder: true}
	for _, c := range []struct {
		n    int
		sd   float64
		rule Rule
	}{{6, .015, plain}, {8, .02, plain}, {10, .025, plain}, {10, .025, looks}, {6, .01, order}, {8, .02, order}, {24, .04, plain}} {
		const campaigns = 1500
		got, err := GatePower(c.n, c.sd, margin, 0, c.rule)
		require.NoError(t, err)
		want := passRate(t, c.n, campaigns, c.sd, c.rule)
		assert.InDelta(t, want, got, 3*math.Hypot(standardError(want, campaigns), .003)+.005, "%d blocks, SD %g, %v", c.n, c.sd, c.rule)
		assert.Less(t, got, power(c.n, margin/c.sd, c.rule.Alpha))
	}
}

func TestGatePowerEdges(t *testing.T) {
	rule := Rule{Alpha: .025}
	for n, want := range map[int]float64{2: 0, 5: 0} {
		p, err := GatePower(n, .001, .03, 0, rule)
		require.NoError(t, err)
		assert.Equal(t, want, p, "%d blocks are not judged", n)
	}
	p, err := GatePower(6, .0001, .03, 0, rule)
	require.NoError(t, err)
	assert.InDelta(t, 1, p, 1e-3)
	p, err = GatePower(6, .01, .03, .2, rule)
	require.NoError(t, err)
	assert.Zero(t, p)
	_, err = GatePower(6, 0, .03, 0, rule)
	require.ErrorContains(t, err, "above zero")
	even := func(n int) int { return n + n%2 }
	n, err := GateBlocksNeeded(.02, margin, 0, rule, .9, even)
	require.NoError(t, err)
	assert.Equal(t, 10, n, "the t bound alone says 8")
	_, err = GateBlocksNeeded(.02, .03, .03, rule, .9, even)
	require.ErrorContains(t, err, "no number of blocks")
	n, err = GateBlocksNeeded(.2, margin, 0, rule, .9, even)
	require.NoError(t, err)
	assert.InDelta(t, 482, n, 4)
}

// A forecast from residuals keeps their covariance: metrics that move together pass
// together, those that do not rarely all pass.
func TestResidualsKeepWhatMetricsShare(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 15))
	const n = 10
	residuals := make([][]float64, 4)
	for k := range residuals {
		residuals[k] = make([]float64, n)
	}
	for i := range n {
		a, b := r.NormFloat64(), r.NormFloat64()
		residuals[0][i], residuals[1][i], residuals[2][i], residuals[3][i] = a, 3*a, b, a+b
	}
	for k := range residuals {
		mean, _ := meanSS(residuals[k])
		for i := range residuals[k] {
			residuals[k][i] -= mean
		}
	}
	noise, out := Residuals(residuals), make([]float64, 4)
	var sums, squares [4]float64
	cross := 0.0
	const draws = 60_000
	for range draws {
		noise(r, out)
		for k, x := range out {
			sums[k] += x / draws
			squares[k] += x * x / draws
		}
		cross += out[0] * out[3] / draws
		assert.InDelta(t, out[0], out[1], 1e-9)
	}
	for k := range out {
		assert.InDelta(t, 0, sums[k], .02)
		assert.InDelta(t, 1, squares[k], .03)
	}
	want := 0.0
	for i := range n {
		want += residuals[0][i] * residuals[3][i]
	}
	want /= math.Sqrt(sumSquares(residuals[0]) * sumSquares(residuals[3]))
	assert.InDelta(t, want, cross, .03)

	f := NewForecast(8, 2, 2000, Rule{Alpha: .025}, Residuals(residuals[:2]))
	limits := []float64{1.2, 1.2}
	assert.Equal(t, f.Pass(limits), f.Pass([]float64{1.2, math.Inf(1)}), "one metric twice")
	apart := NewForecast(8, 2, 4000, Rule{Alpha: .025}, Independent)
	one := apart.Pass([]float64{1.2, math.Inf(1)})
	assert.InDelta(t, one*apart.Pass([]float64{math.Inf(1), 1.2}), apart.Pass(limits), .025)
}

func sumSquares(x []float64) (sum float64) {
	for _, v := range x {
		sum += v * v
	}
	return sum
}

// One campaign knows little of the next one's spread; several know more, and never
// promise less noise than one does.
func TestSpreadUpper(t *testing.T) {
	own := .02 * SDUpperFactor(6)
	assert.Equal(t, own, SpreadUpper(.02, 6, nil))
	assert.Equal(t, own, SpreadUpper(.02, 6, []float64{.02, .02, .02}))
	// t(0.8; 1) = 1.3764: logs of 0.02 and 0.08 are 0.6931 from their mean 0.04.
	assert.InDelta(t, .04*math.Exp(1.37638*.980258*math.Sqrt(1.5)), SpreadUpper(.02, 6, []float64{.08}), 1e-5)
	assert.Equal(t, .08*SDUpperFactor(6), SpreadUpper(.08, 6, []float64{.079}))
}

// The resamples of a forecast are those of the gate: as many, and each as often.
func TestForecastEnumeratesWhatTheGateDoes(t *testing.T) {
	d := []float64{.01, -.02, .013, .031, -.007, .022, .003, -.011}
	for _, byOrder := range []bool{false, true} {
		s := newSimulated(8, Rule{Alpha: .025, ByOrder: byOrder})
		opt := Options{}
		if byOrder {
			opt.Order = []bool{true, true, true, true, false, false, false, false}
		}
		e := mustAnalyze(t, d, opt)
		assert.InDelta(t, e.U, s.bound(d, 0), 1e-12)
		assert.InDelta(t, e.T.Hi, s.student(d), 1e-12)
		assert.Equal(t, map[bool]float64{false: 1<<24 - 8, true: 1<<16 - 16}[byOrder], s.pools[0].total, "8^8, 4^4 twice, less those without a spread")
	}
}

package stat

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Rank methods decide nothing here: under right skew they ask for another
// parameter than the mean. They are written out only to check their published
// values, and with them our data.

// depression scores of nine patients before and after a tranquilizer (Hollander
// and Wolfe, 1973), as differences.
var depression = differences(
	[]float64{1.83, .50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30},
	[]float64{.878, .647, .598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29})

func differences(x, y []float64) []float64 {
	d := make([]float64, len(x))
	for i := range x {
		d[i] = x[i] - y[i]
	}
	return d
}

// walsh returns the averages of all pairs of values, each value paired with itself
// too, in order.
func walsh(d []float64) []float64 {
	var all []float64
	for i := range d {
		for j := i; j < len(d); j++ {
			all = append(all, (d[i]+d[j])/2)
		}
	}
	slices.Sort(all)
	return all
}

// signedRank is V, the sum of the ranks of the positive values: the number of
// positive Walsh averages, a zero counting half.
func signedRank(d []float64) float64 {
	v := 0.0
	for _, w := range walsh(d) {
		if w > 0 {
			v++
		} else if w == 0 {
			v += .5
		}
	}
	return v
}

// signedRankTail returns P(V ≥ v) for n values without ties: of the 2ⁿ sets of
// ranks, the share whose sum is at least v.
func signedRankTail(n int, v float64) float64 {
	sets := make([]float64, n*(n+1)/2+1)
	sets[0] = 1
	for rank := 1; rank <= n; rank++ {
		for s := len(sets) - 1; s >= rank; s-- {
			sets[s] += sets[s-rank]
		}
	}
	tail := 0.0
	for s := int(math.Ceil(v)); s < len(sets); s++ {
		tail += sets[s]
	}
	return tail / math.Pow(2, float64(n))
}

// binomialTail returns P(X ≥ k) of n fair coins.
func binomialTail(n, k int) float64 {
	p, tail := math.Pow(.5, float64(n)), 0.0
	for i := 0; i <= n; i++ {
		if i >= k {
			tail += p
		}
		p = p * float64(n-i) / float64(i+1)
	}
	return tail
}

func TestOracleHodgesLehmann(t *testing.T) {
	for printed, d := range map[string][]float64{
		".46": depression, ".011": toy5, "25": darwin,
		".206130581": ratios(t, cd4First, cd4Year, LowerIsBetter),
	} {
		digits(t, printed, median(walsh(d)), printed)
	}
}

func TestOracleSignedRank(t *testing.T) {
	assert.Equal(t, 40.0, signedRank(depression))
	digits(t, ".0195312", signedRankTail(9, 40), "depression, as documented for R's wilcox.test: .01953")
	assert.Equal(t, 96.0, signedRank(darwin))
	digits(t, ".0206299", signedRankTail(15, 96), "darwin, one-sided")
	digits(t, ".0412598", 2*signedRankTail(15, 96), "darwin, two-sided")
}

// The k-th largest Walsh average is an upper bound; its level is what the
// distribution of V says.
func TestOracleSignedRankBounds(t *testing.T) {
	for _, o := range []struct {
		n, k95  int
		level95 string
		k975    int
		level   string
	}{
		{5, 1, ".9688", 0, ""}, {6, 3, ".9531", 1, ".9844"}, {8, 6, ".9609", 4, ".9805"},
		{10, 11, ".9580", 9, ".9756"}, {15, 31, ".9527", 26, ".9760"}, {20, 61, ".9513", 53, ".9758"},
	} {
		assert.Equal(t, o.k95, largestRank(o.n, .05), "95 %% of %d", o.n)
		digits(t, o.level95, rankLevel(o.n, o.k95), "level")
		assert.Equal(t, o.k975, largestRank(o.n, .025), "97.5 %% of %d", o.n)
		if o.k975 > 0 {
			digits(t, o.level, rankLevel(o.n, o.k975), "level")
		}
	}
	digits(t, ".021", walsh(toy5)[14], "toy5: the largest of 15")
	w6 := walsh(toy6)
	digits(t, ".0165", w6[len(w6)-3], "toy6: the third largest")
	w15 := walsh(darwin)
	assert.Equal(t, []float64{4, 41.5}, []float64{w15[25], w15[len(w15)-26]}, "darwin, 97.6 %% each")
}

// rankLevel of the k-th largest Walsh average of n values: P(V > k − 1 under the
// mirror image) = P(V ≥ k).
func rankLevel(n, k int) float64 { return signedRankTail(n, float64(k)) }

// largestRank is the largest k whose bound has at most the error alpha; 0 if none.
func largestRank(n int, alpha float64) int {
	k := 0
	for 1-rankLevel(n, k+1) <= alpha {
		k++
	}
	return k
}

// The k-th largest value is an upper bound of the median.
func TestOracleSignBounds(t *testing.T) {
	for n, want := range map[int][2]int{5: {1, 0}, 6: {1, 1}, 8: {2, 1}, 10: {2, 2}, 15: {4, 4}, 20: {6, 6}} {
		for i, alpha := range []float64{.05, .025} {
			k := 0
			for 1-binomialTail(n, k+1) <= alpha {
				k++
			}
			assert.Equal(t, want[i], k, "n %d, error %g", n, alpha)
		}
	}
}

// A zero is neither better nor worse: it stays in the mean and its interval, as in
// the published ones, and counts half in the rank sum.
func TestZeroEffectsStay(t *testing.T) {
	assert.Contains(t, sleep, 0.0)
	assert.Equal(t, 10, mustAnalyze(t, sleep, Options{}).N)
	assert.Equal(t, 54.5, signedRank(sleep), "55 less half")
}

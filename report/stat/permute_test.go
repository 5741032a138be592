package stat

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// block has n runs of each arm: shares within the arms and across them.
func block(n int, within, across float64) (differ [][]float64, candidate []bool) {
	for i := range 2 * n {
		row := make([]float64, 2*n)
		for k := range row {
			switch {
			case i == k:
			case (i < n) == (k < n):
				row[k] = within
			default:
				row[k] = across
			}
		}
		differ, candidate = append(differ, row), append(candidate, i >= n)
	}
	return differ, candidate
}

// Arms that are told apart without exception give the smallest p that there is:
// their own labels and, because both arms are alike here, the exchanged ones.
func TestOutputsThatDifferBetweenArmsOnly(t *testing.T) {
	for n, count := range map[int]float64{6: 924, 8: 12_870, 10: 184_756} {
		p, err := OutputsTest(first(block(n, 0.02, 0.3)))
		require.NoError(t, err)
		assert.InDelta(t, 2/count, p, 1e-12, n)
		assert.Equal(t, n >= 8, p < BatchAlpha, n)
	}
}

// A candidate that scatters more in itself is not symmetric to the baseline: its own
// labels alone are as extreme.
func TestOutputsOfAnUnsteadyCandidate(t *testing.T) {
	differ, candidate := block(6, 0, 0.3)
	for i := 6; i < 12; i++ {
		for k := 6; k < 12; k++ {
			if i != k {
				differ[i][k] = 0.5
			}
		}
	}
	p, err := OutputsTest(differ, candidate, nil, 1)
	require.NoError(t, err)
	assert.InDelta(t, 1/924.0, p, 1e-12)
}

// Equal arms: every permutation is as good as the observed one.
func TestOutputsThatDifferEverywhereAlike(t *testing.T) {
	for _, share := range []float64{0, 0.081} {
		p, err := OutputsTest(first(block(8, share, share)))
		require.NoError(t, err)
		assert.InDelta(t, 1, p, 0, share)
	}
}

// Labels stay within hosts: a difference between hosts is none between arms.
func TestOutputsOfTwoHosts(t *testing.T) {
	differ, candidate := block(8, 0.1, 0.1)
	host := make([]string, 16)
	for i := range host {
		host[i] = "a"
		if i%2 == 1 {
			host[i] = "b"
		}
	}
	for i := range differ {
		for k := range differ {
			if host[i] != host[k] {
				differ[i][k] = 0.9
			}
		}
	}
	p, err := OutputsTest(differ, candidate, host, 1)
	require.NoError(t, err)
	assert.InDelta(t, 1, p, 0)
}

// Of equal arms p is uniform: below 0.05 in 5 % of matrices at most, all permutations
// or drawn ones. The two agree on one matrix.
func TestOutputsTestKeepsItsError(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	low := 0
	const trials = 400
	for range trials {
		p, err := OutputsTest(first(noisy(rng, 6)))
		require.NoError(t, err)
		if p <= 0.05 {
			low++
		}
	}
	assert.LessOrEqual(t, low, 33, "5 % and three standard errors of %d", trials)

	differ, candidate := noisy(rng, 11) // 705 432 permutations: drawn
	drawn, err := OutputsTest(differ, candidate, nil, 3)
	require.NoError(t, err)
	l := newLabels(differ, candidate, nil)
	observed, atLeast := l.observed(candidate), 0
	l.every(func(x float64) {
		if reaches(x, observed) {
			atLeast++
		}
	})
	assert.InDelta(t, float64(atLeast)/l.count(), drawn, 0.006)
}

func noisy(rng *rand.Rand, n int) ([][]float64, []bool) {
	differ, candidate := block(n, 0, 0)
	for i := range differ {
		for k := range i {
			differ[i][k] = rng.Float64()
			differ[k][i] = differ[i][k]
		}
	}
	return differ, candidate
}

func first(differ [][]float64, candidate []bool) ([][]float64, []bool, []string, uint64) {
	return differ, candidate, nil, 1
}

// One run of the baseline has no pair to compare with.
func TestOutputsTestNeedsTwoBaselines(t *testing.T) {
	_, err := OutputsTest(first(block(1, 0, 1)))
	require.Error(t, err)
	_, err = OutputsTest([][]float64{{0, 1}, {1, 0}}, []bool{false, false}, nil, 1)
	require.Error(t, err)
}

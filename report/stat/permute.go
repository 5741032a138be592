package stat

import (
	"errors"
	"math/rand/v2"
)

// BatchAlpha is the p below which outputs of a batch differ more between arms than
// within the baseline. Eight runs of each arm are the fewest that can reach it.
const BatchAlpha = 0.001

// mostLabels is the number of permutations up to which all are taken: those of ten
// runs of each of two arms on one host are 184 756.
const mostLabels = 200_000

// drawnLabels is how many permutations are drawn where there are more.
const drawnLabels = 99_999

// OutputsTest asks whether the outputs of the candidate's runs differ from those of
// the baseline's more than these do among themselves. differ[i][k] is the share of
// requests whose outputs differ between runs i and k, symmetric; candidate says which
// runs are the candidate's; host groups runs, and nil is one host.
//
// The statistic is the mean over pairs of a baseline and a candidate run minus the
// mean over pairs of baseline runs. p is one-sided: the share of all permutations of
// the labels within hosts whose statistic is at least as large; beyond 200 000 of
// them, of 99 999 drawn ones and the observed. An error means that an arm has fewer
// than two runs (baseline) or none (candidate).
func OutputsTest(differ [][]float64, candidate []bool, host []string, seed uint64) (p float64, err error) {
	l := newLabels(differ, candidate, host)
	if l.baselines < 2 || l.baselines == len(differ) {
		return 1, errors.New("compare outputs: needs two runs of the baseline and one of the candidate")
	}
	observed := l.observed(candidate)
	if count := l.count(); count <= mostLabels {
		atLeast := 0
		l.every(func(t float64) {
			if reaches(t, observed) {
				atLeast++
			}
		})
		return float64(atLeast) / count, nil
	}
	atLeast := 1
	rng := rand.New(rand.NewPCG(seed, 0x6f757470757473)) // "outputs"
	for range drawnLabels {
		if reaches(l.draw(rng), observed) {
			atLeast++
		}
	}
	return float64(atLeast) / (drawnLabels + 1), nil
}

// reaches allows for sums that were added up in another order.
func reaches(t, observed float64) bool { return t >= observed-1e-12 }

// labels are the ways to call runs the baseline's, within hosts.
type labels struct {
	differ    [][]float64
	row       []float64 // sums over all runs
	groups    [][]int   // runs of each host
	choose    []int     // of these, how many are the baseline's
	baselines int
}

func newLabels(differ [][]float64, candidate []bool, host []string) *labels {
	l := &labels{differ: differ}
	group := map[string]int{}
	for i := range differ {
		name := ""
		if host != nil {
			name = host[i]
		}
		g, known := group[name]
		if !known {
			g = len(l.groups)
			group[name] = g
			l.groups, l.choose = append(l.groups, nil), append(l.choose, 0)
		}
		l.groups[g] = append(l.groups[g], i)
		sum := 0.0
		for _, x := range differ[i] {
			sum += x
		}
		l.row = append(l.row, sum)
		if !candidate[i] {
			l.choose[g]++
			l.baselines++
		}
	}
	return l
}

// count is the number of permutations; exact up to mostLabels and far beyond.
func (l *labels) count() float64 {
	product := 1.0
	for g, runs := range l.groups {
		for i := range l.choose[g] {
			product *= float64(len(runs)-i) / float64(i+1)
		}
	}
	return float64(int64(min(product, 1e15) + 0.5))
}

// statistic is made from the sums within the baseline and over its rows, which hold
// each inner pair twice and each pair with a candidate once.
func (l *labels) statistic(within, rows float64) float64 {
	b := float64(l.baselines)
	across := rows - 2*within
	return across/(b*float64(len(l.differ)-l.baselines)) - within/(b*(b-1)/2)
}

func (l *labels) observed(candidate []bool) float64 {
	var chosen []int
	within, rows := 0.0, 0.0
	for i, other := range candidate {
		if !other {
			within, rows = within+l.toAll(i, chosen), rows+l.row[i]
			chosen = append(chosen, i)
		}
	}
	return l.statistic(within, rows)
}

func (l *labels) toAll(i int, chosen []int) (sum float64) {
	for _, k := range chosen {
		sum += l.differ[i][k]
	}
	return sum
}

// every visits the statistic of each permutation.
func (l *labels) every(visit func(t float64)) {
	chosen := make([]int, 0, l.baselines)
	var choose func(g, from, left int, within, rows float64)
	choose = func(g, from, left int, within, rows float64) {
		if left == 0 {
			if g++; g == len(l.groups) {
				visit(l.statistic(within, rows))
				return
			}
			choose(g, 0, l.choose[g], within, rows)
			return
		}
		for at := from; at <= len(l.groups[g])-left; at++ {
			i := l.groups[g][at]
			w := within + l.toAll(i, chosen)
			chosen = append(chosen, i)
			choose(g, at+1, left-1, w, rows+l.row[i])
			chosen = chosen[:len(chosen)-1]
		}
	}
	choose(0, 0, l.choose[0], 0, 0)
}

// draw is the statistic of a permutation drawn at random.
func (l *labels) draw(rng *rand.Rand) float64 {
	chosen := make([]int, 0, l.baselines)
	within, rows := 0.0, 0.0
	for g, runs := range l.groups {
		rng.Shuffle(len(runs), func(i, k int) { runs[i], runs[k] = runs[k], runs[i] })
		for _, i := range runs[:l.choose[g]] {
			within, rows = within+l.toAll(i, chosen), rows+l.row[i]
			chosen = append(chosen, i)
		}
	}
	return l.statistic(within, rows)
}

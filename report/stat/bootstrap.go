package stat

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

const (
	// exactLimit is the largest number of blocks whose resamples are enumerated:
	// 1 352 078 multisets of twelve.
	exactLimit = 12
	// draws of the Monte Carlo bootstrap above it; (draws+1)·0.025 is whole.
	draws = 99_999
	// stream is the second half of the generator's state; any fixed number does.
	stream = 0x6f7062656e636821
)

// resample is one outcome of the bootstrap: the shift of the estimate, the sum
// of squares about the resampled group means, and how often it occurs. ss is 0
// exactly if the resample is degenerate: every group shows one value only.
type resample struct {
	shift, ss, count float64
}

// resamples draws within each group. Counts are whole numbers below 2^53, so
// their sums are exact in any order.
func resamples(groups []group, seed uint64) []resample {
	n := 0
	for _, g := range groups {
		n += len(g.values)
	}
	if n > exactLimit {
		return monteCarlo(groups, seed, draws)
	}
	all := enumerate(groups[0])
	for _, g := range groups[1:] {
		all = product(all, enumerate(g))
	}
	return all
}

// enumerator walks over all multisets of a group's values.
type enumerator struct {
	values []float64 // distinct, less the group mean
	copies []float64 // how often each occurs in the sample
	n      int
	scale  float64 // from a sum of values to a shift of the estimate
	out    []resample
}

func enumerate(g group) []resample {
	e := enumerator{n: len(g.values), scale: g.weight / float64(len(g.values))}
	at := 0
	for _, c := range g.counts {
		e.values = append(e.values, g.values[at]-g.mean)
		e.copies = append(e.copies, float64(c))
		at += c
	}
	e.out = make([]resample, 0, multisets(len(e.values), e.n))
	e.walk(0, e.n, 0, 0, 0, 1)
	return e.out
}

// multisets returns the number of multisets of size n from k values:
// C(n+k−1, n).
func multisets(k, n int) int {
	c := 1
	for i := 1; i <= n; i++ {
		c = c * (k - 1 + i) / i
	}
	return c
}

// walk chooses how often value k is drawn, from the draws that are left. sum and
// squares belong to the values chosen so far, kinds is the number of different
// ones, count the number of ordered draws that give them.
func (e *enumerator) walk(k, left, kinds int, sum, squares, count float64) {
	x := e.values[k]
	if k == len(e.values)-1 || left == 0 {
		for range left {
			count *= e.copies[k]
		}
		if left > 0 {
			kinds++
		}
		l := float64(left)
		e.emit(kinds, sum+float64(l*x), squares+float64(float64(l*x)*x), count)
		return
	}
	e.walk(k+1, left, kinds, sum, squares, count)
	for c := 1; c <= left; c++ {
		// C(left, c)·copies^c, built up factor by factor; whole at every step.
		count = count * float64(left-c+1) / float64(c) * e.copies[k]
		sum += x
		squares += float64(x * x)
		e.walk(k+1, left-c, kinds+1, sum, squares, count)
	}
}

func (e *enumerator) emit(kinds int, sum, squares, count float64) {
	ss := 0.0
	if kinds > 1 {
		ss = spread(sum, squares, float64(e.n))
	}
	e.out = append(e.out, resample{shift: float64(sum * e.scale), ss: ss, count: count})
}

// spread returns the sum of squares about the mean of a resample that isn't
// degenerate. Where cancellation eats it, the floor keeps it above zero: the t
// value is then huge, as it should be, but finite.
func spread(sum, squares, n float64) float64 {
	return max(squares-float64(sum*sum)/n, squares*0x1p-50, math.SmallestNonzeroFloat64)
}

// product joins the resamples of independent groups.
func product(a, b []resample) []resample {
	out := make([]resample, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			out = append(out, resample{x.shift + y.shift, x.ss + y.ss, x.count * y.count})
		}
	}
	return out
}

func monteCarlo(groups []group, seed uint64, n int) []resample {
	source := rand.NewPCG(seed, stream)
	out := make([]resample, n)
	for i := range out {
		out[i].count = 1
		for _, g := range groups {
			shift, ss := g.draw(source)
			out[i].shift += shift
			out[i].ss += ss
		}
	}
	return out
}

// draw resamples one group. Indices are taken from the high half of a product,
// which depends on the generator alone and not on a library's rejection rule;
// the bias is below 2^-50.
func (g *group) draw(source *rand.PCG) (shift, ss float64) {
	n := len(g.values)
	low, high := math.Inf(1), math.Inf(-1)
	var sum, squares float64
	for range n {
		i, _ := bits.Mul64(source.Uint64(), uint64(n))
		v := g.values[i]
		low, high = min(low, v), max(high, v)
		x := v - g.mean
		sum += x
		squares += float64(x * x)
	}
	if low < high {
		ss = spread(sum, squares, float64(n))
	}
	return sum * g.weight / float64(n), ss
}

// studentize returns the t value of every resample that isn't degenerate, with
// its count.
func studentize(all []resample, df, varianceFactor float64) []weighted {
	out := make([]weighted, 0, len(all))
	scale := math.Sqrt(df / varianceFactor)
	for _, r := range all {
		if r.ss > 0 {
			out = append(out, weighted{r.shift * scale / math.Sqrt(r.ss), r.count})
		}
	}
	return out
}

// shifts returns the shift of every resample with its count.
func shifts(all []resample) []weighted {
	out := make([]weighted, len(all))
	for i, r := range all {
		out[i] = weighted{r.shift, r.count}
	}
	return out
}

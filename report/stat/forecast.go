package stat

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
)

const (
	// resampledBlocks is the most blocks of a simulated campaign whose bootstrap is
	// drawn; above that its bound comes from its expansion, which is as good there.
	resampledBlocks = 20
	// forecastDraws of the bootstrap of a simulated campaign. Each metric's bound is a
	// little off with so few, which costs a campaign of eight metrics a point of power
	// with 1 000 draws, and less the more blocks there are.
	forecastDraws, fewerDraws = 3999, 999
	// manyDraws are those of all pools, which are taken in turn, so that one unlucky set of
	// draws decides nothing.
	manyDraws = 256_000
	// enumeratedBlocks is up to where all resamples are taken: 6 435 of eight blocks.
	enumeratedBlocks = 8
)

// Noise draws the effects of the primary metrics in one block: out has one place for
// each, and each has mean zero and standard deviation one.
type Noise func(r *rand.Rand, out []float64)

// Independent is normal noise of metrics that have nothing in common.
func Independent(r *rand.Rand, out []float64) {
	for i := range out {
		out[i] = r.NormFloat64()
	}
}

// Residuals is the noise of a campaign: its own residual vectors, one for each block
// with a value for each metric, drawn with replacement and scaled by √(n/(n−1)), so
// that metrics move together as they did. residuals[k] belongs to metric k and has
// mean zero, within each order if the effects are adjusted for it. A campaign never
// repeats a block to the last digit, and tied effects have no bound, so each draw is
// smoothed by normal noise of the same covariance, of Silverman's width for n vectors,
// and shrunk to keep the variance (Silverman and Young, Biometrika 1987).
func Residuals(residuals [][]float64) Noise {
	n := len(residuals[0])
	unit := make([][]float64, len(residuals))
	for k, list := range residuals {
		squares := 0.0
		for _, x := range list {
			squares += float64(x * x)
		}
		unit[k] = make([]float64, n)
		for i, x := range list {
			unit[k][i] = x / math.Sqrt(squares)
		}
	}
	width := math.Pow(4/(3*float64(n)), 0.2)
	shrunk := 1 / math.Sqrt(1+float64(width*width))
	weights := make([]float64, n)
	return func(r *rand.Rand, out []float64) {
		for i := range weights {
			weights[i] = float64(width * r.NormFloat64())
		}
		weights[r.IntN(n)] += math.Sqrt(float64(n))
		for k := range out {
			sum := 0.0
			for i, w := range weights {
				sum += float64(w * unit[k][i])
			}
			out[k] = float64(shrunk * sum)
		}
	}
}

// Forecast is what campaigns of so many blocks would find: their upper bounds, if the
// true effect of each metric is zero and its standard deviation one. The bootstrap's is
// computed where Student's lets a campaign pass.
type Forecast struct {
	n          int
	df, alphaT float64 // of Student's bound
	onlyT      [][]float64
	u          [][]float64 // by metric, then campaign; NaN: not computed yet
	d          [][]float64 // by metric: the effects of one campaign after the other
	rule       *simulated
	mu         sync.Mutex
}

// NewForecast simulates campaigns of n blocks under the rule of the gate. The same
// arguments give the same forecast. A Noise belongs to one caller at a time. Orders
// balance in even plans only: adjusted for order, an odd one counts as one block less.
func NewForecast(n, metrics, campaigns int, rule Rule, noise Noise) *Forecast {
	if rule.ByOrder {
		n -= n % 2
	}
	f := &Forecast{n: n}
	if n < MinBlocks {
		return f
	}
	f.rule = newSimulated(n, rule)
	f.df, f.alphaT = f.rule.df, f.rule.alphaT
	for range metrics {
		f.d = append(f.d, make([]float64, campaigns*n))
		f.u = append(f.u, slices.Repeat([]float64{math.NaN()}, campaigns))
		f.onlyT = append(f.onlyT, make([]float64, campaigns))
	}
	r := rand.New(rand.NewPCG(uint64(n), stream))
	block := make([]float64, metrics)
	for i := range campaigns * n {
		noise(r, block)
		for k, x := range block {
			f.d[k][i] = x
		}
	}
	for k := range f.d {
		for c := range campaigns {
			f.onlyT[k][c] = f.rule.student(f.d[k][c*n : (c+1)*n])
		}
	}
	return f
}

// passes reports whether a campaign passes on a metric.
func (f *Forecast) passes(k, c int, limit float64) bool {
	if f.onlyT[k][c] >= limit {
		return false
	}
	if math.IsNaN(f.u[k][c]) {
		f.u[k][c] = f.rule.bound(f.d[k][c*f.n:(c+1)*f.n], c)
	}
	return f.u[k][c] < limit
}

// Pass is the share of the campaigns in which every metric passes; limits has for each
// the distance from the true effect to the margin, in standard deviations.
func (f *Forecast) Pass(limits []float64) float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	pass := 0
	for c := range f.campaigns() {
		byStudent, all := true, true
		for k, limit := range limits {
			byStudent = byStudent && f.onlyT[k][c] < limit
		}
		for k, limit := range limits {
			all = all && byStudent && f.passes(k, c, limit)
		}
		if all {
			pass++
		}
	}
	return float64(pass) / float64(max(1, f.campaigns()))
}

// campaigns are none below MinBlocks, which nothing passes.
func (f *Forecast) campaigns() int {
	if f.onlyT == nil {
		return 0
	}
	return len(f.onlyT[0])
}

// refused is the share of campaigns of a single metric that pass Student's bound and
// not the bootstrap's.
func (f *Forecast) refused(limit float64) float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for c, t := range f.onlyT[0] {
		if t < limit && !f.passes(0, c, limit) {
			n++
		}
	}
	return float64(n) / float64(f.campaigns())
}

// forecasts of single metrics are the same for everybody.
var forecasts sync.Map

func forecastOfOne(n int, rule Rule) *Forecast {
	type key struct {
		n    int
		rule Rule
	}
	campaigns := 3_000
	if n <= exactLimit {
		campaigns = 12_000
	}
	once := sync.OnceValue(func() *Forecast { return NewForecast(n, 1, campaigns, rule, Independent) })
	found, _ := forecasts.LoadOrStore(key{n, rule}, once)
	return found.(func() *Forecast)()
}

// simulated is the rule of the gate for one number of blocks.
type simulated struct {
	n, groups     int
	df, alphaT, t float64
	alpha         float64 // of the bootstrap; 0: there is none
	pools         []drawPool
	values        []float64
	lowest        []weighted
}

// drawPool are resamples, as places of values; weight says how often each occurs, total
// how often all do.
type drawPool struct {
	places []uint8
	weight []float64
	total  float64
}

// add puts a resample into the pool, unless it has no spread, one place only in each
// group, and so no t value: too few to count where no effects are equal.
func (p *drawPool) add(places []uint8, groups int, weight float64) {
	half, spread := len(places)/groups, false
	for i := range places {
		spread = spread || places[i] != places[i/half*half]
	}
	if !spread {
		return
	}
	p.places = append(p.places, places...)
	p.weight = append(p.weight, weight)
	p.total += weight
}

func newSimulated(n int, rule Rule) *simulated {
	s := &simulated{n: n, groups: 1, alphaT: rule.Alpha, alpha: rule.Alpha, values: make([]float64, n)}
	if rule.ByOrder {
		s.groups = 2
	}
	s.df = float64(n - s.groups)
	if n/s.groups < leastOrderBlocks {
		s.alpha, s.alphaT = 0, strictT*rule.Alpha
	}
	s.t = tQuantile(s.alphaT, s.df)
	switch {
	case s.alpha == 0 || n > resampledBlocks:
	case n <= enumeratedBlocks:
		s.enumerate()
	default:
		s.draw()
	}
	return s
}

// draw fills the pools with resamples: places within the group of each block.
func (s *simulated) draw() {
	source := rand.NewPCG(uint64(s.n), stream+1)
	draws := forecastDraws
	if s.n > exactLimit {
		draws = fewerDraws
	}
	s.pools = make([]drawPool, manyDraws/draws)
	places := make([]uint8, s.n)
	for p := range s.pools {
		s.pools[p].places = make([]uint8, 0, s.n*draws)
		for range draws {
			for i := range places {
				from, to := s.groupOf(i)
				k, _ := bits.Mul64(source.Uint64(), uint64(to-from))
				places[i] = uint8(from + int(k))
			}
			s.pools[p].add(places, s.groups, 1)
		}
	}
}

// enumerate makes one pool of all resamples: places never fall within a group, and each
// occurs as often as its places can be ordered.
func (s *simulated) enumerate() {
	pool := drawPool{}
	chosen := make([]uint8, s.n)
	var walk func(i int, ways float64, run int)
	walk = func(i int, ways float64, run int) {
		if i == s.n {
			pool.add(chosen, s.groups, ways)
			return
		}
		from, to := s.groupOf(i)
		for k := from; k < to; k++ {
			again := 1
			if i > from {
				if k < int(chosen[i-1]) {
					continue
				}
				if k == int(chosen[i-1]) {
					again = run + 1
				}
			}
			chosen[i] = uint8(k)
			// The multinomial coefficient, factor by factor: whole at every step.
			walk(i+1, ways*float64(i-from+1)/float64(again), again)
		}
	}
	walk(0, 1, 0)
	s.pools = []drawPool{pool}
}

// groupOf is the range of the group of block i.
func (s *simulated) groupOf(i int) (from, to int) {
	half := s.n / s.groups
	if i < half || s.groups == 1 {
		return 0, half
	}
	return half, s.n
}

// student is the upper t bound.
func (s *simulated) student(d []float64) float64 {
	mean, se, _ := s.estimate(d)
	return mean + float64(s.t*se)
}

// bound is the gate's: the larger one of Student's and the bootstrap's.
func (s *simulated) bound(d []float64, campaign int) float64 {
	mean, se, skew := s.estimate(d)
	onlyT := mean + float64(s.t*se)
	switch {
	case s.alpha == 0:
		return onlyT
	case s.n > resampledBlocks:
		return max(onlyT, mean+float64(expanded(s.t, skew, s.n)*se))
	}
	return max(onlyT, mean-float64(s.quantile(s.pools[campaign%len(s.pools)])*se))
}

// estimate returns the mean of d, its standard error and the skewness, and keeps the
// residuals. The groups of d are its two halves: their means weigh the same.
func (s *simulated) estimate(d []float64) (mean, se, skew float64) {
	ss, cubes := 0.0, 0.0
	for g := range s.groups {
		from, to := s.groupOf(g * (s.n - 1))
		m := 0.0
		for _, x := range d[from:to] {
			m += x / float64(to-from)
		}
		mean += m / float64(s.groups)
		for i := from; i < to; i++ {
			x := d[i] - m
			s.values[i] = x
			ss += float64(x * x)
			cubes += float64(float64(x*x) * x)
		}
	}
	n := float64(s.n)
	return mean, math.Sqrt(ss / s.df / n), cubes / n / math.Pow(ss/n, 1.5)
}

// expanded is the upper quantile of the studentized bootstrap by its Edgeworth
// expansion: Student's, moved by the skewness (Hall, The Bootstrap and Edgeworth
// Expansion, 3.3).
func expanded(t, skew float64, n int) float64 {
	return t + float64(skew*(2*float64(t*t)+1))/(6*math.Sqrt(float64(n)))
}

// quantile is the t* below which alpha of the resamples lie. It is looked for far below
// zero first, where it nearly always is: the others need no root then.
func (s *simulated) quantile(pool drawPool) float64 {
	target := rank(s.alpha, pool.total)
	for _, least := range []float64{1.5, 0} {
		squared, below := float64(least*least)*float64(s.n)/s.df, 0.0
		s.lowest = s.lowest[:0]
		for at, k := 0, 0; at < len(pool.places); at, k = at+s.n, k+1 {
			places := pool.places[at : at+s.n]
			sum := 0.0
			for _, i := range places {
				sum += s.values[i]
			}
			if sum >= 0 {
				continue
			}
			ss := s.spreadOf(places)
			if float64(sum*sum) <= float64(squared*ss) {
				continue
			}
			below += pool.weight[k]
			s.lowest = append(s.lowest, weighted{sum / math.Sqrt(ss), pool.weight[k]})
		}
		if below >= target {
			return smallest(s.lowest, target) * math.Sqrt(s.df/float64(s.n))
		}
	}
	return 0 // fewer than alpha of the resamples lie below the mean
}

// spreadOf is the sum of squares of a resample about the means of its groups.
func (s *simulated) spreadOf(places []uint8) (ss float64) {
	half := s.n / s.groups
	for from := 0; from < s.n; from += half {
		sum, squares := 0.0, 0.0
		for _, i := range places[from : from+half] {
			x := s.values[i]
			sum += x
			squares += float64(x * x)
		}
		ss += squares - float64(sum*sum)/float64(half)
	}
	return ss
}

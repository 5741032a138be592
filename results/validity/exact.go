package validity

import (
	"math"

	"gonum.org/v1/gonum/stat/combin"
	"gonum.org/v1/gonum/stat/distuv"
)

// binomial is the two-sided exact p of x successes in n: the probability of all
// outcomes that are no likelier than x.
func binomial(x, n int, share float64) float64 {
	d := distuv.Binomial{N: float64(n), P: share}
	limit := d.Prob(float64(x)) * (1 + 1e-7) // ties are equal but for rounding
	p := 0.0
	for i := 0; i <= n; i++ {
		if q := d.Prob(float64(i)); q <= limit {
			p += q
		}
	}
	return min(1, p)
}

// fisher is the one-sided p of Fisher's exact test (Fisher, Statistical Methods for
// Research Workers, 1934): that at least x of n runs fail if x + y faults fall on
// n + m runs by chance.
func fisher(x, n, y, m int) float64 {
	p := 0.0
	for k := x; k <= min(n, x+y); k++ {
		if x+y-k <= m {
			p += math.Exp(logChoose(n, k) + logChoose(m, x+y-k) - logChoose(n+m, x+y))
		}
	}
	return min(1, p)
}

func logChoose(n, k int) float64 { return combin.LogGeneralizedBinomial(float64(n), float64(k)) }

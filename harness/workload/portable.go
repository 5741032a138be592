package workload

import "math"

// The functions of package math may differ in the last bit between processors,
// and the compiler may fuse x*y + z on some. These two give the same bits
// everywhere: every product is rounded by a conversion before it is added. (A
// product with a power of two is exact and needs none.)

// logPortable is the natural logarithm of a positive finite number.
func logPortable(x float64) float64 {
	frac, exp := math.Frexp(x)
	if frac < math.Sqrt2/2 {
		frac, exp = 2*frac, exp-1
	}
	// ln m = 2 artanh f with f = (m-1)/(m+1), |f| < 0.172
	f := (frac - 1) / (frac + 1)
	square, sum := float64(f*f), 0.0
	for k := 23; k >= 1; k -= 2 {
		sum = float64(sum*square) + 1/float64(k)
	}
	return float64(float64(exp)*math.Ln2) + float64(2*f*sum)
}

// expPortable is e^x for |x| < 700.
func expPortable(x float64) float64 {
	k := math.Round(x / math.Ln2)
	r := x - float64(k*math.Ln2)
	sum := 1.0
	for n := 20; n >= 1; n-- {
		sum = 1 + float64(sum*r)/float64(n)
	}
	return math.Ldexp(sum, int(k))
}

package stat

import (
	"math/big"
	"strconv"
)

// precision of intermediate logarithms, in bits: far more than the 53 of the
// result, so that it is rounded once.
const precision = 160

func wide(x float64) *big.Float {
	return new(big.Float).SetPrec(precision).SetFloat64(x)
}

// ln returns ln(x/y) of positive numbers, rounded once. It overwrites both.
// math.Log differs between processors in its last digit, because some have an
// assembly version and some fuse a product with a sum; whole-number arithmetic
// is the same everywhere.
func ln(x, y *big.Float) float64 {
	k := x.MantExp(x) - y.MantExp(y)
	switch r, _ := new(big.Float).Quo(x, y).Float64(); {
	case r > 1.4:
		x.SetMantExp(x, -1)
		k++
	case r < 0.7:
		x.SetMantExp(x, 1)
		k--
	}
	sum := twiceAtanh(new(big.Float).Sub(x, y), new(big.Float).Add(x, y))
	if k != 0 {
		two := twiceAtanh(wide(1), wide(3)) // ln 2
		sum.Add(sum, two.Mul(two, wide(float64(k))))
	}
	f, _ := sum.Float64()
	return f
}

// twiceAtanh returns 2·atanh(a/b) = ln((b+a)/(b−a)) by its power series; a/b is
// at most 1/3.
func twiceAtanh(a, b *big.Float) *big.Float {
	z := new(big.Float).SetPrec(precision).Quo(a, b)
	square := new(big.Float).Mul(z, z)
	power, sum := new(big.Float).Copy(z), new(big.Float).Copy(z)
	for i := 3.0; ; i += 2 {
		power.Mul(power, square)
		term := new(big.Float).Quo(power, wide(i))
		if term.Sign() == 0 || term.MantExp(nil) < sum.MantExp(nil)-precision {
			return sum.Mul(sum, wide(2))
		}
		sum.Add(sum, term)
	}
}

// twelveDigits rounds to twelve significant digits, decimally. It is for the
// distribution functions of gonum and the standard library, whose last two or
// three digits depend on the processor.
func twelveDigits(x float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 11, 64), 64)
	if err != nil { // NaN and infinities have no digits
		return x
	}
	return rounded
}

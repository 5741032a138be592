package view

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Amount formats a number with four significant digits and its unit: seconds
// as s, ms or µs, tokens per second as tok/s.
func Amount(x *float64, unit string) string {
	if x == nil {
		return "-"
	}
	if unit != "s" {
		return Significant(*x) + " " + unit
	}
	switch abs := math.Abs(*x); {
	case abs >= 1 || abs == 0:
		return Significant(*x) + " s"
	case abs >= 1e-3:
		return Significant(*x*1e3) + " ms"
	}
	return Significant(*x*1e6) + " µs"
}

func Significant(x float64) string {
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	decimals := 3 - int(math.Floor(math.Log10(math.Abs(x))))
	return Group(strconv.FormatFloat(x, 'f', min(max(decimals, 0), 6), 64))
}

// Group puts a space between thousands of the integer part.
func Group(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	whole, fraction, found := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + " " + whole[i:]
	}
	if found {
		whole += "." + fraction
	}
	return sign + whole
}

// mostDecimals is where two different numbers are shown as different at the
// latest: a float64 percentage has no more to tell.
const mostDecimals = 15

// Boundless is from where on a percentage means only that there is no bound.
const Boundless = 1e9

// Percent formats a percentage with one decimal and a sign; more decimals where
// rounding would put it on the margin or on the margin's other side.
func Percent(x, margin float64) string {
	if math.Abs(x) >= Boundless {
		return strings.TrimSuffix(fmt.Sprintf("%+.0f", math.Copysign(1, x)), "1") + "∞ %"
	}
	decimals := 1
	for decimals < mostDecimals && sideOf(rounded(x, decimals), margin) != sideOf(x, margin) {
		decimals++
	}
	s := strconv.FormatFloat(x, 'f', decimals, 64)
	if strings.Trim(s, "-0.") == "" {
		return strings.TrimPrefix(s, "-") + " %"
	}
	if x > 0 {
		s = "+" + s
	}
	return s + " %"
}

func rounded(x float64, decimals int) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(x, 'f', decimals, 64), 64)
	if err != nil {
		return x // infinite: it has no decimals
	}
	return v
}

func sideOf(x, margin float64) int {
	switch {
	case x < margin:
		return -1
	case x > margin:
		return 1
	}
	return 0
}

// Aligned is percent for a column of a table: a zero begins with a space where
// the others have their sign.
func Aligned(x *float64, margin float64) string {
	s := MaybePercent(x, margin)
	if x != nil && !strings.ContainsAny(s[:1], "+-") {
		return " " + s
	}
	return s
}

// MaybePercent is percent for a value that may be absent.
func MaybePercent(x *float64, margin float64) string {
	if x == nil {
		return "-"
	}
	return Percent(*x, margin)
}

// EffectOf is the effect of a metric, or that there is none to speak of.
func EffectOf(m *Metric, margin float64) string {
	if m.Undefined != "" {
		return "undefined"
	}
	return MaybePercent(m.Effect, margin)
}

// Interval formats a two-sided interval in percent.
func Interval(lower, upper *float64, margin float64) string {
	if lower == nil || upper == nil {
		return "-"
	}
	return "[" + Aligned(lower, margin) + ", " + Aligned(upper, margin) + "]"
}

// Plain formats a stated percentage, such as a margin, without sign or
// superfluous zeros.
func Plain(x float64) string {
	return strconv.FormatFloat(rounded(x, 6)+0, 'f', -1, 64) // -0 + 0 is 0
}

// Hundredths formats a percentage that is small by nature.
func Hundredths(x float64) string {
	s := fmt.Sprintf("%+.2f", x)
	if strings.Trim(s, "+-0.") == "" {
		return "0.00"
	}
	return s
}

// AllOf is "all 3 metrics", and "its only metric" of one.
func AllOf(n int, one, many string) string {
	if n == 1 {
		return "its only " + one
	}
	return "all " + Plural(n, one, many)
}

// Plural is a number with its noun, thousands apart.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%s %s", Group(strconv.Itoa(n)), many)
}

func Finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// NoMargin is beyond every effect: such a number is rounded freely.
const NoMargin = 1e300

package stat

import (
	"flag"
	"fmt"
	"math"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
)

var update = flag.Bool("update", false, "write testdata/bits.txt again")

// exact prints every bit of a number.
func exact(x float64) string { return strconv.FormatFloat(x, 'x', -1, 64) }

// decided lists what a verdict hangs on, bit by bit.
func decided(t *testing.T, name string, d []float64, opt Options) string {
	t.Helper()
	e := mustAnalyze(t, d, opt)
	var text strings.Builder
	for _, v := range []struct {
		of string
		x  float64
	}{
		{"mean", e.Mean}, {"sd", e.SD}, {"se", e.SE}, {"t.lo", e.T.Lo}, {"t.hi", e.T.Hi}, {"boot.lo", e.BootT.Lo},
		{"boot.hi", e.BootT.Hi}, {"percentile.lo", e.Percentile.Lo}, {"percentile.hi", e.Percentile.Hi},
		{"bca.lo", e.BCa.Lo}, {"bca.hi", e.BCa.Hi}, {"L", e.L}, {"U", e.U}, {"p", e.P}, {"q", e.Q}, {"qp", e.QP},
	} {
		fmt.Fprintf(&text, "%s %s %s\n", name, v.of, exact(v.x))
	}
	return text.String()
}

// The same answer on every machine, to the last bit: from the two values of a run
// to the bounds, for enumeration, drawing, orders, hosts and looks.
func TestBitsAreTheSameEverywhere(t *testing.T) {
	raw := ratios(t, offMS, onMS, LowerIsBetter)
	rates := ratios(t, cd4First, cd4Year, HigherIsBetter)
	order := []bool{true, false, false, true, true, false, false, true, false, true}
	host := slices.Concat(slices.Repeat([]string{"a"}, 6), slices.Repeat([]string{"b"}, 4))
	var text strings.Builder
	text.WriteString("margin time " + exact(Margin(.03, LowerIsBetter)) + "\nmargin rate " + exact(Margin(.03, HigherIsBetter)) + "\n")
	for i, d := range raw {
		fmt.Fprintf(&text, "raw d%d %s %s\n", i+1, exact(d), exact(Percent(d, LowerIsBetter)))
	}
	text.WriteString(decided(t, "raw", raw, Options{}))
	text.WriteString(decided(t, "ten", rates[:10], Options{}))
	text.WriteString(decided(t, "aircondit", aircond, Options{}))
	text.WriteString(decided(t, "drawn", rates, Options{Seed: 3}))
	text.WriteString(decided(t, "look", rates, Options{Alpha: .01433, Seed: 3}))
	text.WriteString(decided(t, "order", rates[:10], Options{Order: order}))
	text.WriteString(decided(t, "host", rates[:10], Options{Host: host}))
	const golden = "testdata/bits.txt"
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(text.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), text.String(), "go test ./report/stat -run TestBits -update writes it")
}

// assembly of a package for a processor that fuses a product with a sum.
func assembly(t *testing.T, folder string) string {
	t.Helper()
	c := exec.Command("go", "build", "-gcflags=-S", ".")
	c.Dir = folder
	c.Env = append(os.Environ(), "GOARCH=arm64", "GOOS=linux", "CGO_ENABLED=0", "GOWORK=off")
	out, err := c.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "FMULD", "no products at all")
	return string(out)
}

// fused are the instructions that round a product and a sum only once.
var fused = regexp.MustCompile(`(?m)^.*\bFN?M(ADD|SUB)D\b.*$`)

// On arm64, ppc64, s390x and riscv64 the compiler may fuse a*b+c; amd64, where
// tests mostly run, has nothing to say about that. So the compiler is asked.
func TestNothingIsFused(t *testing.T) {
	for _, line := range fused.FindAllString(assembly(t, "."), -1) {
		assert.Contains(t, line, "/gonum@", "our own code, not what gonum has us inline")
	}

	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module fuses\n\ngo 1.26\n"), 0o644))
	source := "package fuses\n\nfunc F(a, b, c float64) float64 { return a*b + c }\n\nfunc G(a, b float64) float64 { return a * b }\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "f.go"), []byte(source), 0o644))
	assert.NotEmpty(t, fused.FindAllString(assembly(t, dir), -1), "the check must see what it looks for")
}

// ln against a logarithm that it shares nothing with: e^x by its series must give
// back the ratio.
func TestLogarithmIsExact(t *testing.T) {
	for _, r := range [][2]float64{{417, 412}, {1, 1}, {1, 2}, {2, 1}, {1.03, 1}, {.97, 1}, {1e9, 1}, {1, 1e9}, {3, 1e-300},
		{1e-300, 1}, {math.MaxFloat64, 1}, {math.Nextafter(1, 2), 1}, {1, 1.4142}, {7, 5}, {5, 7}} {
		got := ln(wide(r[0]), wide(r[1]))
		assert.InDelta(t, math.Log(r[0])-math.Log(r[1]), got, 1e-13*max(1, math.Abs(got)), r)
		if math.Abs(got) > 2 {
			continue
		}
		// Half a unit in the last place of got, and no more, may be missing.
		missing, _ := new(big.Float).Sub(exponential(wide(got)), new(big.Float).SetPrec(200).Quo(wide(r[0]), wide(r[1]))).Float64()
		half := (math.Nextafter(math.Abs(got), 3) - math.Abs(got)) / 2
		assert.LessOrEqual(t, math.Abs(missing), half*r[0]/r[1]*(1+1e-9), r)
	}
}

func exponential(x *big.Float) *big.Float {
	sum, term := new(big.Float).SetPrec(200).SetFloat64(1), new(big.Float).SetPrec(200).SetFloat64(1)
	for i := 1.0; i < 80; i++ {
		term.Mul(term, x).Quo(term, wide(i))
		sum.Add(sum, term)
	}
	return sum
}

// Twelve digits are the same on every machine only if no value that matters lies
// in the middle between two of them: it must round alike if its last digits differ
// by several times what one rounding does.
func TestTwelveDigitsAreSafe(t *testing.T) {
	mostDF := map[float64]float64{DefaultAlpha: 40, .4 * DefaultAlpha: 40, .05: 40}
	for _, plan := range lookPlans {
		mostDF[plan.alpha], mostDF[.4*plan.alpha] = 19, 19
	}
	for alpha, most := range mostDF {
		for df := 1.0; df <= most; df++ {
			x := distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(1 - alpha)
			assert.Equal(t, twelveDigits(x), twelveDigits(x*(1+1e-15)), "alpha %g, %g degrees of freedom", alpha, df)
			assert.Equal(t, twelveDigits(x), twelveDigits(x*(1-1e-15)), "alpha %g, %g degrees of freedom", alpha, df)
		}
	}
	assert.True(t, math.IsNaN(twelveDigits(math.NaN())))
	assert.True(t, math.IsInf(twelveDigits(math.Inf(1)), 1))
	assert.Equal(t, 1.23456789012, twelveDigits(1.234567890123456))
}

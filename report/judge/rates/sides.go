package rates

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/scenarios"
)

// fasterPart of the margin is how far the whole interval of a metric has to lie on the
// better side before it is called faster: less is of no use to anyone.
const fasterPart = 0.1

// Gains reports whether the whole interval of an estimate lies on the better side, by
// more than a tenth of the margin.
func Gains(e stat.Estimate, margin float64) bool { return e.U < -fasterPart*margin }

// Faster says by how much the candidate is better, "faster by 46 to 49 % (TTFT p50,
// single)", or nothing. A gain is held to what a FAIL is held to: its p value times
// the number of metrics may not exceed level.
func Faster(gating []*view.Comparison, level float64) string {
	family := candidates(gating)
	better := slices.DeleteFunc(slices.Clone(family), func(p view.Placed) bool {
		return p.Detail == nil || p.Detail.PBelow == nil || float64(len(family))**p.Detail.PBelow > level
	})
	if len(better) == 0 {
		return ""
	}
	most := slices.MinFunc(better, func(x, y view.Placed) int { return cmp.Compare(x.Detail.U, y.Detail.U) })
	word := "higher"
	if m, _ := scenarios.FindMetric(most.Name); m.Kind == scenarios.Latency {
		word = "faster"
	}
	claim := fmt.Sprintf("%s by %s to %s %% (%s)", word, amount(*most.Upper), amount(*most.Lower), most)
	if more := len(better) - 1; more > 0 {
		claim += fmt.Sprintf(" and better on %d more", more)
	}
	return claim
}

// amount is a percentage without its sign.
func amount(pct float64) string {
	s := view.Percent(math.Abs(pct), view.NoMargin)
	return strings.TrimSuffix(strings.TrimPrefix(s, "+"), " %")
}

// core is 1 for the five metrics that everybody knows.
func core(name string) int {
	if view.IsCore(name) {
		return 1
	}
	return 0
}

// mostLosses are named before they are counted.
const mostLosses = 3

// Losses names the metrics that are not primary and have lost more than the margin for
// certain: their lower bounds lie above it. They decide nothing, and nobody who reads
// PASS should have to find them in a table.
func Losses(gating []*view.Comparison) string {
	var lost []view.Placed
	for _, c := range gating {
		for _, p := range c.Losing() {
			if len(gating) > 1 {
				p.Of = c.Name()
			}
			lost = append(lost, p)
		}
	}
	if lost == nil {
		return ""
	}
	slices.SortStableFunc(lost, func(x, y view.Placed) int { return core(y.Name) - core(x.Name) })
	var parts []string
	for _, p := range lost[:min(len(lost), mostLosses)] {
		parts = append(parts, fmt.Sprintf("%s, at least %s", p, view.MaybePercent(p.Lower, p.MarginPct)))
	}
	line := "lost more than the margin, not gated: " + strings.Join(parts, "; ")
	if more := len(lost) - len(parts); more > 0 {
		line += fmt.Sprintf("; and %d more", more)
	}
	return line
}

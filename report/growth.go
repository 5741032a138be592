package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/results/metrics"
	"github.com/aituner/opprof/scenarios"
)

// growthBins of equally many requests cut each timed part.
const growthBins = 10

// An effect is said to grow if the p value is below this and the change above a
// tenth of the margin, as for the bias of an A/A.
const (
	growthAlpha  = 0.01
	growthOfGate = 0.1
)

// growth asks for each phase whether the effect on its latency becomes larger or
// smaller within runs, as it does when a log fills a disk or a queue. It never
// changes a verdict.
func (b *builder) growth(c *Comparison) []Growth {
	var out []Growth
	for _, p := range b.s.Phases {
		of := scenarios.TPOT
		if p.Arrival.Kind != "closed" {
			of = scenarios.TTFT
		}
		m, _ := scenarios.MedianOf(of)
		if g, ok := b.phaseGrowth(c, p.Name, m); ok {
			out = append(out, g)
		}
	}
	return out
}

func (b *builder) phaseGrowth(c *Comparison, phase string, m scenarios.Metric) (Growth, bool) {
	of := metrics.OfRequest(m.Name)
	var slopes []float64
	for i := range b.blocks {
		runs := b.blocks[i].runs
		base, cand := sameRequests(runs[c.Baseline].Requests, runs[c.Candidate].Requests, phase, of)
		slope, err := stat.Slope(binMedians(base), binMedians(cand), stat.LowerIsBetter)
		if err != nil {
			return Growth{}, false // too few requests, or a time of 0
		}
		slopes = append(slopes, slope)
	}
	found, err := stat.SlopeTest(slopes)
	if err != nil {
		return Growth{}, false
	}
	pct := stat.Percent(found.Mean, stat.LowerIsBetter)
	flagged := found.P < growthAlpha && abs(pct) > 100*growthOfGate*b.s.Gate.Margin
	return Growth{Phase: phase, Metric: m.Label, Pct: pct, P: found.P, Flagged: flagged}, true
}

// binMedians cuts the values of requests, in the order of the workload, into
// bins of equally many; nil if a bin would be empty.
func binMedians(values []float64) []float64 {
	if len(values) < growthBins {
		return nil
	}
	var medians []float64
	for i := range growthBins {
		bin := slices.Sorted(slices.Values(values[i*len(values)/growthBins : (i+1)*len(values)/growthBins]))
		medians = append(medians, metrics.Quantile(bin, 0.5))
	}
	return medians
}

func growthLine(c *Comparison) string {
	var parts []string
	for _, g := range c.Growth {
		part := fmt.Sprintf("%s, %s %s (p = %.2g)", g.Metric, g.Phase, trimmed(percent(g.Pct, noMargin)), g.P)
		if g.Flagged {
			part = "GROWS: " + part
		}
		parts = append(parts, part)
	}
	if parts == nil {
		return ""
	}
	return "effect at the end of a run minus that at its beginning: " + strings.Join(parts, " · ")
}

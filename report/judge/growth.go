package judge

import (
	"math"
	"slices"

	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
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
func growth(in *accept.Accepted, c *view.Comparison) []view.Growth {
	var out []view.Growth
	for _, p := range in.Scenario.Phases {
		of := scenarios.TPOT
		if p.Arrival.Kind != scenarios.ArrivalClosed {
			of = scenarios.TTFT
		}
		m, _ := scenarios.MedianOf(of)
		if g, ok := phaseGrowth(in, c, p.Name, m); ok {
			out = append(out, g)
		}
	}
	return out
}

func phaseGrowth(in *accept.Accepted, c *view.Comparison, phase string, m scenarios.Metric) (view.Growth, bool) {
	of := metrics.OfRequest(m.Name)
	var slopes []float64
	for i := range in.Blocks {
		runs := in.Blocks[i].Runs
		base, cand := accept.SameRequests(runs[c.Baseline].Requests, runs[c.Candidate].Requests, phase, of)
		slope, err := stat.Slope(binMedians(base), binMedians(cand), stat.LowerIsBetter)
		if err != nil {
			return view.Growth{}, false // too few requests, or a time of 0
		}
		slopes = append(slopes, slope)
	}
	found, err := stat.SlopeTest(slopes)
	if err != nil {
		return view.Growth{}, false
	}
	pct := stat.Percent(found.Mean, stat.LowerIsBetter)
	flagged := found.P < growthAlpha && math.Abs(pct) > 100*growthOfGate*in.Scenario.Gate.Margin
	return view.Growth{Phase: phase, Metric: m.Label, Pct: pct, P: found.P, Flagged: flagged}, true
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

package judge

import (
	"slices"

	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results/metrics"
)

// A gap between chunks is long beyond this many median gaps of the baseline,
// and never below the seconds from which requests keep their gaps.
const (
	longGapMedians = 10
	longGapSeconds = 0.05
)

// stalls counts stall events of both arms over all phases and accepted blocks.
func stalls(in *accept.Accepted, c *view.Comparison) *view.Stalls {
	out := &view.Stalls{P: 1}
	for _, p := range in.Scenario.Phases {
		long := longGap(in, c.Baseline, p.Name)
		out.Thresholds = append(out.Thresholds, view.Threshold{Phase: p.Name, Seconds: long})
		for i := range in.Blocks {
			runs := in.Blocks[i].Runs
			out.Baseline += stallsOf(runs[c.Baseline], p.Name, long, &out.LargestBaseline)
			out.Candidate += stallsOf(runs[c.Candidate], p.Name, long, &out.LargestCandidate)
			out.BaselineSeconds += runs[c.Baseline].TimedSeconds(p.Name)
			out.CandidateSeconds += runs[c.Candidate].TimedSeconds(p.Name)
		}
	}
	p, err := stat.StallTest(out.Candidate, out.Baseline, out.CandidateSeconds, out.BaselineSeconds)
	if err != nil {
		return nil // no timed second in an arm, which is INVALID by itself
	}
	out.P, out.Flagged = p, p < stat.StallAlpha
	return out
}

// longGap is the gap from which a chunk counts as stalled, from the baseline.
func longGap(in *accept.Accepted, baseline, phase string) float64 {
	var medians []float64
	for i := range in.Blocks {
		requests := in.Blocks[i].Runs[baseline].Requests
		for j := range requests {
			if r := &requests[j]; r.Phase == phase && !r.Warmup && r.Chunks > 1 {
				medians = append(medians, float64(r.GapMedianNS)/1e9)
			}
		}
	}
	slices.Sort(medians)
	if len(medians) == 0 {
		return longGapSeconds
	}
	return max(longGapMedians*metrics.Quantile(medians, 0.5), longGapSeconds)
}

// stallsOf counts the stall events of a run's phase: overlapping long gaps of any
// streams are one. largest is raised to the largest gap in seconds.
func stallsOf(a *accept.Run, phase string, long float64, largest *float64) int {
	var gaps [][2]int64
	for i := range a.Requests {
		r := &a.Requests[i]
		if r.Phase != phase || r.Warmup {
			continue
		}
		*largest = max(*largest, float64(r.GapMaxNS)/1e9)
		for _, g := range r.LongGaps {
			if float64(g[1]-g[0])/1e9 > long {
				gaps = append(gaps, g)
			}
		}
	}
	return countSeparate(gaps)
}

// countSeparate returns how many groups of overlapping intervals there are.
func countSeparate(gaps [][2]int64) int {
	slices.SortFunc(gaps, func(a, b [2]int64) int {
		if a[0] != b[0] {
			return int(max(-1, min(1, a[0]-b[0])))
		}
		return int(max(-1, min(1, a[1]-b[1])))
	})
	events, end := 0, int64(-1)
	for _, g := range gaps {
		if g[0] > end {
			events++
		}
		end = max(end, g[1])
	}
	return events
}

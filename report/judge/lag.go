package judge

import (
	"fmt"
	"slices"

	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/scenarios"
)

// lagConfidence is the two-sided confidence with which a difference of the
// client's lateness must be shown before it voids a campaign.
const lagConfidence = 0.99

// probeLag asks, for the primary metrics of each phase, whether the client was
// late in one arm more than in the other by enough to matter: a tenth of the
// margin. A single run is never voided for it, or the recorder's own load would
// remove its worst runs.
func probeLag(in *accept.Accepted, c *view.Comparison) []view.ProbeLag {
	var out []view.ProbeLag
	for _, p := range in.Scenario.Phases {
		for _, m := range lagMetrics(p.Primary) {
			scale, err := lagScale(m)
			if err != nil {
				invalidate(c, view.ReasonProbeLag, "phase %s: %v", p.Name, err)
				continue
			}
			lag, ok := lagOf(in, c, p.Name, scale)
			if !ok {
				continue
			}
			lag.Of = lagName(m)
			if lag.Invalid {
				invalidate(c, view.ReasonProbeLag,
					"the client's lateness biases %s of phase %s by %s %% (99 %% interval %s to %s %%), allowed %.2f %%",
					lag.Of, p.Name, view.Hundredths(lag.MeanPct), view.Hundredths(lag.Lower), view.Hundredths(lag.Upper), 10*in.Scenario.Gate.Margin)
			}
			out = append(out, lag)
		}
	}
	return out
}

// lagMetrics are the primary metrics without those that lateness biases just as
// it does an earlier one.
func lagMetrics(primary []string) (list []scenarios.Metric) {
	for _, name := range primary {
		m, known := scenarios.FindMetric(name)
		if !known {
			m.Name = name
		}
		if !slices.ContainsFunc(list, func(x scenarios.Metric) bool { return lagName(x) == lagName(m) }) {
			list = append(list, m)
		}
	}
	return list
}

// lagName is what a bias is of: the span of a latency, or throughput.
func lagName(m scenarios.Metric) string {
	if m.Kind == scenarios.Latency {
		return string(m.Of)
	}
	return string(m.Kind)
}

func lagOf(in *accept.Accepted, c *view.Comparison, phase string, scale lagMeasure) (view.ProbeLag, bool) {
	var bias []float64
	for i := range in.Blocks {
		x, ok := lagBias(in.Blocks[i].Runs[c.Baseline], in.Blocks[i].Runs[c.Candidate], phase, scale)
		if !ok {
			return view.ProbeLag{}, false // a damaged run, which is INVALID by itself
		}
		bias = append(bias, x)
	}
	if len(bias) == 0 {
		return view.ProbeLag{}, false
	}
	mean := 0.0
	for _, x := range bias {
		mean += x / float64(len(bias))
	}
	within := stat.Interval{Lo: mean, Hi: mean}
	if t, err := stat.TInterval(bias, lagConfidence); err == nil {
		within = t
	}
	limit := in.Scenario.Gate.Margin / 10
	return view.ProbeLag{
		Phase: phase, MeanPct: 100 * mean, Lower: 100 * within.Lo, Upper: 100 * within.Hi,
		Invalid: within.Lo > limit || within.Hi < -limit,
	}, true
}

// lagMeasure is the time in the baseline, in seconds, that lateness is held
// against.
type lagMeasure func(base *accept.Run, phase string) float64

// lagScale says what lateness is a part of: of the median of a latency's span, of
// which TPOT divides what a whole output takes; of the timed seconds for a
// throughput.
func lagScale(m scenarios.Metric) (lagMeasure, error) {
	median, known := scenarios.MedianOf(m.Of)
	switch {
	case m.Kind == scenarios.Throughput:
		return (*accept.Run).TimedSeconds, nil
	case known && m.Of == scenarios.TPOT:
		return func(base *accept.Run, phase string) float64 {
			return (base.MedianTokens(phase) - 1) * base.Values[phase][median.Name]
		}, nil
	case known:
		return func(base *accept.Run, phase string) float64 { return base.Values[phase][median.Name] }, nil
	}
	return nil, fmt.Errorf("it is not known what the client's lateness does to %q", m.Name)
}

// lagBias is the relative bias of one block: the difference of mean probe
// lateness over what the metric measures in the baseline.
func lagBias(base, cand *accept.Run, phase string, scale lagMeasure) (float64, bool) {
	bp, cp := base.Phase(phase), cand.Phase(phase)
	if bp == nil || cp == nil {
		return 0, false
	}
	all := scale(base, phase)
	if !(all > 0) {
		return 0, false
	}
	return (cp.Client.ProbeLagMean - bp.Client.ProbeLagMean) / all, true
}

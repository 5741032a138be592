package report

import (
	"fmt"
	"slices"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/metrics"
	"github.com/aituner/opprof/scenarios"
)

// lagConfidence is the two-sided confidence with which a difference of the
// client's lateness must be shown before it voids a campaign.
const lagConfidence = 0.99

// probeLag asks, for the primary metrics of each phase, whether the client was
// late in one arm more than in the other by enough to matter: a tenth of the
// margin. A single run is never voided for it, or the recorder's own load would
// remove its worst runs.
func (b *builder) probeLag(c *Comparison) []ProbeLag {
	var out []ProbeLag
	for _, p := range b.s.Phases {
		for _, m := range lagMetrics(p.Primary) {
			scale, err := lagScale(m)
			if err != nil {
				c.invalid("probe lag", "phase %s: %v", p.Name, err)
				continue
			}
			lag, ok := b.lagOf(c, p.Name, scale)
			if !ok {
				continue
			}
			lag.Of = lagName(m)
			if lag.Invalid {
				c.invalid("probe lag",
					"the client's lateness biases %s of phase %s by %s %% (99 %% interval %s to %s %%), allowed %.2f %%",
					lag.Of, p.Name, hundredths(lag.MeanPct), hundredths(lag.Lower), hundredths(lag.Upper), 10*b.s.Gate.Margin)
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

func (b *builder) lagOf(c *Comparison, phase string, scale lagMeasure) (ProbeLag, bool) {
	var bias []float64
	for i := range b.blocks {
		x, ok := lagBias(b.blocks[i].runs[c.Baseline], b.blocks[i].runs[c.Candidate], phase, scale)
		if !ok {
			return ProbeLag{}, false // a damaged run, which is INVALID by itself
		}
		bias = append(bias, x)
	}
	if len(bias) == 0 {
		return ProbeLag{}, false
	}
	mean := 0.0
	for _, x := range bias {
		mean += x / float64(len(bias))
	}
	within := stat.Interval{Lo: mean, Hi: mean}
	if t, err := stat.TInterval(bias, lagConfidence); err == nil {
		within = t
	}
	limit := b.s.Gate.Margin / 10
	return ProbeLag{
		Phase: phase, MeanPct: 100 * mean, Lower: 100 * within.Lo, Upper: 100 * within.Hi,
		Invalid: within.Lo > limit || within.Hi < -limit,
	}, true
}

// lagMeasure is the time in the baseline, in seconds, that lateness is held
// against.
type lagMeasure func(base *attempt, phase string) float64

// lagScale says what lateness is a part of: of the median of a latency's span, of
// which TPOT divides what a whole output takes; of the timed seconds for a
// throughput.
func lagScale(m scenarios.Metric) (lagMeasure, error) {
	median, known := scenarios.MedianOf(m.Of)
	switch {
	case m.Kind == scenarios.Throughput:
		return (*attempt).timedSeconds, nil
	case known && m.Of == scenarios.TPOT:
		return func(base *attempt, phase string) float64 {
			return (medianTokens(base.Requests, phase) - 1) * base.values[phase][median.Name]
		}, nil
	case known:
		return func(base *attempt, phase string) float64 { return base.values[phase][median.Name] }, nil
	}
	return nil, fmt.Errorf("it is not known what the client's lateness does to %q", m.Name)
}

// lagBias is the relative bias of one block: the difference of mean probe
// lateness over what the metric measures in the baseline.
func lagBias(base, cand *attempt, phase string, scale lagMeasure) (float64, bool) {
	bp, cp := base.phase(phase), cand.phase(phase)
	if bp == nil || cp == nil {
		return 0, false
	}
	all := scale(base, phase)
	if !(all > 0) {
		return 0, false
	}
	return (cp.Client.ProbeLagMean - bp.Client.ProbeLagMean) / all, true
}

// phase returns what a run says about a phase, or nil.
func (a *attempt) phase(name string) *results.Phase {
	if a.Run == nil {
		return nil
	}
	for i := range a.Run.Phases {
		if a.Run.Phases[i].Name == name {
			return &a.Run.Phases[i]
		}
	}
	return nil
}

func medianTokens(requests []results.Request, phase string) float64 {
	var tokens []float64
	for i := range requests {
		if r := &requests[i]; r.Phase == phase && !r.Warmup && r.OK() {
			tokens = append(tokens, float64(r.OutputTokens))
		}
	}
	slices.Sort(tokens)
	return metrics.Quantile(tokens, 0.5)
}

// timedSeconds is how long a phase's timed requests took, without the slices of
// other arms.
func (a *attempt) timedSeconds(phase string) float64 {
	var of []results.Request
	for i := range a.Requests {
		if a.Requests[i].Phase == phase {
			of = append(of, a.Requests[i])
		}
	}
	return metrics.TimedSeconds(of)
}

package report

import (
	"slices"
	"strings"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/metrics"
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
		for _, kind := range lagKinds(p.Primary) {
			lag, ok := b.lagOf(c, p.Name, kind)
			if !ok {
				continue
			}
			if lag.Invalid {
				c.invalid("probe lag",
					"the client's lateness biases %s of phase %s by %s %% (99 %% interval %s to %s %%), allowed %.2f %%",
					kind, p.Name, hundredths(lag.MeanPct), hundredths(lag.Lower), hundredths(lag.Upper), 10*b.s.Gate.Margin)
			}
			out = append(out, lag)
		}
	}
	return out
}

// lagKinds are the kinds of bias that the primary metrics can have.
func lagKinds(primary []string) []string {
	var kinds []string
	for _, name := range primary {
		kind := "throughput"
		for _, latency := range []string{"ttft", "tpot"} {
			if strings.HasPrefix(name, latency) {
				kind = latency
			}
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

func (b *builder) lagOf(c *Comparison, phase, kind string) (ProbeLag, bool) {
	var bias []float64
	for i := range b.blocks {
		x, ok := lagBias(b.blocks[i].runs[c.Baseline], b.blocks[i].runs[c.Candidate], phase, kind)
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
		Phase: phase, Of: kind, MeanPct: 100 * mean, Lower: 100 * within.Lo, Upper: 100 * within.Hi,
		Invalid: within.Lo > limit || within.Hi < -limit,
	}, true
}

// lagBias is the relative bias of one block: the difference of mean probe
// lateness over what the metric measures in the baseline.
func lagBias(base, cand *attempt, phase, kind string) (float64, bool) {
	bp, cp := base.phase(phase), cand.phase(phase)
	if bp == nil || cp == nil {
		return 0, false
	}
	var scale float64
	switch kind {
	case "ttft":
		scale = base.values[phase]["ttft_p50"]
	case "tpot":
		scale = (medianTokens(base.Requests, phase) - 1) * base.values[phase]["tpot_p50"]
	default:
		scale = base.timedSeconds(phase)
	}
	if !(scale > 0) {
		return 0, false
	}
	return (cp.Client.ProbeLagMean - bp.Client.ProbeLagMean) / scale, true
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

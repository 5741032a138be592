package judge

import (
	"fmt"
	"slices"

	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/validity"
)

// leastToAsk is the number of blocks from which the permutation test can reach its
// level: 16 choose 8 is 12 870, 12 choose 6 is 924.
const leastToAsk = 8

// timedOutputs says how the outputs of the timed requests differ. In a phase of one
// stream they decide FAIL(identity) by themselves; in a batch, whether they differ
// more between the arms than within the baseline.
func (q *question) timedOutputs(in *accept.Accepted, c *view.Comparison, timed []validity.Timed) {
	for _, t := range timed {
		if t.Status == validity.IdentityFail {
			c.Failed = append(c.Failed, view.Finding{Name: view.ReasonIdentity, Detail: t.Message})
		}
		c.Outputs = append(c.Outputs, q.outputsOf(in, c, &t))
	}
}

func (q *question) outputsOf(in *accept.Accepted, c *view.Comparison, t *validity.Timed) view.Outputs {
	candidate := make([]bool, len(t.Runs))
	for i, k := range t.Runs {
		candidate[i] = k.Arm == c.Candidate
	}
	out := view.Outputs{Phase: t.Phase, Requests: t.Requests}
	if t.Requests == 0 {
		return out
	}
	out.Baseline, out.Candidate = differPct(t.Differ, candidate, false, false), differPct(t.Differ, candidate, true, true)
	out.Across = *differPct(t.Differ, candidate, false, true)
	blocks := len(candidate) / 2
	switch {
	case !t.Judged:
		out.Unasked = "reported only: the arms may give other outputs"
	case t.Status == validity.IdentityFail:
		out.Failed = t.Message
	case t.Status != validity.IdentityNone:
		out.Unasked = "every request decides"
	case !out.Differ():
	case blocks < leastToAsk:
		out.Unasked = fmt.Sprintf("whether the arms differ cannot be asked with %s", view.Plural(blocks, "block", "blocks"))
	default:
		if p, err := stat.OutputsTest(t.Differ, candidate, hostsOf(in, t.Runs), seedOf(q.campaign.Plan.Hash)); err == nil {
			out.P, out.Flagged = &p, p < stat.BatchAlpha
		}
	}
	if t.Status == validity.IdentityNone {
		out.Wavers = t.Message
	}
	return out
}

// differPct is the mean over pairs of runs, one of each kind, in percent; nil without
// a pair.
func differPct(differ [][]float64, candidate []bool, one, other bool) *float64 {
	sum, n := 0.0, 0
	for i := range differ {
		for k := range i {
			if candidate[k] == one && candidate[i] == other {
				sum, n = sum+100*differ[i][k], n+1
			}
		}
	}
	if n == 0 {
		return nil
	}
	return view.Finite(sum / float64(n))
}

// hostsOf are the host groups of runs.
func hostsOf(in *accept.Accepted, runs []results.Key) (hosts []string) {
	all := in.All()
	for _, key := range runs {
		i := slices.IndexFunc(all, func(k accept.Block) bool { return k.Plan.Name() == key.Block })
		host := ""
		if i >= 0 {
			host = all[i].Host
		}
		hosts = append(hosts, host)
	}
	return hosts
}

// batchSentence says which outputs differ, for the first line.
func batchSentence(c *view.Comparison) string {
	for i := range c.Outputs {
		if o := &c.Outputs[i]; o.Flagged {
			return fmt.Sprintf("timed outputs of phase %s differ in %.1f %% of the requests between %s and %s, and in %.1f %% between runs of %s (p = %.2g)",
				o.Phase, o.Across, c.Baseline, c.Candidate, *o.Baseline, c.Baseline, *o.P)
		}
	}
	return ""
}

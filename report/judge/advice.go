package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aituner/opprof/report/judge/rates"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
)

// next says what to do after a verdict other than PASS.
func (w *wording) next() []string {
	if w.v.Is(stat.Fail, view.ReasonNotSensitive) {
		return []string{"take these metrics out of primary on such a host, or measure them better: longer phases, a quieter host, interleaved arms"}
	}
	if w.v.Is(stat.Inconclusive, view.ReasonControl) {
		return []string{"make the slowdown stand out: a quieter host, longer phases, interleaved arms, more blocks; until a control is caught, a PASS here does not show that this gate could have failed"}
	}
	switch w.v.Verdict {
	case stat.Inconclusive:
		return w.nextBlocks()
	case stat.Invalid:
		return []string{"remove the cause, then run a new campaign: nothing here says how much the candidate costs"}
	case stat.Fail:
		return []string{"the finding stands; run a new campaign only after a change of the candidate"}
	}
	return nil
}

// nextBlocks says how many blocks would decide, and that they are a new plan.
func (w *wording) nextBlocks() []string {
	var lines []string
	least, most, open, hopeless := 0, 0, false, false
	for _, p := range allPrimaries(w.gating) {
		open = open || p.Advice != nil
		hopeless = hopeless || p.Advice != nil && p.Advice.IfObserved == 0
	}
	if open && w.v.Whole != nil {
		least, most = w.v.Whole.IfZeroUpper, w.v.Whole.IfObservedUpper
	}
	if least > 0 { // as many blocks as ran were not enough
		least = max(least, w.v.Blocks.Valid+2)
	}
	switch {
	case least > view.PracticalBlocks:
		lines = append(lines, fmt.Sprintf("reduce the noise first (a quieter host, longer phases): at this spread it takes %s even if the true effect is 0; this campaign can't be extended",
			view.BlocksRange(least, least)))
	case least > 0:
		lines = append(lines, "reduce the noise, or run a new campaign with design.blocks: "+blocksToPlan(least, most)+"; this one can't be extended")
	}
	if hopeless {
		lines = append(lines, "where the estimate itself is beyond the margin, more blocks are more likely to show a FAIL than a PASS")
	}
	if slices.ContainsFunc(allPrimaries(w.gating), func(p view.Placed) bool { return p.Is(stat.Inconclusive, view.ReasonSelection) }) {
		lines = append(lines, "run a new campaign and let every run end: here the verdict would rest on what was aborted or void")
	}
	if w.v.Reason == view.ReasonUnadjusted {
		lines = append(lines, "a new campaign with more blocks would show the cost or exclude it; this one can't be extended")
	}
	if w.aaOpen {
		lines = append(lines, "run an A/A that shows equality, then a new campaign: opbench aa "+view.ShellWord(w.aa.Name)+" says what the A/A lacks")
	}
	for _, c := range w.gating {
		if c.Batched() {
			lines = append(lines, batchAdvice(c))
		}
		if c.Stalling() {
			lines = append(lines, "look for the cause of the stalls in "+c.Candidate+": a mean does not show them, and more blocks do not remove them")
		}
	}
	return lines
}

// wholeCampaigns are simulated for each number of blocks that is tried: the chance of a
// plan is known to 1.5 points then.
const wholeCampaigns = 400

// whole is what a new campaign would need: it passes only if every metric does.
func (q *question) whole(gating []*view.Comparison) *view.Whole {
	j := rates.NewJoint(allPrimaries(gating), q.rule(), wholeCampaigns)
	if j == nil {
		return nil
	}
	observed := func(p view.Placed) (sd, theta, margin float64) {
		sd, _, margin = rates.AtUpper(p)
		return sd, p.Detail.Mean, margin
	}
	out := &view.Whole{
		Metrics: len(j.Metrics), IfZero: j.Needed(rates.AsSeen, rates.TargetPower, q.planSize),
		IfZeroUpper:     j.Needed(rates.AtUpper, rates.TargetPower, q.planSize),
		IfObservedUpper: j.Needed(observed, rates.TargetPower, q.planSize),
	}
	for _, p := range j.Metrics {
		out.Campaigns = max(out.Campaigns, p.Detail.SDCampaigns)
	}
	return out
}

// needs lists what each undecided metric would take, and all of them together.
func needs(v *view.View, gating []*view.Comparison) []string {
	if v.Verdict != stat.Inconclusive {
		return nil
	}
	var lines []string
	for _, p := range allPrimaries(gating) {
		if p.Advice != nil {
			lines = append(lines, adviceLine(p))
		}
	}
	if lines == nil || v.Whole == nil {
		return lines
	}
	return append(lines, wholeLine(v.Whole))
}

func wholeLine(w *view.Whole) string {
	line := fmt.Sprintf("the campaign: 90 %% power that all %s pass needs %s if no true effect is above 0",
		view.Plural(w.Metrics, "primary metric", "primary metrics"), view.BlocksRange(w.IfZero, w.IfZeroUpper))
	if w.Campaigns > 1 {
		return line + fmt.Sprintf(", at the spread of this campaign and at what %d campaigns of this host let expect", w.Campaigns)
	}
	return line + ", if the host stays as quiet"
}

func blocksToPlan(least, most int) string {
	if most <= least {
		return fmt.Sprint(least)
	}
	return fmt.Sprintf("%d (%d are enough if the true effect is 0)", most, least)
}

func adviceLine(p view.Placed) string {
	a := p.Advice
	supports := strings.TrimPrefix(view.Percent(a.Supports, p.MarginPct), "+")
	line := fmt.Sprintf("%s: supports a margin above %s; 90 %% power needs %s if the true effect is 0", p, supports, view.BlocksRange(a.IfZero, a.IfZeroUpper))
	if a.IfObserved == 0 {
		line += ", no number of blocks if it is the estimate"
	} else {
		line += ", " + view.BlocksRange(a.IfObserved, a.IfObservedUpper) + " if it is the estimate"
	}
	if a.Noise != "" {
		line += "; noise " + a.Noise
	}
	return line
}

// batchAdvice says how to find out what a batch cannot show.
func batchAdvice(c *view.Comparison) string {
	for i := range c.Outputs {
		if o := &c.Outputs[i]; o.Flagged && o.Wavers == "" {
			return "run a correctness scenario of this configuration with VLLM_BATCH_INVARIANT: 1 in engine.env, as scenario batch-invariant does on an H200: no batch changes an output there, and a difference is FAIL(identity)"
		}
	}
	return "find out why " + c.Baseline + " gives other outputs from run to run with one stream: until it repeats itself, a difference of " + c.Candidate + " cannot be told from that"
}

package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/scenarios"
)

// sentence says what the verdict rests on. Its words never claim that there is
// no regression, only what was excluded.
func (b *builder) sentence(gating []*Comparison) string {
	var claim string
	switch v := b.view; {
	case v.controlled():
		claim = controlSentence(gating)
	case v.Verdict == stat.Fail && !strings.HasPrefix(v.Result, "FAIL("):
		claim = b.failed(withoutEqual(gating))
	case v.Verdict == stat.Fail || v.Verdict == stat.Invalid:
		claim = because(gating, v.Verdict)
	case !b.gated():
		claim = "All correctness checks hold in every valid run"
	case v.Verdict == stat.Inconclusive:
		claim = b.inconclusive(gating)
	default:
		claim = b.passed(withoutEqual(gating))
	}
	return claim + ". " + b.basis(gating)
}

// passed states the margin and the worst bound.
func (b *builder) passed(gating []*Comparison) string {
	list := allPrimaries(gating)
	worst := slices.MaxFunc(list, func(x, y primary) int { return compareFloats(x.closeness(), y.closeness()) })
	what := "costs less than %s %% on all %s"
	switch {
	case b.s.Purpose == scenarios.AA && len(gating) > 1:
		what = "are equal within %s %% on all %s"
	case b.s.Purpose == scenarios.AA:
		what = "equals its baseline within %s %% on all %s"
	case len(gating) > 1:
		what = "cost less than %s %% on all %s"
	}
	return fmt.Sprintf("%s "+what+"; worst bound %s (%s)", b.subject(gating), plainNumber(worst.MarginPct),
		plural(len(list), "primary metric", "primary metrics"), trimmed(maybePercent(worst.Upper, worst.MarginPct)), worst)
}

func (b *builder) failed(gating []*Comparison) string {
	list := allPrimaries(gating)
	bad := slices.DeleteFunc(slices.Clone(list), func(p primary) bool { return p.Verdict != stat.Fail })
	worst := slices.MaxFunc(bad, func(x, y primary) int { return compareFloats(x.estimate.L/x.margin, y.estimate.L/y.margin) })
	what := "costs"
	culprits := failing(gating)
	if len(culprits) > 1 {
		what = "cost"
	}
	return fmt.Sprintf("%s %s more than %s %% on %d of %s; worst: at least %s (%s, estimate %s)", b.culprits(gating, culprits), what,
		plainNumber(worst.MarginPct), len(bad), plural(len(list), "primary metric", "primary metrics"),
		trimmed(maybePercent(worst.Lower, worst.MarginPct)), worst, trimmed(maybePercent(worst.Effect, worst.MarginPct)))
}

func (b *builder) inconclusive(gating []*Comparison) string {
	var parts []string
	for _, equal := range []bool{false, true} {
		same := slices.DeleteFunc(slices.Clone(gating), func(c *Comparison) bool { return c.AA != equal })
		if s := undecided(allPrimaries(same), equal); s != "" {
			parts = append(parts, s)
		}
	}
	if b.aaOpen {
		parts = append(parts, "the required A/A did not show that equal arms are equal: "+b.view.AA)
	}
	if len(parts) > 0 {
		parts[0] = strings.ToUpper(parts[0][:1]) + parts[0][1:]
	}
	for _, c := range gating {
		if c.conditions.Stalls {
			parts = append(parts, fmt.Sprintf("%s stalls more often than %s: %d events against %d (p = %.2g)",
				c.Candidate, c.Baseline, c.Stalls.Candidate, c.Stalls.Baseline, c.Stalls.P))
		}
	}
	return strings.Join(parts, "; ")
}

// undecided says what the metrics without a verdict leave open; equal if their
// arms are.
func undecided(list []primary, equal bool) string {
	open := slices.DeleteFunc(slices.Clone(list), func(p primary) bool { return p.Verdict != stat.Inconclusive })
	if len(open) == 0 {
		return ""
	}
	worst := slices.MaxFunc(open, func(x, y primary) int { return compareFloats(x.closeness(), y.closeness()) })
	what := "a cost of %s %% is neither excluded nor shown on %d of %s; worst bound %s (%s)"
	if equal {
		what = "equality within %s %% is not shown on %d of %s; worst bound %s (%s)"
	}
	return fmt.Sprintf(what, plainNumber(worst.MarginPct), len(open), plural(len(list), "primary metric", "primary metrics"),
		trimmed(maybePercent(worst.Upper, worst.MarginPct)), worst)
}

// because lists the reasons of a verdict that rests on none of the effects.
func because(gating []*Comparison, v stat.Verdict) string {
	var first []string
	more := 0
	for _, c := range gating {
		for _, r := range c.reasons(v) {
			text := r.claim()
			if len(gating) > 1 && !everywhere(gating, v, r) {
				text = c.name() + ": " + text
			}
			switch {
			case slices.Contains(first, text):
			case len(first) < 1:
				first = append(first, text)
			default:
				more++
			}
		}
	}
	if more > 0 {
		return strings.Join(first, "") + fmt.Sprintf("; and %s below", plural(more, "more reason", "more reasons"))
	}
	if len(first) == 0 {
		return "nothing was judged"
	}
	return first[0]
}

// everywhere reports whether a reason holds for every comparison.
func everywhere(gating []*Comparison, v stat.Verdict, r Reason) bool {
	for _, c := range gating {
		if !slices.ContainsFunc(c.reasons(v), func(x Reason) bool { return x.String() == r.String() }) {
			return false
		}
	}
	return true
}

// reasons are those of a verdict of a comparison: its own, or of its metrics.
func (c *Comparison) reasons(v stat.Verdict) []Reason {
	if v == stat.Fail {
		return c.Failed
	}
	if len(c.Invalid) > 0 {
		return c.Invalid
	}
	var list []Reason
	for _, p := range c.primaries() {
		if p.Verdict == stat.Invalid {
			list = append(list, Reason{Name: strings.TrimSuffix(strings.TrimPrefix(p.Result, "INVALID("), ")"), Detail: p.String() + lastRemark(p.Metric)})
		}
	}
	return list
}

func lastRemark(m *Metric) string {
	if len(m.Remarks) == 0 {
		return ""
	}
	return ": " + m.Remarks[len(m.Remarks)-1]
}

// basis says how much was measured.
func (b *builder) basis(gating []*Comparison) string {
	parts := []string{plural(b.view.Blocks.Valid-b.view.Blocks.NotPooled, "block", "blocks")}
	var identities []string
	for _, c := range gating {
		if c.Identity != "" && !slices.Contains(identities, c.Identity) {
			identities = append(identities, c.Identity)
		}
	}
	if len(identities) > 1 {
		identities = []string{"outputs differ between comparisons, see below"}
	}
	parts = append(parts, identities...)
	return strings.Join(parts, ", ") + "."
}

// subject names what is tested: the candidate's patch where it has one.
func (b *builder) subject(gating []*Comparison) string {
	if len(gating) != 1 {
		return b.candidates(gating)
	}
	arm, _ := b.s.Arm(gating[0].Candidate)
	if arm.Patch == scenarios.PatchNone || gating[0].AA || arm.Patch == "" {
		return arm.Name
	}
	return arm.Patch
}

// culprits names the comparisons that fail; where there is one, its candidate.
func (b *builder) culprits(gating, failing []*Comparison) string {
	if len(gating) == 1 {
		return b.subject(gating)
	}
	return b.candidates(failing)
}

// candidates names those of several comparisons with their baselines.
func (b *builder) candidates(list []*Comparison) string {
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = c.name()
	}
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return strings.Join(names, "")
}

// failing are the comparisons with a metric that fails; of several comparisons a
// FAIL names only these.
func failing(gating []*Comparison) []*Comparison {
	if len(gating) == 1 {
		return gating
	}
	return slices.DeleteFunc(slices.Clone(gating), func(c *Comparison) bool { return c.count(stat.Fail) == 0 })
}

func (c *Comparison) name() string { return c.Candidate + " against " + c.Baseline }

func allPrimaries(gating []*Comparison) (list []primary) {
	for _, c := range gating {
		for _, p := range c.primaries() {
			if len(gating) > 1 {
				p.of = c.name()
			}
			list = append(list, p)
		}
	}
	return list
}

// closeness is the upper bound as a share of the margin.
func (p primary) closeness() float64 { return p.estimate.U / p.margin }

func compareFloats(x, y float64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

func trimmed(s string) string { return strings.TrimSpace(s) }

// next says what to do after a verdict other than PASS.
func (b *builder) next(gating []*Comparison) []string {
	if b.view.Result == controlMissed {
		return []string{"take these metrics out of primary on such a host, or measure them better: longer phases, a quieter host, interleaved arms"}
	}
	switch b.view.Verdict {
	case stat.Inconclusive:
		return b.nextBlocks(gating)
	case stat.Invalid:
		return []string{"remove the cause, then run a new campaign: nothing here says how much the candidate costs"}
	case stat.Fail:
		return []string{"the finding stands; run a new campaign only after a change of the candidate"}
	}
	return nil
}

// practicalBlocks is the longest campaign that anyone is told to run; mostBlocks
// is where a number of blocks stops meaning anything.
const (
	practicalBlocks = 100
	mostBlocks      = 1000
)

// nextBlocks says how many blocks would decide, and that they are a new plan.
func (b *builder) nextBlocks(gating []*Comparison) []string {
	var lines []string
	least, most, hopeless := 0, 0, false
	for _, p := range allPrimaries(gating) {
		if p.Advice == nil {
			continue
		}
		least = max(least, p.Advice.IfZeroUpper)
		most = max(most, p.Advice.IfObservedUpper)
		hopeless = hopeless || p.Advice.IfObserved == 0
	}
	if least > 0 { // the power is for a t interval, and as many blocks as ran were not enough
		least = max(least, b.view.Blocks.Valid+2)
	}
	switch {
	case least > practicalBlocks:
		lines = append(lines, fmt.Sprintf("reduce the noise first (a quieter host, longer phases): at this spread it takes %s even if the true effect is 0; this campaign can't be extended",
			blocksRange(least, least)))
	case least > 0:
		lines = append(lines, "reduce the noise, or run a new campaign with design.blocks: "+blocksToPlan(least, most)+"; this one can't be extended")
	}
	if hopeless {
		lines = append(lines, "where the estimate itself is beyond the margin, more blocks are more likely to show a FAIL than a PASS")
	}
	if b.aaOpen {
		lines = append(lines, "run an A/A that shows equality, then a new campaign: opbench aa "+shellWord(b.evidence.name)+" says what the A/A lacks")
	}
	for _, c := range gating {
		if c.conditions.Stalls {
			lines = append(lines, "look for the cause of the stalls in "+c.Candidate+": a mean does not show them, and more blocks do not remove them")
		}
	}
	return lines
}

// needs lists what each undecided metric would take.
func needs(v stat.Verdict, gating []*Comparison) []string {
	if v != stat.Inconclusive {
		return nil
	}
	var lines []string
	for _, p := range allPrimaries(gating) {
		if p.Advice != nil {
			lines = append(lines, p.adviceLine())
		}
	}
	return lines
}

func blocksToPlan(least, most int) string {
	if most <= least {
		return fmt.Sprint(least)
	}
	return fmt.Sprintf("%d (%d are enough if the true effect is 0)", most, least)
}

func (p primary) adviceLine() string {
	a := p.Advice
	supports := strings.TrimPrefix(trimmed(percent(a.Supports, p.MarginPct)), "+")
	line := fmt.Sprintf("%s: supports a margin above %s; 90 %% power needs %s if the true effect is 0", p, supports, blocksRange(a.IfZero, a.IfZeroUpper))
	if a.IfObserved == 0 {
		line += ", no number of blocks if it is the estimate"
	} else {
		line += ", " + blocksRange(a.IfObserved, a.IfObservedUpper) + " if it is the estimate"
	}
	if a.Noise != "" {
		line += "; noise " + a.Noise
	}
	return line
}

// blocksRange gives the blocks at the observed spread and at the 80 % upper
// limit of it.
func blocksRange(n, upper int) string {
	switch {
	case n == 0 || upper == 0 || n > mostBlocks:
		return fmt.Sprintf("more than %d blocks", mostBlocks)
	case upper > mostBlocks:
		return fmt.Sprintf("%d to more than %d blocks", n, mostBlocks)
	case n == upper:
		return fmt.Sprintf("%d blocks", n)
	}
	return fmt.Sprintf("%d to %d blocks", n, upper)
}

package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/judge/rates"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/scenarios"
)

// sentence says what the verdict rests on. Its words never claim that there is
// no regression, only what was excluded.
func (w *wording) sentence() string {
	var claim string
	switch v := w.v; {
	case controlled(v.Result):
		claim = controlSentence(w.gating)
	case v.Verdict == stat.Fail && v.Reason == "":
		claim = w.failed(withoutEqual(w.gating))
	case v.Verdict == stat.Fail || v.Verdict == stat.Invalid:
		claim = w.because()
	case !accept.HasEffects(w.s):
		claim = "All correctness checks hold in every valid run"
	case v.Verdict == stat.Inconclusive:
		claim = w.inconclusive()
	default:
		claim = w.passed(withoutEqual(w.gating))
	}
	if w.v.Nothing() {
		return claim + "." // which says that no block is valid
	}
	return claim + w.faster() + ". " + w.basis()
}

// faster adds what the candidate is certainly better at, where the verdict rests on
// effects. A FAIL of several comparisons speaks of those that fail.
func (w *wording) faster() string {
	fails := w.v.Verdict == stat.Fail && (w.v.Reason != "" || len(w.gating) > 1)
	if fails || w.v.Verdict == stat.Invalid || w.s.Purpose == scenarios.Control || w.s.Purpose == scenarios.AA {
		return ""
	}
	if claim := rates.Faster(w.gating, w.level); claim != "" {
		return "; " + claim
	}
	return ""
}

// passed states the margin and the worst bound.
func (w *wording) passed(gating []*view.Comparison) string {
	list := allPrimaries(gating)
	worst := slices.MaxFunc(list, func(x, y view.Placed) int { return cmp.Compare(closeness(x), closeness(y)) })
	what := "costs less than %s %% on %s"
	switch {
	case w.s.Purpose == scenarios.AA && len(gating) > 1:
		what = "are equal within %s %% on %s"
	case w.s.Purpose == scenarios.AA:
		what = "equals its baseline within %s %% on %s"
	case len(gating) > 1:
		what = "cost less than %s %% on %s"
	}
	return fmt.Sprintf("%s "+what+"; worst bound %s (%s)", w.subject(gating), view.Plain(worst.MarginPct),
		view.AllOf(len(list), "primary metric", "primary metrics"), view.MaybePercent(worst.Upper, worst.MarginPct), worst)
}

func (w *wording) failed(gating []*view.Comparison) string {
	list := allPrimaries(gating)
	bad := slices.DeleteFunc(slices.Clone(list), func(p view.Placed) bool { return !p.Fails() })
	worst := slices.MaxFunc(bad, func(x, y view.Placed) int { return cmp.Compare(x.Detail.L/x.Detail.Margin, y.Detail.L/y.Detail.Margin) })
	what := "costs"
	culprits := failing(gating)
	if len(culprits) > 1 {
		what = "cost"
	}
	return fmt.Sprintf("%s %s more than %s %% on %d of %s; worst: at least %s (%s, estimate %s)", w.culprits(gating, culprits), what,
		view.Plain(worst.MarginPct), len(bad), view.Plural(len(list), "primary metric", "primary metrics"),
		view.MaybePercent(worst.Lower, worst.MarginPct), worst, view.MaybePercent(worst.Effect, worst.MarginPct))
}

// singly tells of the metrics that fail by their own bound alone.
func singly(list []view.Placed) string {
	alone := slices.DeleteFunc(slices.Clone(list), func(p view.Placed) bool { return !p.Unadjusted() })
	if len(alone) == 0 {
		return ""
	}
	worst := slices.MinFunc(alone, func(x, y view.Placed) int { return cmp.Compare(*x.Detail.PAbove, *y.Detail.PAbove) })
	return fmt.Sprintf("taken singly, %d of %s cost more than %s %%, which among so many can be chance: %s, at least %s (p %.2g, times %d metrics %.2g)",
		len(alone), view.Plural(len(list), "primary metric", "primary metrics"), view.Plain(worst.MarginPct),
		worst, view.MaybePercent(worst.Lower, worst.MarginPct), *worst.Detail.PAbove, worst.Detail.Tests, *worst.Detail.PAdjusted)
}

func (w *wording) inconclusive() string {
	var parts []string
	if s := singly(allPrimaries(w.gating)); s != "" {
		parts = append(parts, s)
	}
	for _, equal := range []bool{false, true} {
		same := slices.DeleteFunc(slices.Clone(w.gating), func(c *view.Comparison) bool { return c.AA != equal })
		if s := undecided(allPrimaries(same), equal); s != "" {
			parts = append(parts, s)
		}
	}
	if s := undecidedBySelection(allPrimaries(w.gating)); s != "" {
		parts = append(parts, s)
	}
	for _, c := range w.gating {
		if c.Batched() {
			parts = append([]string{batchSentence(c)}, parts...)
		}
	}
	if w.aaOpen {
		parts = append(parts, "the required A/A did not show that equal arms are equal: "+w.v.AA)
	}
	if len(parts) > 0 {
		parts[0] = strings.ToUpper(parts[0][:1]) + parts[0][1:]
	}
	for _, c := range w.gating {
		if c.Stalling() {
			parts = append(parts, fmt.Sprintf("%s stalls more often than %s: %s against %d (p = %.2g)",
				c.Candidate, c.Baseline, view.Plural(c.Stalls.Candidate, "event", "events"), c.Stalls.Baseline, c.Stalls.P))
		}
	}
	return strings.Join(parts, "; ")
}

// undecided says what the metrics without a verdict leave open; equal if their
// arms are.
func undecided(list []view.Placed, equal bool) string {
	open := slices.DeleteFunc(slices.Clone(list), func(p view.Placed) bool { return !p.Is(stat.Inconclusive, "") })
	if len(open) == 0 {
		return ""
	}
	worst := slices.MaxFunc(open, func(x, y view.Placed) int { return cmp.Compare(closeness(x), closeness(y)) })
	what := "a cost of %s %% is neither excluded nor shown on %d of %s; worst bound %s (%s)"
	if equal {
		what = "equality within %s %% is not shown on %d of %s; worst bound %s (%s)"
	}
	return fmt.Sprintf(what, view.Plain(worst.MarginPct), len(open), view.Plural(len(list), "primary metric", "primary metrics"),
		view.MaybePercent(worst.Upper, worst.MarginPct), worst)
}

// undecidedBySelection says which verdicts would be others with attempts put back.
func undecidedBySelection(list []view.Placed) string {
	open := slices.DeleteFunc(slices.Clone(list), func(p view.Placed) bool { return !p.Is(stat.Inconclusive, view.ReasonSelection) })
	if len(open) == 0 {
		return ""
	}
	worst := slices.MaxFunc(open, func(x, y view.Placed) int { return cmp.Compare(putBackBy(x), putBackBy(y)) })
	return fmt.Sprintf("the verdict on %d of %s rests on which attempts count; with those put back that were aborted or void the bounds are %s and %s (%s)",
		len(open), view.Plural(len(list), "primary metric", "primary metrics"),
		view.MaybePercent(worst.PutBack.Lower, worst.MarginPct), view.MaybePercent(worst.PutBack.Upper, worst.MarginPct), worst)
}

// putBackBy is the width of the bounds with attempts put back, in margins.
func putBackBy(p view.Placed) float64 {
	if p.PutBack.Lower == nil || p.PutBack.Upper == nil {
		return math.Inf(1)
	}
	return (*p.PutBack.Upper - *p.PutBack.Lower) / p.MarginPct
}

// claim is a reason of a verdict in the words of its sentence, with the findings that
// say so.
type claim struct {
	text string
	by   []*view.Finding
}

// because tells the first reason of a verdict that rests on none of the effects, and
// how many more there are.
func (w *wording) because() string {
	list := claims(w.gating, w.v.Verdict)
	if len(list) == 0 {
		return "nothing was judged"
	}
	first, rest := list[0], list[1:]
	w.told(first)
	text := first.text
	missing := slices.IndexFunc(rest, func(c claim) bool { return c.by[0].Name == view.ReasonBlocksMissing })
	if first.by[0].Name == view.ReasonSelection && missing >= 0 { // what was repeated too often is what is missing
		w.told(rest[missing])
		text += "; " + rest[missing].text
		rest = slices.Delete(slices.Clone(rest), missing, missing+1)
	}
	if more := len(rest); more > 0 {
		text += fmt.Sprintf("; and %s below", view.Plural(more, "more reason", "more reasons"))
	}
	return text
}

// told marks what the sentence says, also where it stands in comparisons that do not
// gate.
func (w *wording) told(c claim) {
	for _, f := range c.by {
		f.Told = true
	}
	for i := range w.v.Comparisons {
		for k := range w.v.Comparisons[i].Invalid {
			f := &w.v.Comparisons[i].Invalid[k]
			f.Told = f.Told || len(c.by) == len(w.gating) && f.String() == c.by[0].String()
		}
	}
}

// claims are the reasons of a verdict, each once; of several comparisons they name
// the one that they do not share with the others.
func claims(gating []*view.Comparison, v stat.Verdict) (list []claim) {
	for _, c := range gating {
		for _, r := range reasonsOf(c, v) {
			text := claimOf(r)
			if len(gating) > 1 && !everywhere(gating, v, r) {
				text = c.Name() + ": " + text
			}
			i := slices.IndexFunc(list, func(x claim) bool { return x.text == text })
			if i < 0 {
				i, list = len(list), append(list, claim{text: text})
			}
			list[i].by = append(list[i].by, r)
		}
	}
	return list
}

// everywhere reports whether a reason holds for every comparison.
func everywhere(gating []*view.Comparison, v stat.Verdict, r *view.Finding) bool {
	for _, c := range gating {
		if !slices.ContainsFunc(reasonsOf(c, v), func(x *view.Finding) bool { return x.String() == r.String() }) {
			return false
		}
	}
	return true
}

// reasonsOf are those of a verdict of a comparison: its own, or of its metrics.
func reasonsOf(c *view.Comparison, v stat.Verdict) (list []*view.Finding) {
	own := c.Invalid
	if v == stat.Fail {
		own = c.Failed
	}
	for i := range own {
		list = append(list, &own[i])
	}
	if v == stat.Fail || list != nil {
		return list
	}
	for _, p := range c.Primaries() {
		if p.Verdict == stat.Invalid {
			list = append(list, &view.Finding{Name: p.Reason, Detail: p.String() + p.LastRemark()})
		}
	}
	return list
}

// basis says how much was measured.
func (w *wording) basis() string {
	parts := []string{view.Plural(w.v.Blocks.Valid-w.v.Blocks.NotPooled, "block", "blocks")}
	var identities []string
	for _, c := range w.gating {
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
func (w *wording) subject(gating []*view.Comparison) string {
	if len(gating) != 1 {
		return candidates(gating)
	}
	arm, _ := w.s.Arm(gating[0].Candidate)
	if arm.Patch == scenarios.PatchNone || gating[0].AA || arm.Patch == "" {
		return arm.Name
	}
	return arm.Patch
}

// culprits names the comparisons that fail; where there is one, its candidate.
func (w *wording) culprits(gating, failing []*view.Comparison) string {
	if len(gating) == 1 {
		return w.subject(gating)
	}
	return candidates(failing)
}

// candidates names those of several comparisons with their baselines.
func candidates(list []*view.Comparison) string {
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = c.Name()
	}
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return strings.Join(names, "")
}

// failing are the comparisons with a metric that fails; of several comparisons a
// FAIL names only these.
func failing(gating []*view.Comparison) []*view.Comparison {
	if len(gating) == 1 {
		return gating
	}
	return slices.DeleteFunc(slices.Clone(gating), func(c *view.Comparison) bool {
		return !slices.ContainsFunc(c.Primaries(), func(p view.Placed) bool { return p.Fails() })
	})
}

// closeness is the upper bound as a share of the margin.
func closeness(p view.Placed) float64 { return p.Detail.U / p.Detail.Margin }

// claimOf is the line without a name that the verdict already carries.
func claimOf(r *view.Finding) string {
	if r.Name == view.ReasonIdentity {
		return "the outputs differ: " + strings.TrimPrefix(r.String(), string(r.Name)+": ")
	}
	return strings.TrimPrefix(r.String(), string(r.Name)+": ")
}

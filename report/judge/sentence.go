package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/aituner/opprof/report/judge/accept"
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
		claim = because(w.gating, v.Verdict)
	case !accept.HasEffects(w.s):
		claim = "All correctness checks hold in every valid run"
	case v.Verdict == stat.Inconclusive:
		claim = w.inconclusive()
	default:
		claim = w.passed(withoutEqual(w.gating))
	}
	return claim + ". " + w.basis()
}

// passed states the margin and the worst bound.
func (w *wording) passed(gating []*view.Comparison) string {
	list := allPrimaries(gating)
	worst := slices.MaxFunc(list, func(x, y view.Placed) int { return cmp.Compare(closeness(x), closeness(y)) })
	what := "costs less than %s %% on all %s"
	switch {
	case w.s.Purpose == scenarios.AA && len(gating) > 1:
		what = "are equal within %s %% on all %s"
	case w.s.Purpose == scenarios.AA:
		what = "equals its baseline within %s %% on all %s"
	case len(gating) > 1:
		what = "cost less than %s %% on all %s"
	}
	return fmt.Sprintf("%s "+what+"; worst bound %s (%s)", w.subject(gating), view.Plain(worst.MarginPct),
		view.Plural(len(list), "primary metric", "primary metrics"), view.MaybePercent(worst.Upper, worst.MarginPct), worst)
}

func (w *wording) failed(gating []*view.Comparison) string {
	list := allPrimaries(gating)
	bad := slices.DeleteFunc(slices.Clone(list), func(p view.Placed) bool { return p.Verdict != stat.Fail })
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

func (w *wording) inconclusive() string {
	var parts []string
	for _, equal := range []bool{false, true} {
		same := slices.DeleteFunc(slices.Clone(w.gating), func(c *view.Comparison) bool { return c.AA != equal })
		if s := undecided(allPrimaries(same), equal); s != "" {
			parts = append(parts, s)
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
			parts = append(parts, fmt.Sprintf("%s stalls more often than %s: %d events against %d (p = %.2g)",
				c.Candidate, c.Baseline, c.Stalls.Candidate, c.Stalls.Baseline, c.Stalls.P))
		}
	}
	return strings.Join(parts, "; ")
}

// undecided says what the metrics without a verdict leave open; equal if their
// arms are.
func undecided(list []view.Placed, equal bool) string {
	open := slices.DeleteFunc(slices.Clone(list), func(p view.Placed) bool { return p.Verdict != stat.Inconclusive })
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

// because lists the reasons of a verdict that rests on none of the effects.
func because(gating []*view.Comparison, v stat.Verdict) string {
	var first []string
	more := 0
	for _, c := range gating {
		for _, r := range reasonsOf(c, v) {
			text := claimOf(r)
			if len(gating) > 1 && !everywhere(gating, v, r) {
				text = c.Name() + ": " + text
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
		return strings.Join(first, "") + fmt.Sprintf("; and %s below", view.Plural(more, "more reason", "more reasons"))
	}
	if len(first) == 0 {
		return "nothing was judged"
	}
	return first[0]
}

// everywhere reports whether a reason holds for every comparison.
func everywhere(gating []*view.Comparison, v stat.Verdict, r view.Finding) bool {
	for _, c := range gating {
		if !slices.ContainsFunc(reasonsOf(c, v), func(x view.Finding) bool { return x.String() == r.String() }) {
			return false
		}
	}
	return true
}

// reasonsOf are those of a verdict of a comparison: its own, or of its metrics.
func reasonsOf(c *view.Comparison, v stat.Verdict) []view.Finding {
	if v == stat.Fail {
		return c.Failed
	}
	if len(c.Invalid) > 0 {
		return c.Invalid
	}
	var list []view.Finding
	for _, p := range c.Primaries() {
		if p.Verdict == stat.Invalid {
			list = append(list, view.Finding{Name: p.Reason, Detail: p.String() + p.LastRemark()})
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
	return slices.DeleteFunc(slices.Clone(gating), func(c *view.Comparison) bool { return c.Count(stat.Fail) == 0 })
}

// closeness is the upper bound as a share of the margin.
func closeness(p view.Placed) float64 { return p.Detail.U / p.Detail.Margin }

// claimOf is the line without a name that the verdict already carries.
func claimOf(r view.Finding) string {
	if r.Name == view.ReasonIdentity {
		return "the outputs differ: " + strings.TrimPrefix(r.String(), string(r.Name)+": ")
	}
	return strings.TrimPrefix(r.String(), string(r.Name)+": ")
}

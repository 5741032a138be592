// Package revisions puts two arms or two campaigns beside each other. It decides
// nothing.
package revisions

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aituner/opprof/report/judge"
	"github.com/aituner/opprof/report/sizing"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

func effectOf(m *view.Metric) (*view.Effect, bool) {
	if m == nil || m.Effect == nil || m.Lower == nil || m.Upper == nil {
		return nil, false
	}
	return &view.Effect{Pct: *m.Effect, Lower: *m.Lower, Upper: *m.Upper}, true
}

// CompareArms compares two arms of one campaign, block by block: what they have in
// common, the baseline above all, cancels. It returns ErrUnfinished, ErrUnusable,
// or an error that names an arm that is not there.
func CompareArms(c *results.Campaign, a, b, tool string) (*view.Revisions, error) {
	name := view.CampaignName(c.Dir)
	for _, arm := range []string{a, b} {
		if _, ok := c.Plan.Scenario.Arm(arm); !ok {
			return nil, fmt.Errorf("%s: %w: there is no arm %s; it has %s", name, ErrUnlike, view.Clean(arm), armNames(&c.Plan.Scenario))
		}
	}
	if a == b {
		return nil, fmt.Errorf("%s: %w: %s would be compared with itself", name, ErrUnlike, view.Clean(a))
	}
	asked, common := askAnother(c, a, b)
	v, err := judge.Build(asked, tool)
	if err != nil {
		return nil, err
	}
	if err := usable(v, v.Comparisons); err != nil {
		return nil, err
	}
	r := newRevisions(v, v, "paired", tool)
	r.A, r.B = side(v, a, common), side(v, b, common)
	r.Notes = []string{"the difference is taken within each block: bootstrap-t and t, the wider end of both, as in the report"}
	if common == "" {
		r.Notes = append(r.Notes, "the campaign compares the two with no common arm: there is only their difference")
	}
	for _, m := range v.Comparisons[0].Shown() {
		d, ok := effectOf(m.Metric)
		if !ok {
			r.Notes = append(r.Notes, "left out: "+m.String()+m.LastRemark())
			continue
		}
		one := view.RevisionMetric{Phase: m.Phase, Load: v.Comparisons[0].Load(m.Phase), Name: m.Name, Label: m.Label, Difference: *d}
		if common != "" {
			one.A, _ = effectOf(v.Comparisons[1].Find(m.Phase, m.Name))
			one.B, _ = effectOf(v.Comparisons[2].Find(m.Phase, m.Name))
		}
		r.Metrics = append(r.Metrics, one)
	}
	noteOutputs(r, v.Comparisons)
	return r, nil
}

// askAnother puts another question to the same runs: b against a and, if the plan
// compares both with a common arm, each of them against that one.
func askAnother(c *results.Campaign, a, b string) (asked *results.Campaign, common string) {
	plan, campaign := *c.Plan, *c
	s := &plan.Scenario
	pairs := []scenarios.Comparison{{Baseline: a, Candidate: b}}
	for _, p := range s.Compare {
		both := slices.Contains(s.Compare, scenarios.Comparison{Baseline: p.Baseline, Candidate: b})
		if p.Candidate == a && both {
			common = p.Baseline
			pairs = append(pairs, p, scenarios.Comparison{Baseline: common, Candidate: b})
			break
		}
	}
	s.Compare = pairs
	s.Gate.RequireAA = false // nothing is gated
	campaign.Plan = &plan
	return &campaign, common
}

func armNames(s *scenarios.Scenario) string {
	var names []string
	for _, a := range s.Arms {
		names = append(names, view.Clean(a.Name))
	}
	return strings.Join(names, ", ")
}

// usable refuses comparisons that show no effect, or none to be trusted.
func usable(v *view.View, list []view.Comparison) error {
	name := v.Subject.Campaign
	if !v.Finished {
		return fmt.Errorf("%s: %w: block %d of %d is done", name, sizing.ErrUnfinished, v.Blocks.Valid, v.Blocks.Planned)
	}
	if v.Subject.Purpose == string(scenarios.Correctness) {
		return fmt.Errorf("%s: %w: a correctness campaign has no effects", name, ErrUnlike)
	}
	for i := range list {
		if len(list[i].Invalid) > 0 {
			return fmt.Errorf("%s: %s against %s: %w: %s", name, list[i].Candidate, list[i].Baseline, sizing.ErrUnusable, list[i].Invalid[0])
		}
	}
	return nil
}

// CompareCampaigns compares a revision of one campaign with one of another: the
// difference of their effects, each against its own baseline. armA and armB name
// the candidates; empty is right where there is one comparison. Campaigns that
// did not measure the same thing are refused with ErrUnlike; except names parts
// of Excusable that may differ.
func CompareCampaigns(a, b *results.Campaign, armA, armB string, except []string, tool string) (*view.Revisions, error) {
	views := [2]*view.View{}
	chosen := [2]*view.Comparison{}
	for i, c := range []*results.Campaign{a, b} {
		v, err := judge.Build(c, tool)
		if err != nil {
			return nil, err
		}
		if chosen[i], err = choose(v, []string{armA, armB}[i]); err != nil {
			return nil, err
		}
		if err := usable(v, []view.Comparison{*chosen[i]}); err != nil {
			return nil, err
		}
		views[i] = v
	}
	stated, err := refuse(a, b, chosen, except)
	if err != nil {
		return nil, err
	}
	r := newRevisions(views[0], views[1], "welch", tool)
	r.A, r.B = side(views[0], chosen[0].Candidate, chosen[0].Baseline), side(views[1], chosen[1].Candidate, chosen[1].Baseline)
	r.Stated, r.PlanDiffers = stated, planDifferences(a.Plan, b.Plan)
	r.Notes = []string{"two campaigns at two times: Welch's interval of the difference of their effects. What changed between them, such as the host's load, is in it"}
	if err := addWelch(r, chosen); err != nil {
		return nil, err
	}
	for i := range views {
		noteOutputs(r, []view.Comparison{*chosen[i]})
	}
	return r, nil
}

// choose finds the comparison whose candidate is named, or the only one. An A/A
// beside other comparisons has to be named.
func choose(v *view.View, arm string) (*view.Comparison, error) {
	var list, effects []*view.Comparison
	var candidates []string
	for i := range v.Comparisons {
		c := &v.Comparisons[i]
		candidates = append(candidates, view.Clean(c.Candidate))
		if arm != "" && c.Candidate != arm {
			continue
		}
		list = append(list, c)
		if !c.AA {
			effects = append(effects, c)
		}
	}
	if len(effects) == 1 {
		return effects[0], nil
	}
	if len(list) == 1 {
		return list[0], nil
	}
	found := fmt.Sprintf("%d comparisons", len(list))
	if arm != "" {
		found += " with the candidate " + view.Clean(arm)
	}
	return nil, fmt.Errorf("%s: %w: %s; name one of its candidates: %s", v.Subject.Campaign, ErrUnlike, found, strings.Join(candidates, ", "))
}

// refuse returns ErrUnlike with everything that differs and was not excused, and
// what was.
func refuse(a, b *results.Campaign, chosen [2]*view.Comparison, except []string) (stated []string, err error) {
	var refused []string
	list := append(campaignDifferences(a, b), armDifferences(&a.Plan.Scenario, &b.Plan.Scenario, chosen)...)
	for _, d := range list {
		if slices.Contains(except, d.Part) {
			stated = append(stated, d.Text)
			continue
		}
		text := d.Part + ": " + view.Clean(d.Text)
		if slices.Contains(Excusable, d.Part) {
			text += " (--except " + d.Part + " if that is meant)"
		}
		refused = append(refused, text)
	}
	if refused != nil {
		return nil, fmt.Errorf("%s (A) and %s (B): %w:\n  %s", view.CampaignName(a.Dir), view.CampaignName(b.Dir), ErrUnlike, strings.Join(refused, "\n  "))
	}
	return stated, nil
}

// armDifferences are those of the arms that the effects are relative to, and of
// the options of the revisions themselves.
func armDifferences(a, b *scenarios.Scenario, chosen [2]*view.Comparison) (list []unlike) {
	baseA, _ := a.Arm(chosen[0].Baseline)
	baseB, _ := b.Arm(chosen[1].Baseline)
	candA, _ := a.Arm(chosen[0].Candidate)
	candB, _ := b.Arm(chosen[1].Candidate)
	for _, m := range []struct {
		name string
		a, b map[string]string
	}{{"args of the baseline", baseA.Args, baseB.Args}, {"env of the baseline", baseA.Env, baseB.Env}, {"args of the candidate", candA.Args, candB.Args}} {
		if !maps.Equal(m.a, m.b) {
			list = append(list, unlike{"engine", fmt.Sprintf("%s: %v in A, %v in B", m.name, m.a, m.b)})
		}
	}
	return list
}

// planDifferences names the parts of two plans that differ and still may.
func planDifferences(a, b *results.Plan) []string {
	var list []string
	differ := func(name string, x, y any) {
		if fmt.Sprint(x) != fmt.Sprint(y) {
			list = append(list, fmt.Sprintf("%s: %v in A, %v in B", name, x, y))
		}
	}
	s, t := &a.Scenario, &b.Scenario
	differ("patches", patchText(a), patchText(b))
	differ("design.blocks", s.Design.Blocks, t.Design.Blocks)
	differ("design.seed", s.Design.Seed, t.Design.Seed)
	differ("design.looks", s.Design.Looks, t.Design.Looks)
	differ("design.cooldown", s.Design.Cooldown, t.Design.Cooldown)
	differ("design.adjust_order", s.Design.AdjustOrder, t.Design.AdjustOrder)
	differ("purpose", s.Purpose, t.Purpose)
	differ("tool", a.Tool, b.Tool)
	return list
}

func patchText(p *results.Plan) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(p.Patches)) {
		parts = append(parts, view.Clean(strings.TrimSpace(name+" "+view.ShortHash(p.Patches[name]))))
	}
	return strings.Join(parts, " and ")
}

// addWelch adds every metric that both campaigns have.
func addWelch(r *view.Revisions, chosen [2]*view.Comparison) error {
	for _, m := range chosen[0].Shown() {
		other := chosen[1].Find(m.Phase, m.Name)
		a, hasA := effectOf(m.Metric)
		b, hasB := effectOf(other)
		if !hasA || !hasB {
			r.Notes = append(r.Notes, "left out, not in both campaigns: "+m.String())
			continue
		}
		d, i, err := stat.Welch(m.Effects(), other.Effects(), r.ConfidencePct/100)
		if err != nil {
			return fmt.Errorf("%s: %w", m, err)
		}
		r.Metrics = append(r.Metrics, view.RevisionMetric{
			Phase: m.Phase, Load: chosen[0].Load(m.Phase), Name: m.Name, Label: m.Label, A: a, B: b,
			Difference: view.Effect{Pct: judge.EffectPct(d, m.Direction()), Lower: judge.EffectPct(i.Lo, m.Direction()), Upper: judge.EffectPct(i.Hi, m.Direction())},
		})
	}
	if r.Metrics == nil {
		return fmt.Errorf("%w: no metric was measured in both campaigns", ErrUnlike)
	}
	return nil
}

func newRevisions(a, b *view.View, method, tool string) *view.Revisions {
	return &view.Revisions{
		Schema: results.Schema, Kind: "compare", Tool: tool, Method: method, Simulated: a.Simulated || b.Simulated,
		ConfidencePct: min(a.Subject.Confidence, b.Subject.Confidence),
	}
}

func side(v *view.View, arm, baseline string) view.RevisionOf {
	out := view.RevisionOf{
		Campaign: v.Subject.Campaign, Arm: arm, Baseline: baseline, PlanHash: v.Subject.PlanHash, Date: v.Subject.Date, Blocks: v.Blocks.Valid,
	}
	for _, a := range v.Subject.Arms {
		if a.Name == arm {
			out.Patch = a.Patch
		}
	}
	return out
}

// noteOutputs says where outputs differ: effects on other outputs are effects on
// another task.
func noteOutputs(r *view.Revisions, list []view.Comparison) {
	for i := range list {
		c := &list[i]
		for _, f := range c.Failed {
			r.Notes = append(r.Notes, fmt.Sprintf("%s against %s: %s", c.Candidate, c.Baseline, f))
		}
		if c.Hosts > 1 {
			r.Notes = append(r.Notes, fmt.Sprintf("%s against %s: blocks ran on %d hosts", c.Candidate, c.Baseline, c.Hosts))
		}
	}
}

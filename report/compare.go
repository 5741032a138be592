package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// Revisions compares what two revisions cost. It is information, not a gate: it
// has no margin and decides nothing. Effects and bounds are percentages, positive
// is worse.
type Revisions struct {
	Schema int    `json:"schema"`
	Kind   string `json:"kind"` // "compare"
	Tool   string `json:"tool"`
	// Method is "paired" for two arms of one campaign, "welch" for two campaigns.
	Method        string  `json:"method"`
	ConfidencePct float64 `json:"confidence_pct"`
	Simulated     bool    `json:"simulated,omitempty"`

	A RevisionOf `json:"a"`
	B RevisionOf `json:"b"`
	// Stated are the differences that the user excused.
	Stated []string `json:"stated_differences,omitempty"`
	// PlanDiffers names the parts of the two plans that differ and may.
	PlanDiffers []string         `json:"plan_differs,omitempty"`
	Notes       []string         `json:"notes"`
	Metrics     []RevisionMetric `json:"metrics"`
}

// RevisionOf is one side: an arm, and the arm that its effect is relative to.
type RevisionOf struct {
	Campaign string `json:"campaign"`
	Arm      string `json:"arm"`
	Patch    string `json:"patch"`
	Baseline string `json:"baseline,omitempty"` // absent: no common one was measured
	PlanHash string `json:"plan_hash"`
	Date     string `json:"date,omitempty"`
	Blocks   int    `json:"blocks"`
}

// RevisionMetric is one metric of a phase.
type RevisionMetric struct {
	Phase string `json:"phase"`
	Load  string `json:"load"`
	Name  string `json:"name"`
	Label string `json:"label"`
	// A and B are the effects against the baseline; absent without a common one.
	A *Effect `json:"a,omitempty"`
	B *Effect `json:"b,omitempty"`
	// Difference is what B costs relative to A.
	Difference Effect `json:"difference"`
}

// Effect is a change with its two-sided interval, in percent.
type Effect struct {
	Pct   float64 `json:"pct"`
	Lower float64 `json:"lower_pct"`
	Upper float64 `json:"upper_pct"`
}

// told reports whether the interval excludes zero.
func (e Effect) told() bool { return e.Lower > 0 || e.Upper < 0 }

func effectOf(m *Metric) (*Effect, bool) {
	if m == nil || m.Effect == nil || m.Lower == nil || m.Upper == nil {
		return nil, false
	}
	return &Effect{*m.Effect, *m.Lower, *m.Upper}, true
}

// CompareArms compares two arms of one campaign, block by block: what they have in
// common, the baseline above all, cancels. It returns ErrUnfinished, ErrUnusable,
// or an error that names an arm that is not there.
func CompareArms(c *results.Campaign, a, b, tool string) (*Revisions, error) {
	name := campaignName(c.Dir)
	for _, arm := range []string{a, b} {
		if _, ok := c.Plan.Scenario.Arm(arm); !ok {
			return nil, fmt.Errorf("%s: %w: there is no arm %s; it has %s", name, ErrUnlike, clean(arm), armNames(&c.Plan.Scenario))
		}
	}
	if a == b {
		return nil, fmt.Errorf("%s: %w: %s would be compared with itself", name, ErrUnlike, clean(a))
	}
	asked, common := ask(c, a, b)
	v, err := Build(asked, tool)
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
	for _, m := range v.Comparisons[0].shown() {
		d, ok := effectOf(m.Metric)
		if !ok {
			r.Notes = append(r.Notes, "left out: "+m.String()+lastRemark(m.Metric))
			continue
		}
		one := RevisionMetric{Phase: m.phase, Load: v.Comparisons[0].load(m.phase), Name: m.Name, Label: m.Label, Difference: *d}
		if common != "" {
			one.A, _ = effectOf(v.Comparisons[1].find(m.phase, m.Name))
			one.B, _ = effectOf(v.Comparisons[2].find(m.phase, m.Name))
		}
		r.Metrics = append(r.Metrics, one)
	}
	r.noteOutputs(v.Comparisons)
	return r, nil
}

// ask puts another question to the same runs: b against a and, if the plan
// compares both with a common arm, each of them against that one.
func ask(c *results.Campaign, a, b string) (asked *results.Campaign, common string) {
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
		names = append(names, clean(a.Name))
	}
	return strings.Join(names, ", ")
}

// usable refuses comparisons that show no effect, or none to be trusted.
func usable(v *View, list []Comparison) error {
	name := v.Subject.Campaign
	if !v.Finished {
		return fmt.Errorf("%s: %w: block %d of %d is done", name, ErrUnfinished, v.Blocks.Valid, v.Blocks.Planned)
	}
	if v.Subject.Purpose == string(scenarios.Correctness) {
		return fmt.Errorf("%s: %w: a correctness campaign has no effects", name, ErrUnlike)
	}
	for i := range list {
		if len(list[i].Invalid) > 0 {
			return fmt.Errorf("%s: %s against %s: %w: %s", name, list[i].Candidate, list[i].Baseline, ErrUnusable, list[i].Invalid[0])
		}
	}
	return nil
}

// CompareCampaigns compares a revision of one campaign with one of another: the
// difference of their effects, each against its own baseline. armA and armB name
// the candidates; empty is right where there is one comparison. Campaigns that
// did not measure the same thing are refused with ErrUnlike; except names parts
// of Excusable that may differ.
func CompareCampaigns(a, b *results.Campaign, armA, armB string, except []string, tool string) (*Revisions, error) {
	views := [2]*View{}
	chosen := [2]*Comparison{}
	for i, c := range []*results.Campaign{a, b} {
		v, err := Build(c, tool)
		if err != nil {
			return nil, err
		}
		if chosen[i], err = choose(v, []string{armA, armB}[i]); err != nil {
			return nil, err
		}
		if err := usable(v, []Comparison{*chosen[i]}); err != nil {
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
	if err := r.addWelch(chosen); err != nil {
		return nil, err
	}
	for i := range views {
		r.noteOutputs([]Comparison{*chosen[i]})
	}
	return r, nil
}

// choose finds the comparison whose candidate is named, or the only one. An A/A
// beside other comparisons has to be named.
func choose(v *View, arm string) (*Comparison, error) {
	var list, effects []*Comparison
	var candidates []string
	for i := range v.Comparisons {
		c := &v.Comparisons[i]
		candidates = append(candidates, clean(c.Candidate))
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
		found += " with the candidate " + clean(arm)
	}
	return nil, fmt.Errorf("%s: %w: %s; name one of its candidates: %s", v.Subject.Campaign, ErrUnlike, found, strings.Join(candidates, ", "))
}

// refuse returns ErrUnlike with everything that differs and was not excused, and
// what was.
func refuse(a, b *results.Campaign, chosen [2]*Comparison, except []string) (stated []string, err error) {
	var refused []string
	list := append(campaignDifferences(a, b), armDifferences(&a.Plan.Scenario, &b.Plan.Scenario, chosen)...)
	for _, d := range list {
		if slices.Contains(except, d.Part) {
			stated = append(stated, d.Text)
			continue
		}
		text := d.Part + ": " + clean(d.Text)
		if slices.Contains(Excusable, d.Part) {
			text += " (--except " + d.Part + " if that is meant)"
		}
		refused = append(refused, text)
	}
	if refused != nil {
		return nil, fmt.Errorf("%s (A) and %s (B): %w:\n  %s", campaignName(a.Dir), campaignName(b.Dir), ErrUnlike, strings.Join(refused, "\n  "))
	}
	return stated, nil
}

// armDifferences are those of the arms that the effects are relative to, and of
// the options of the revisions themselves.
func armDifferences(a, b *scenarios.Scenario, chosen [2]*Comparison) (list []unlike) {
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
		parts = append(parts, clean(strings.TrimSpace(name+" "+shortHash(p.Patches[name]))))
	}
	return strings.Join(parts, " and ")
}

// addWelch adds every metric that both campaigns have.
func (r *Revisions) addWelch(chosen [2]*Comparison) error {
	for _, m := range chosen[0].shown() {
		other := chosen[1].find(m.phase, m.Name)
		a, hasA := effectOf(m.Metric)
		b, hasB := effectOf(other)
		if !hasA || !hasB {
			r.Notes = append(r.Notes, "left out, not in both campaigns: "+m.String())
			continue
		}
		d, i, err := stat.Welch(m.d, other.d, r.ConfidencePct/100)
		if err != nil {
			return fmt.Errorf("%s: %w", m, err)
		}
		r.Metrics = append(r.Metrics, RevisionMetric{
			Phase: m.phase, Load: chosen[0].load(m.phase), Name: m.Name, Label: m.Label, A: a, B: b,
			Difference: Effect{m.percent(d), m.percent(i.Lo), m.percent(i.Hi)},
		})
	}
	if r.Metrics == nil {
		return fmt.Errorf("%w: no metric was measured in both campaigns", ErrUnlike)
	}
	return nil
}

func newRevisions(a, b *View, method, tool string) *Revisions {
	return &Revisions{
		Schema: results.Schema, Kind: "compare", Tool: tool, Method: method, Simulated: a.Simulated || b.Simulated,
		ConfidencePct: min(a.Subject.Confidence, b.Subject.Confidence),
	}
}

func side(v *View, arm, baseline string) RevisionOf {
	out := RevisionOf{
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
func (r *Revisions) noteOutputs(list []Comparison) {
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

// shown are the metrics of a comparison that bear on a gate.
func (c *Comparison) shown() (list []primary) {
	for i := range c.Phases {
		for j := range c.Phases[i].Metrics {
			if m := &c.Phases[i].Metrics[j]; m.Primary || isCore(m.Name) {
				list = append(list, primary{Metric: m, phase: c.Phases[i].Name})
			}
		}
	}
	return list
}

func (c *Comparison) find(phase, name string) *Metric {
	for i := range c.Phases {
		for j := range c.Phases[i].Metrics {
			if m := &c.Phases[i].Metrics[j]; c.Phases[i].Name == phase && m.Name == name {
				return m
			}
		}
	}
	return nil
}

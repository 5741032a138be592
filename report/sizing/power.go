package sizing

import (
	"fmt"
	"math"
	"slices"

	"github.com/aituner/opprof/report/judge/rates"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// PowerPlan says what power is asked for. Margin, Confidence and Power are
// fractions; a Margin or Confidence of 0 is that of the campaign.
type PowerPlan struct {
	Margin     float64
	Confidence float64 // two-sided
	Power      float64 // wanted
	// Effects are assumed true effects, as fractions of the baseline, positive
	// is worse; nil: none, and with a campaign also the mean that it observed.
	Effects []float64
	Blocks  []int // for which the power is given, ascending
	Arms    int   // of the plan that is sized; 0: as the campaign, else two
	// Metrics is how many primary metrics the campaign has, for given spreads; 0:
	// givenMetrics. A campaign has its own.
	Metrics int
	byOrder bool // effects are adjusted for order
}

// givenMetrics is what a campaign of two phases has with all that can be gated.
const givenMetrics = 8

// jointCampaigns are simulated for each number of blocks: the standard error of a power
// of 90 % is one point.
const jointCampaigns = 1000

// Check finds numbers for which there is no power.
func (p *PowerPlan) Check() error {
	switch {
	case p.Margin < 0 || p.Margin >= 1 || math.IsNaN(p.Margin):
		return fmt.Errorf("margin %g %%: want one between 0 and 100 %%", 100*p.Margin)
	case p.Confidence < 0 || p.Confidence >= 1 || math.IsNaN(p.Confidence):
		return fmt.Errorf("confidence %g %%: want one between 0 and 100 %%", 100*p.Confidence)
	case !(p.Power > 0 && p.Power < 1):
		return fmt.Errorf("power %g %%: want one between 0 and 100 %%", 100*p.Power)
	case p.Confidence > 0 && p.Power <= (1-p.Confidence)/2:
		return fmt.Errorf("power %g %%: no more than the one-sided error of a confidence of %g %%", 100*p.Power, 100*p.Confidence)
	case p.Metrics < 0 || p.Metrics > 100:
		return fmt.Errorf("%d metrics: want 1 to 100", p.Metrics)
	case p.Arms < 0 || p.Arms == 1 || p.Arms > 4:
		return fmt.Errorf("%d arms: a plan has two to four", p.Arms)
	case len(p.Blocks) == 0 || !slices.IsSorted(p.Blocks) || p.Blocks[0] < 2 || p.Blocks[len(p.Blocks)-1] > view.MostBlocks:
		return fmt.Errorf("blocks %v: want ascending numbers from 2 to %d", p.Blocks, view.MostBlocks)
	case len(p.Blocks) > mostPowerColumns:
		return fmt.Errorf("%d numbers of blocks: a table has room for %d", len(p.Blocks), mostPowerColumns)
	}
	for _, f := range p.Effects {
		if !(f > -1 && f < 1) {
			return fmt.Errorf("effect %g %%: want one between -100 and 100 %%", 100*f)
		}
	}
	return nil
}

// mostPowerColumns is how many numbers of blocks fit into a table.
const mostPowerColumns = 10

// PowerFromAA computes the power for the spreads that an A/A found: observed, and
// at their 80 % upper value. It returns ErrNoEqualArms, ErrUnfinished or
// ErrUnusable for a campaign that has no such spreads.
func PowerFromAA(c *results.Campaign, plan PowerPlan, tool string) (*view.PowerTable, error) {
	v, list, err := equalComparisons(c, tool)
	if err != nil {
		return nil, err
	}
	name := view.CampaignName(c.Dir)
	if !v.Finished {
		return nil, fmt.Errorf("%s: %w: block %d of %d is done", name, ErrUnfinished, v.Blocks.Valid, v.Blocks.Planned)
	}
	plan.fill(&c.Plan.Scenario)
	if err := plan.Check(); err != nil {
		return nil, err
	}
	t := plan.table(tool)
	t.Subject, t.Simulated = &v.Subject, v.Simulated
	for _, pair := range list {
		if err := plan.addPair(t, pair); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	plan.addWhole(t, list)
	t.Notes = append(t.Notes, fmt.Sprintf("spread: the standard deviation of d over %s of the A/A, and ≤ the one to reckon with: %s; an overhead campaign may spread more",
		view.Plural(v.Blocks.Valid, "block", "blocks"), reckoned(list)))
	if plan.Effects == nil {
		t.Notes = append(t.Notes, "*: if the true effect were the mean that the A/A observed")
	}
	concludePower(t)
	return t, nil
}

// fill takes what was left open from the campaign.
func (p *PowerPlan) fill(s *scenarios.Scenario) {
	if p.Margin == 0 {
		p.Margin = s.Gate.Margin
	}
	if p.Confidence == 0 {
		p.Confidence = s.Gate.Confidence
	}
	if p.Arms == 0 {
		p.Arms = len(s.Arms)
	}
	p.byOrder = s.Design.AdjustOrder
}

// reckoned says where the upper spreads come from.
func reckoned(list []*view.Comparison) string {
	campaigns := 1
	for _, c := range list {
		for _, m := range c.Primaries() {
			if m.Detail != nil {
				campaigns = max(campaigns, m.Detail.SDCampaigns)
			}
		}
	}
	if campaigns > 1 {
		return fmt.Sprintf("its 80 %% upper value, or that of the next campaign by %d of this host, if it is more", campaigns)
	}
	return "its 80 % upper value, if the host stays as quiet"
}

// addWhole adds the power of the campaign: the metrics of all its comparisons, moving
// together as their residuals did.
func (p *PowerPlan) addWhole(t *view.PowerTable, list []*view.Comparison) {
	var all []view.Placed
	for _, c := range list {
		all = append(all, c.Primaries()...)
	}
	j := rates.NewJoint(all, p.rule(), jointCampaigns)
	if j == nil {
		return
	}
	g := view.PowerGroup{Label: fmt.Sprintf("all %d metrics", len(j.Metrics)), MarginPct: 100 * p.Margin, Whole: true}
	assumed := p.effects(j.Metrics[0])
	for i, effect := range assumed {
		for _, spread := range []string{"observed", "upper"} {
			of := func(m view.Placed) (sd, theta, margin float64) {
				sd, theta, margin = m.Detail.SD, logEffect(p.effects(m)[i].fraction, m.Direction()), stat.Margin(p.Margin, m.Direction())
				if spread == "upper" {
					sd, _, _ = rates.AtUpper(m)
				}
				return sd, theta, margin
			}
			c := view.PowerCurve{Spread: spread, Effect: 100 * effect.fraction, Seen: effect.seen, Needed: j.Needed(of, p.Power, p.planner().size)}
			for _, n := range p.Blocks {
				c.Power = append(c.Power, j.Power(n, of))
			}
			g.Curves = append(g.Curves, c)
		}
	}
	t.Groups = append(t.Groups, g)
}

func (p *PowerPlan) rule() stat.Rule {
	return stat.Rule{Alpha: (1 - p.Confidence) / 2, ByOrder: p.byOrder}
}

func (p *PowerPlan) planner() planner { return planner{p.rule(), p.Power, p.Arms} }

// addPair adds the primary metrics of an A/A comparison. Its bias does not touch
// the spread.
func (p *PowerPlan) addPair(t *view.PowerTable, c *view.Comparison) error {
	for _, r := range append(slices.Clone(c.Failed), c.Invalid...) {
		if r.Name != view.ReasonBias {
			return fmt.Errorf("%w: %s", ErrUnusable, r)
		}
	}
	for _, m := range c.Primaries() {
		if m.Detail == nil {
			return fmt.Errorf("%w: %s%s", ErrUnusable, m, m.LastRemark())
		}
		g := view.PowerGroup{Phase: m.Phase, Name: m.Name, Label: m.Label, Better: m.Better, MarginPct: 100 * p.Margin}
		sd := m.Detail.SD
		for _, effect := range p.effects(m) {
			for _, s := range []view.PowerCurve{{SD: sd, Spread: "observed"}, {SD: max(sd, m.Detail.SDUpper), Spread: "upper"}} {
				s.Effect, s.Seen = 100*effect.fraction, effect.seen
				curve, err := p.curve(s, m.Direction())
				if err != nil {
					return fmt.Errorf("%s: %w", m, err)
				}
				g.Curves = append(g.Curves, curve)
			}
		}
		t.Groups = append(t.Groups, g)
	}
	return nil
}

// trueEffect is assumed, or the mean of an A/A.
type trueEffect struct {
	fraction float64
	seen     bool
}

func (p *PowerPlan) effects(m view.Placed) (list []trueEffect) {
	for _, f := range p.assumed() {
		list = append(list, trueEffect{f, false})
	}
	if p.Effects == nil {
		list = append(list, trueEffect{stat.Percent(m.Detail.Mean, m.Direction()) / 100, true})
	}
	return list
}

func (p *PowerPlan) assumed() []float64 {
	if p.Effects == nil {
		return []float64{0}
	}
	return p.Effects
}

// PowerAt computes the power for given standard deviations of d (natural
// logarithm, so 0.012 is about 1.2 %). SDFromCV makes one from the spread of
// single runs.
func PowerAt(sds []float64, plan PowerPlan, tool string) (*view.PowerTable, error) {
	plan.fill(&scenarios.Scenario{Arms: make([]scenarios.Arm, 2), Gate: scenarios.Gate{Margin: 0.03, Confidence: 0.95}})
	if plan.Metrics == 0 {
		plan.Metrics = givenMetrics
	}
	if err := plan.Check(); err != nil {
		return nil, err
	}
	t := plan.table(tool)
	for _, sd := range sds {
		for _, dir := range []stat.Direction{stat.LowerIsBetter, stat.HigherIsBetter} {
			g, err := plan.given(sd, dir)
			if err != nil {
				return nil, fmt.Errorf("spread %g %%: %w", 100*sd, err)
			}
			t.Groups = append(t.Groups, g)
		}
		if plan.Metrics == 1 {
			continue
		}
		t.Groups = append(t.Groups, plan.together(t.Groups[len(t.Groups)-2], 1), plan.together(t.Groups[len(t.Groups)-2], 0))
	}
	if plan.Metrics > 1 {
		t.Notes = append(t.Notes, plan.noteAll())
	}
	concludePower(t)
	return t, nil
}

func (p *PowerPlan) noteAll() string {
	return fmt.Sprintf("all: a campaign of %d metrics passes if all do; r = 1: they move as one, r = 0: they have nothing in common, "+
		"which decides. Real ones lie between: opbench power DIR", p.Metrics)
}

// together is the power that all metrics of a campaign pass, if they are times of one
// spread: with a correlation of 1 what one of them has, with 0 its product.
func (p *PowerPlan) together(one view.PowerGroup, correlation float64) view.PowerGroup {
	g := view.PowerGroup{Label: fmt.Sprintf("all %d, r = %g", p.Metrics, correlation), Better: one.Better, MarginPct: one.MarginPct, Whole: true, Correlation: &correlation}
	metrics := float64(p.Metrics)
	if correlation == 1 {
		metrics = 1
	}
	for _, c := range one.Curves {
		margin, theta := stat.Margin(p.Margin, stat.LowerIsBetter), logEffect(c.Effect/100, stat.LowerIsBetter)
		plan := p.planner()
		plan.power = math.Pow(p.Power, 1/metrics)
		c.Needed = plan.forGate(c.SD, margin, theta)
		power := c.Power
		c.Power = nil
		for _, x := range power {
			c.Power = append(c.Power, math.Pow(x, metrics))
		}
		g.Curves = append(g.Curves, c)
	}
	return g
}

func (p *PowerPlan) given(sd float64, dir stat.Direction) (view.PowerGroup, error) {
	g := view.PowerGroup{Label: "a time", Better: dir.String(), MarginPct: 100 * p.Margin}
	if dir == stat.HigherIsBetter {
		g.Label = "a throughput"
	}
	for _, f := range p.assumed() {
		curve, err := p.curve(view.PowerCurve{SD: sd, Spread: "given", Effect: 100 * f}, dir)
		if err != nil {
			return g, err
		}
		g.Curves = append(g.Curves, curve)
	}
	return g, nil
}

// SDFromCV returns the standard deviation of d if single runs of an arm have the
// coefficient of variation cv, a fraction, and the two runs of a block have
// nothing in common: √(2 ln(1+cv²)).
func SDFromCV(cv float64) float64 { return math.Sqrt(2 * math.Log1p(cv*cv)) }

func (p *PowerPlan) table(tool string) *view.PowerTable {
	return &view.PowerTable{
		Schema: results.Schema, Kind: "power", Tool: tool, ConfidencePct: 100 * p.Confidence, PowerPct: 100 * p.Power,
		Arms: p.Arms, Blocks: p.Blocks, Groups: []view.PowerGroup{}, Notes: []string{
			"this is how often the gate passes, by both of its bounds: Student's exactly, and what the bootstrap takes away in simulated campaigns (up to 0.4 points of standard error for one metric, one for a whole campaign of DIR)",
			fmt.Sprintf("needs: the blocks of a plan of %s with a power of %s %%, rounded up to a number that its order allows; one look, after the last block", view.Plural(p.Arms, "arm", "arms"), view.Plain(100*p.Power)),
		},
	}
}

// curve computes the power of one curve; its spread and effect are set.
func (p *PowerPlan) curve(c view.PowerCurve, dir stat.Direction) (view.PowerCurve, error) {
	margin, theta := stat.Margin(p.Margin, dir), logEffect(c.Effect/100, dir)
	c.Needed = p.planner().forGate(c.SD, margin, theta)
	for _, n := range p.Blocks {
		power, err := stat.GatePower(n, c.SD, margin, theta, p.rule())
		if err != nil {
			return c, err
		}
		c.Power = append(c.Power, power)
	}
	return c, nil
}

// logEffect puts an effect, a fraction of the baseline, on the scale of d.
func logEffect(fraction float64, dir stat.Direction) float64 {
	if dir == stat.HigherIsBetter {
		return -math.Log1p(-fraction)
	}
	return math.Log1p(fraction)
}

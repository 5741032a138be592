package report

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// Errors of a campaign that a question cannot be put to.
var (
	ErrNoEqualArms = errors.New("no equal arms")        // nothing to judge as an A/A
	ErrUnfinished  = errors.New("not finished")         // its effects are not shown before the end
	ErrUnusable    = errors.New("the data are INVALID") // something makes its numbers untrustworthy
	ErrUnlike      = errors.New("not comparable")       // two campaigns that measured different things
)

// Equality says whether the equal arms of a campaign were shown to be equal, and
// which metrics can carry the margin on its host. It is what opbench aa prints.
// Effects and bounds are percentages of the baseline, positive is worse.
type Equality struct {
	Schema int    `json:"schema"`
	Kind   string `json:"kind"` // "aa"
	Tool   string `json:"tool"`
	Rules  string `json:"rules"`
	// Result is EQUAL, INCONCLUSIVE(stalls), UNDERPOWERED, BIAS, INVALID(reason) or
	// UNFINISHED.
	Result   string `json:"result"`
	ExitCode int    `json:"exit_code"`
	Sentence string `json:"sentence"`

	Subject     Subject     `json:"subject"`
	Simulated   bool        `json:"simulated"`
	Blocks      Blocks      `json:"blocks"`
	Comparisons []EqualArms `json:"comparisons"`
	// Reach is absent where nothing was judged.
	Reach *Reach `json:"reach,omitempty"`
}

// EqualArms is one A/A comparison.
type EqualArms struct {
	Baseline  string        `json:"baseline"`
	Candidate string        `json:"candidate"`
	Result    string        `json:"result"`
	Reasons   []Reason      `json:"reasons,omitempty"` // of INVALID
	Stalls    string        `json:"stalls,omitempty"`  // set if one arm stalls more often
	Metrics   []EqualMetric `json:"metrics"`
}

// EqualMetric is the statement about one primary metric of a phase.
type EqualMetric struct {
	Phase     string   `json:"phase"`
	Load      string   `json:"load"`
	Name      string   `json:"name"`
	Label     string   `json:"label"`
	Result    string   `json:"result"` // EQUAL, UNDERPOWERED, BIAS, INVALID(reason)
	Why       string   `json:"why,omitempty"`
	Effect    *float64 `json:"effect_pct,omitempty"`
	Lower     *float64 `json:"lower_pct,omitempty"`
	Upper     *float64 `json:"upper_pct,omitempty"`
	MarginPct float64  `json:"margin_pct"`
	SD        float64  `json:"sd_log,omitempty"`          // of d, natural logarithm
	AdjustedP *float64 `json:"bias_p_holm,omitempty"`     // of no difference
	AA        *Need    `json:"blocks_for_aa,omitempty"`   // to show equality
	Gate      *Need    `json:"blocks_for_gate,omitempty"` // to pass a gate
	Noise     string   `json:"noise,omitempty"`           // where the spread comes from
}

// Need is the number of blocks for 90 % power if the true effect is 0, at the
// observed spread and at its 80 % upper value. Zero: no number of blocks is
// enough.
type Need struct {
	Observed int `json:"at_observed_spread"`
	Upper    int `json:"at_upper_spread"`
}

// JudgeAA judges the A/A evidence in a campaign: the arms of a campaign of
// purpose aa, or the arm of another one that repeats an arm (same_as). It returns
// ErrNoEqualArms if the campaign has none. An unfinished campaign has no effects
// and the result UNFINISHED.
func JudgeAA(c *results.Campaign, tool string) (*Equality, error) {
	v, list, err := equalComparisons(c, tool)
	if err != nil {
		return nil, err
	}
	e := &Equality{
		Schema: results.Schema, Kind: "aa", Tool: tool, Rules: v.Rules, Subject: v.Subject,
		Simulated: v.Simulated, Blocks: v.Blocks, Comparisons: []EqualArms{},
	}
	if !v.Finished {
		e.Result, e.ExitCode, e.Sentence = v.Result, v.ExitCode, v.Sentence
		return e, nil
	}
	p, err := newPlanner(&c.Plan.Scenario)
	if err != nil {
		return nil, err
	}
	for _, pair := range list {
		e.Comparisons = append(e.Comparisons, p.equalArms(pair))
	}
	e.Reach = newReach(e.Comparisons, v.Subject.MarginPct)
	e.conclude()
	return e, nil
}

// equalComparisons judges a campaign and picks the comparisons of equal arms.
func equalComparisons(c *results.Campaign, tool string) (*View, []*Comparison, error) {
	s := &c.Plan.Scenario
	name := campaignName(c.Dir)
	if s.Purpose == scenarios.Correctness {
		return nil, nil, fmt.Errorf("%s: %w to judge: a correctness campaign has no effects", name, ErrNoEqualArms)
	}
	v, err := Build(c, tool)
	if err != nil {
		return nil, nil, err
	}
	var list []*Comparison
	for i := range v.Comparisons {
		if v.Comparisons[i].AA {
			list = append(list, &v.Comparisons[i])
		}
	}
	if list == nil {
		return nil, nil, fmt.Errorf("%s: %w to judge: run a scenario of purpose aa, or one with an arm that repeats another one (same_as) and is compared with it",
			name, ErrNoEqualArms)
	}
	return v, list, nil
}

// planner turns spreads into numbers of blocks.
type planner struct {
	alpha float64 // one-sided error of each bound
	power float64 // wanted
	arms  int     // of the plan that is sized
}

func newPlanner(s *scenarios.Scenario) (planner, error) {
	alpha, err := errorPerBound(s)
	return planner{alpha, targetPower, len(s.Arms)}, err
}

func (p planner) equalArms(c *Comparison) EqualArms {
	out := EqualArms{Baseline: c.Baseline, Candidate: c.Candidate, Reasons: slices.Clone(c.Failed), Metrics: []EqualMetric{}}
	for _, r := range c.Invalid {
		if r.Name != "bias" { // judged here, metric by metric
			out.Reasons = append(out.Reasons, r)
		}
	}
	if c.conditions.Stalls {
		out.Stalls = stallLine(c)
	}
	adjusted := biasP(c)
	for i, ph := range c.primaries() {
		m := p.equalMetric(ph, adjusted[i])
		m.Load = c.load(ph.phase)
		if len(out.Reasons) > 0 {
			m.Result, m.Why, m.AA, m.Gate = "INVALID("+out.Reasons[0].Name+")", "", nil, nil
		}
		out.Metrics = append(out.Metrics, m)
	}
	out.conclude()
	return out
}

// biasP are the p values of no difference, by Holm over all primary metrics.
func biasP(c *Comparison) []float64 {
	var p []float64
	for _, m := range c.primaries() {
		p = append(p, m.estimate.P)
	}
	return stat.Holm(p)
}

func (c *Comparison) load(phase string) string {
	for _, p := range c.Phases {
		if p.Name == phase {
			return p.Load
		}
	}
	return ""
}

func (p planner) equalMetric(m primary, adjusted float64) EqualMetric {
	out := EqualMetric{
		Phase: m.phase, Name: m.Name, Label: m.Label, MarginPct: m.MarginPct,
		Effect: m.Effect, Lower: m.Lower, Upper: m.Upper,
	}
	if m.Detail == nil { // a value is missing, or all are the same
		out.Result, out.Why = m.Result, strings.TrimPrefix(lastRemark(m.Metric), ": ")
		return out
	}
	out.SD, out.AdjustedP = m.estimate.SD, ptr(adjusted)
	out.Result = equalResult(m, adjusted)
	upper := m.estimate.SD * stat.SDUpperFactor(m.estimate.N)
	out.AA = &Need{p.forAA(m.estimate.SD, m.margin, 0), p.forAA(upper, m.margin, 0)}
	out.Gate = &Need{p.forGate(m.estimate.SD, m.margin, 0), p.forGate(upper, m.margin, 0)}
	if m.Advice != nil {
		out.Noise = m.Advice.Noise
	}
	return out
}

func equalResult(m primary, adjusted float64) string {
	switch {
	case stat.Biased(m.estimate, adjusted, m.margin):
		return resultBias
	case stat.Equivalent(m.estimate, m.margin):
		return resultEqual
	}
	return resultUnderpowered
}

// forGate is the number of blocks with which a gate passes, 0 if none is enough.
func (p planner) forGate(sd, margin, theta float64) int {
	n, err := stat.BlocksNeeded(sd, margin, theta, p.alpha, p.power)
	if err != nil {
		return 0
	}
	return planSize(n, p.arms)
}

// forAA is the number of blocks with which an A/A shows equality, or 0.
func (p planner) forAA(sd, margin, theta float64) int {
	n, err := stat.EqualBlocksNeeded(sd, margin, theta, p.alpha, p.power)
	if err != nil {
		return 0
	}
	return planSize(n, p.arms)
}

// planSize rounds a number of blocks up to one that a plan can have: even, with
// three or four arms a multiple of the rows of its order.
func planSize(n, arms int) int {
	rows := scenarios.RowsOf(arms)
	n = max(n, stat.MinBlocks)
	return (n + rows - 1) / rows * rows
}

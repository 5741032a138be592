package judge

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/judge/evidence"
	"github.com/aituner/opprof/report/judge/rates"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/scenarios"
)

// metric analyses one number of a phase over the accepted blocks. ok is false if
// a run lacks it, which for a primary metric is INVALID.
func (q *question) metric(in *accept.Accepted, c *view.Comparison, p scenarios.Phase, m scenarios.Metric, primary bool) (out view.Metric, ok bool) {
	phase := p.Name
	margin, dir := in.Scenario.Gate.Margin, view.DirectionOf(m)
	out = view.Metric{Name: m.Name, Label: m.Label, Unit: m.Unit, Better: dir.String(), Primary: primary, MarginPct: 100 * margin}
	x := &measured{Metric: &out, margin: stat.Margin(margin, dir), dir: dir}
	missing := x.pair(in, c, phase)
	if missing == nil && len(x.d) == 0 {
		missing = errors.New("no valid block")
	}
	if missing != nil {
		x.decide(view.ReasonValueMissing, missing)
		return out, !primary && x.undefined(in, c, phase, missing)
	}
	out.Baseline, out.Candidate = geometricMeans(out.Pairs)
	opt := q.options(in, c)
	var err error
	x.estimate, err = stat.Analyze(x.d, opt)
	out.Effect = view.Finite(x.percent(x.estimate.Mean))
	switch {
	case errors.Is(err, stat.ErrZeroVariance):
		x.decide(view.ReasonZeroVariance, err)
	case err != nil:
		x.decide(view.ReasonNotAnalysable, err)
	default:
		x.bounds()
		perHost(in, c, phase, x)
		x.decide(view.ReasonTooFewBlocks, nil)
		q.diagnose(in, c, phase, x, opt)
		q.putBack(in, c, p, x, opt)
	}
	return out, true
}

// undefined keeps what was measured of a metric without an effect, and reports
// whether anything was.
func (m *measured) undefined(in *accept.Accepted, c *view.Comparison, phase string, why error) bool {
	m.Pairs, m.Remarks, m.Undefined = nil, nil, why.Error()
	m.Baseline, m.Candidate = plainMean(in, c.Baseline, phase, m.Name), plainMean(in, c.Candidate, phase, m.Name)
	return m.Baseline != nil || m.Candidate != nil
}

// plainMean is that over the runs of an arm which have the metric, nil if none has.
func plainMean(in *accept.Accepted, arm, phase, name string) *float64 {
	var values []float64
	for i := range in.Blocks {
		if v, has := in.Blocks[i].Runs[arm].Values[phase][name]; has {
			values = append(values, v)
		}
	}
	if values == nil {
		return nil
	}
	return view.Finite(floats.Sum(values) / float64(len(values)))
}

// pair fills in the two runs of every block, or says which value is missing.
func (m *measured) pair(in *accept.Accepted, c *view.Comparison, phase string) error {
	for i := range in.Blocks {
		k := &in.Blocks[i]
		base, has := k.Runs[c.Baseline].Values[phase][m.Name]
		cand, also := k.Runs[c.Candidate].Values[phase][m.Name]
		if !has || !also {
			return fmt.Errorf("block %s has no %s in phase %s", k.Plan.Name(), m.Name, phase)
		}
		d, err := stat.LogRatio(base, cand, m.dir)
		if err != nil {
			return fmt.Errorf("block %s: %w", k.Plan.Name(), err)
		}
		m.d = append(m.d, d)
		m.Pairs = append(m.Pairs, view.Pair{
			Block: k.Plan.Name(), BaselineFirst: k.BaselineFirst(c),
			Baseline: base, Candidate: cand, Effect: m.percent(d),
		})
	}
	return nil
}

func geometricMeans(pairs []view.Pair) (baseline, candidate *float64) {
	var base, cand float64
	for _, p := range pairs {
		base += math.Log(p.Baseline)
		cand += math.Log(p.Candidate)
	}
	n := float64(len(pairs))
	return view.Finite(math.Exp(base / n)), view.Finite(math.Exp(cand / n))
}

// options are those of the plan; blocks of several hosts are pooled within them.
func (q *question) options(in *accept.Accepted, c *view.Comparison) stat.Options {
	opt := stat.Options{Alpha: q.alpha, Seed: seedOf(q.campaign.Plan.Hash)}
	if hosts := hosts(in); len(slices.Compact(slices.Sorted(slices.Values(hosts)))) > 1 {
		opt.Host = hosts
	}
	if in.Scenario.Design.AdjustOrder {
		opt.Order = baselineFirst(in, c)
	}
	return opt
}

// decide sets the verdict of a primary metric; why names what makes it INVALID.
func (m *measured) decide(why view.Reason, err error) {
	if err != nil {
		m.Remarks = append(m.Remarks, string(why)+": "+err.Error())
	}
	if !m.Primary {
		return
	}
	verdict := stat.Invalid
	if err == nil {
		verdict = stat.Judge(m.estimate, m.margin)
	}
	if verdict != stat.Invalid {
		why = ""
	}
	m.Result = view.NewResult(verdict, why)
}

// bounds turns the estimate into percentages.
func (m *measured) bounds() {
	e := m.estimate
	m.Lower, m.Upper = view.Finite(m.percent(e.L)), view.Finite(m.percent(e.U))
	m.Detail = &view.Detail{
		N: e.N, SD: e.SD, Mean: e.Mean, L: finite(e.L), U: finite(e.U), Margin: m.margin, P: e.P,
		T: *m.interval(e.T), OneSided95: m.percent(e.OneSided95),
	}
	if e.HasBootT {
		m.Detail.BootT = m.interval(e.BootT)
	}
	if e.Percentile != (stat.Interval{}) {
		m.Detail.Percentile, m.Detail.BCa = m.interval(e.Percentile), m.interval(e.BCa)
	}
	if e.TieWarning {
		m.Remarks = append(m.Remarks, fmt.Sprintf("%d of %d effects are tied: the clock may be too coarse", e.Tied, e.N))
	}
	if math.IsInf(e.U, 1) || math.IsInf(e.L, -1) {
		m.Remarks = append(m.Remarks, "too many effects are equal for a bound: most resamples of them have no spread")
	}
}

// diagnose adds what never changes the verdict.
func (q *question) diagnose(in *accept.Accepted, c *view.Comparison, phase string, m *measured, opt stat.Options) {
	if !m.Primary {
		return
	}
	if m.Verdict == stat.Fail {
		if p, err := stat.PAbove(m.d, m.margin, opt); err == nil {
			m.Detail.PAbove = &p
		}
	}
	if rates.Gains(m.estimate, m.margin) {
		if p, err := stat.PBelow(m.d, 0, opt); err == nil {
			m.Detail.PBelow = &p
		}
	}
	earlier := q.near.Spreads[evidence.SpreadOf{Phase: phase, Load: loadOf(in, phase), Metric: m.Name}]
	m.Detail.SDUpper, m.Detail.SDCampaigns = stat.SpreadUpper(m.estimate.SD, m.estimate.N, earlier), 1+len(earlier)
	rates.Show(m.Metric, m.d, opt.Order != nil || opt.Host != nil, opt.Seed)
	if m.Verdict == stat.Inconclusive {
		m.Advice = q.advice(m)
	}
	if hanging, err := stat.Fragile(m.d, m.margin, opt); err == nil && len(hanging) > 0 {
		m.Remarks = append(m.Remarks, "FRAGILE: no PASS without block "+in.Names(hanging))
	}
	if far, err := stat.Outliers(m.d); err == nil && len(far) > 0 {
		m.Remarks = append(m.Remarks, "more than 5 MAD from the median, kept: block "+in.Names(far))
	}
	if r := m.Detail.Lag1; r != nil && math.Abs(*r) > 2/math.Sqrt(float64(len(m.d))) {
		m.Remarks = append(m.Remarks, fmt.Sprintf("neighbouring blocks are correlated: lag-1 %+.2f", *r))
	}
	if m.equal(in, c) {
		q.equivalence(m)
	}
	if m.Advice != nil {
		m.Advice.Noise = noise(in, c, phase, m)
	}
}

// notEqual is said of equal arms that were not shown to be equal.
const notEqual = "UNDERPOWERED"

// equivalence states whether equal arms were shown to be equal. In an A/A
// comparison nothing less is a PASS, and nothing is a FAIL: arms that are equal
// can't cost anything, that they differ is bias.
func (q *question) equivalence(m *measured) {
	if stat.Equivalent(m.estimate, m.margin) {
		m.Equivalence = "equal within " + view.Plain(m.MarginPct) + " %"
		return
	}
	m.Equivalence = notEqual
	m.Advice = q.advice(m)
	if m.Verdict == stat.Pass || m.Verdict == stat.Fail {
		m.Result = view.NewResult(stat.Inconclusive, "")
	}
}

func (q *question) advice(m *measured) *view.Advice {
	upper := m.Detail.SDUpper
	return &view.Advice{
		Supports:        m.percent(stat.TightestMargin(m.estimate)),
		IfZero:          q.blocksFor(m, m.estimate.SD, 0),
		IfZeroUpper:     q.blocksFor(m, upper, 0),
		IfObserved:      q.blocksFor(m, m.estimate.SD, m.estimate.Mean),
		IfObservedUpper: q.blocksFor(m, upper, m.estimate.Mean),
	}
}

// blocksFor is the number of blocks of a new plan, or 0 if none is enough.
func (q *question) blocksFor(m *measured, sd, theta float64) int {
	n, err := stat.GateBlocksNeeded(sd, m.margin, theta, q.rule(), rates.TargetPower, q.planSize)
	if err != nil {
		return 0
	}
	return n
}

// rule is how the gate of this campaign bounds an effect.
func (q *question) rule() stat.Rule {
	return stat.Rule{Alpha: q.alpha, ByOrder: q.campaign.Plan.Scenario.Design.AdjustOrder}
}

func (q *question) planSize(n int) int { return PlanSize(n, len(q.campaign.Plan.Scenario.Arms)) }

// PlanSize rounds a number of blocks up to one that a plan can have: even, with
// three or four arms a multiple of the rows of its order.
func PlanSize(n, arms int) int {
	rows := scenarios.RowsOf(arms)
	n = max(n, stat.MinBlocks)
	return (n + rows - 1) / rows * rows
}

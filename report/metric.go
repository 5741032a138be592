package report

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/scenarios"
)

// metric analyses one number of a phase over the accepted blocks. ok is false if
// a run lacks it, which for a primary metric is INVALID.
func (b *builder) metric(c *Comparison, phase string, m scenarios.Metric, primary bool) (out Metric, ok bool) {
	dir := direction(m)
	out = Metric{
		Name: m.Name, Label: m.Label, Unit: m.Unit, Better: dir.String(), Primary: primary,
		MarginPct: 100 * b.s.Gate.Margin, margin: stat.Margin(b.s.Gate.Margin, dir), dir: dir,
	}
	missing := b.pairs(c, phase, &out)
	if missing == nil && len(out.d) == 0 {
		missing = errors.New("no valid block")
	}
	if missing != nil {
		out.decide("value missing", missing)
		return out, false
	}
	out.Baseline, out.Candidate = geometricMeans(out.Pairs)
	opt := b.options(c)
	e, err := stat.Analyze(out.d, opt)
	out.estimate = e
	out.Effect = ptr(out.percent(e.Mean))
	switch {
	case errors.Is(err, stat.ErrZeroVariance):
		out.decide("zero variance", err)
	case err != nil:
		out.decide("not analysable", err)
	default:
		out.bounds()
		b.perHost(c, phase, &out, e)
		out.decide("too few blocks", nil)
		b.diagnose(c, &out, opt)
		if out.Advice != nil {
			out.Advice.Noise = b.noise(c, phase, &out)
		}
	}
	return out, true
}

func direction(m scenarios.Metric) stat.Direction {
	if m.HigherIsBetter() {
		return stat.HigherIsBetter
	}
	return stat.LowerIsBetter
}

// pairs fills in the two runs of every block, or says which value is missing.
func (b *builder) pairs(c *Comparison, phase string, out *Metric) error {
	for i := range b.blocks {
		k := &b.blocks[i]
		base, has := k.runs[c.Baseline].values[phase][out.Name]
		cand, also := k.runs[c.Candidate].values[phase][out.Name]
		if !has || !also {
			return fmt.Errorf("block %s has no %s in phase %s", k.plan.Name(), out.Name, phase)
		}
		d, err := stat.LogRatio(base, cand, out.dir)
		if err != nil {
			return fmt.Errorf("block %s: %w", k.plan.Name(), err)
		}
		out.d = append(out.d, d)
		out.Pairs = append(out.Pairs, Pair{
			Block: k.plan.Name(), BaselineFirst: k.baselineFirst(c),
			Baseline: base, Candidate: cand, Effect: out.percent(d),
		})
	}
	return nil
}

func geometricMeans(pairs []Pair) (baseline, candidate *float64) {
	var base, cand float64
	for _, p := range pairs {
		base += math.Log(p.Baseline)
		cand += math.Log(p.Candidate)
	}
	n := float64(len(pairs))
	return ptr(math.Exp(base / n)), ptr(math.Exp(cand / n))
}

// options are those of the plan; blocks of several hosts are pooled within them.
func (b *builder) options(c *Comparison) stat.Options {
	opt := stat.Options{Alpha: b.alpha, Seed: seedOf(b.c.Plan.Hash)}
	if hosts := b.hosts(); len(distinct(hosts)) > 1 {
		opt.Host = hosts
	}
	if b.s.Design.AdjustOrder {
		for i := range b.blocks {
			opt.Order = append(opt.Order, b.blocks[i].baselineFirst(c))
		}
	}
	return opt
}

// seedOf makes the seed of the Monte Carlo bootstrap from the plan hash.
func seedOf(planHash string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(planHash))
	return h.Sum64()
}

// decide sets the verdict of a primary metric; why names what makes it INVALID.
func (m *Metric) decide(why string, err error) {
	if err != nil {
		m.Remarks = append(m.Remarks, why+": "+err.Error())
	}
	if !m.Primary {
		return
	}
	m.Verdict = stat.Invalid
	if err == nil {
		m.Verdict = stat.Judge(m.estimate, m.margin)
	}
	m.Result = string(m.Verdict)
	if m.Verdict == stat.Invalid {
		m.Result = "INVALID(" + why + ")"
	}
}

// bounds turns the estimate into percentages.
func (m *Metric) bounds() {
	e := m.estimate
	m.Lower, m.Upper = ptr(m.percent(e.L)), ptr(m.percent(e.U))
	m.Detail = &Detail{N: e.N, SD: e.SD, T: *m.interval(e.T), OneSided95: m.percent(e.OneSided95)}
	if e.HasBootT {
		m.Detail.BootT = m.interval(e.BootT)
	}
	if e.Percentile != (stat.Interval{}) {
		m.Detail.Percentile, m.Detail.BCa = m.interval(e.Percentile), m.interval(e.BCa)
	}
	if e.TieWarning {
		m.Remarks = append(m.Remarks, fmt.Sprintf("%d of %d effects are tied: the clock may be too coarse", e.Tied, e.N))
	}
}

// mostPercent bounds percentages: beyond it only the sign means anything, and
// JSON has no infinity.
const mostPercent = 1e9

func (m *Metric) percent(d float64) float64 {
	return max(-mostPercent, min(mostPercent, stat.Percent(d, m.dir)))
}

func (m *Metric) interval(i stat.Interval) *[2]float64 {
	return &[2]float64{m.percent(i.Lo), m.percent(i.Hi)}
}

// diagnose adds what never changes the verdict.
func (b *builder) diagnose(c *Comparison, m *Metric, opt stat.Options) {
	if !m.Primary {
		return
	}
	if m.Verdict == stat.Inconclusive {
		m.Advice = b.advice(m)
	}
	if hanging, err := stat.Fragile(m.d, m.margin, opt); err == nil && len(hanging) > 0 {
		m.Remarks = append(m.Remarks, "FRAGILE: no PASS without block "+b.names(hanging))
	}
	if far, err := stat.Outliers(m.d); err == nil && len(far) > 0 {
		m.Remarks = append(m.Remarks, "more than 5 MAD from the median, kept: block "+b.names(far))
	}
	if r, err := stat.Lag1(m.d); err == nil && math.Abs(r) > 2/math.Sqrt(float64(len(m.d))) {
		m.Remarks = append(m.Remarks, fmt.Sprintf("neighbouring blocks are correlated: lag-1 %+.2f", r))
	}
	if b.s.Purpose == scenarios.AA || c.AA {
		b.equivalence(m)
	}
}

// equivalence states whether equal arms were shown to be equal. In an A/A
// comparison nothing less is a PASS, and nothing is a FAIL: arms that are equal
// can't cost anything, that they differ is bias.
func (b *builder) equivalence(m *Metric) {
	if stat.Equivalent(m.estimate, m.margin) {
		m.Equivalence = "equal within " + plainNumber(m.MarginPct) + " %"
		return
	}
	m.Equivalence = "UNDERPOWERED"
	m.Advice = b.advice(m)
	if m.Verdict == stat.Pass || m.Verdict == stat.Fail {
		m.Verdict, m.Result = stat.Inconclusive, string(stat.Inconclusive)
	}
}

// targetPower is the chance with which a plan should pass.
const targetPower = 0.90

func (b *builder) advice(m *Metric) *Advice {
	upper := m.estimate.SD * stat.SDUpperFactor(m.estimate.N)
	return &Advice{
		Supports:        m.percent(stat.TightestMargin(m.estimate)),
		IfZero:          b.blocksFor(m, m.estimate.SD, 0),
		IfZeroUpper:     b.blocksFor(m, upper, 0),
		IfObserved:      b.blocksFor(m, m.estimate.SD, m.estimate.Mean),
		IfObservedUpper: b.blocksFor(m, upper, m.estimate.Mean),
	}
}

// blocksFor is the number of blocks of a new plan, or 0 if none is enough.
func (b *builder) blocksFor(m *Metric, sd, theta float64) int {
	n, err := stat.BlocksNeeded(sd, m.margin, theta, b.alpha, targetPower)
	if err != nil {
		return 0
	}
	return planSize(n, len(b.s.Arms))
}

func (b *builder) names(index []int) string {
	names := ""
	for i, k := range index {
		if i > 0 {
			names += ", "
		}
		names += b.blocks[k].plan.Name()
	}
	return names
}

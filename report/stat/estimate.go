package stat

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// DefaultAlpha is the one-sided error of each bound: "95 % interval" read
// literally, two-sided.
const DefaultAlpha = 0.025

// Smallest groups that the bootstrap resamples when blocks are grouped.
const (
	leastHostBlocks  = 6
	leastOrderBlocks = 4
)

// strictT is the share of the error that the t bound takes where there is no
// bootstrap beside it to guard against skew: one-sided 99 % in place of 97.5 %.
const strictT = 0.4

// Options says how a set of effects is analysed. At most one of Order and Host
// may be set; both nil is the plain paired analysis.
type Options struct {
	Alpha float64  // one-sided error of each bound; 0 means DefaultAlpha
	Seed  uint64   // of the Monte Carlo bootstrap above twelve blocks
	Order []bool   // adjusts for order: per block, whether the baseline ran first
	Host  []string // pools within hosts: per block, the host it ran on
}

// Estimate is the analysis of one metric of one phase, on the scale of d.
type Estimate struct {
	N      int     // blocks
	Mean   float64 // the estimate θ̂
	SD     float64 // of d, pooled within groups if there are several
	SE, DF float64
	P      float64 // two-sided p value of Mean = 0

	U, L float64 // the bounds that decide
	T    Interval
	// BootT is used with T unless HasBootT is false: then no group was large
	// enough to resample and T has the stricter error of 0.4·Alpha instead.
	BootT    Interval
	HasBootT bool

	OneSided95 float64 // upper 95 % t bound, information only
	// Percentile and BCa undercover at these n and decide nothing; set only for
	// the plain analysis.
	Percentile, BCa Interval

	ZeroVariance bool // INVALID; the intervals are empty
	Tied         int  // blocks whose d equals that of another one
	TieWarning   bool // more than a third are tied: the clock may be too coarse

	Hosts []HostEffect // with Options.Host
	Q, QP float64      // Cochran's Q over the hosts (pooled variance) and its p value
}

// HostEffect is the effect on one host.
type HostEffect struct {
	Host string
	N    int
	Mean float64
}

// Analyze estimates the mean effect of d, one value per block, with its
// intervals. U is the larger of the two upper bounds and L the smaller of the two
// lower ones. If all values are equal it returns ErrZeroVariance and an Estimate
// that Judge calls INVALID.
func Analyze(d []float64, opt Options) (Estimate, error) {
	p, least, err := prepare(d, &opt)
	if err != nil {
		return Estimate{}, err
	}
	e, all := bounds(p, least, opt)
	if e.ZeroVariance {
		return e, fmt.Errorf("analyze %d blocks: %w", e.N, ErrZeroVariance)
	}
	e.OneSided95 = p.mean + float64(tQuantile(0.05, p.df)*p.se)
	if opt.Order == nil && opt.Host == nil {
		means := shifts(all)
		e.Percentile = p.percentile(means, opt.Alpha, 1-opt.Alpha)
		e.BCa = p.bca(means, opt.Alpha)
	}
	if opt.Host != nil {
		e.hosts(p, opt.Host)
	}
	return e, nil
}

// prepare checks the input and forms the groups; least is the size from which a
// group is resampled.
func prepare(d []float64, opt *Options) (p pooled, least int, err error) {
	if opt.Alpha == 0 {
		opt.Alpha = DefaultAlpha
	}
	if err := checkSample("analyze", d, 2); err != nil {
		return p, 0, err
	}
	if err := checkAlpha("analyze", opt.Alpha); err != nil {
		return p, 0, err
	}
	var groups []group
	switch {
	case opt.Order != nil && opt.Host != nil:
		return p, 0, fmt.Errorf("analyze: order adjustment and host groups can't be combined")
	case opt.Order != nil:
		groups, err = orderGroups(d, opt.Order)
		least = leastOrderBlocks
	case opt.Host != nil:
		groups, err = hostGroups(d, opt.Host)
		least = leastHostBlocks
	default:
		groups = []group{newGroup(d, 1)}
	}
	if err != nil {
		return p, 0, err
	}
	p = pool(groups)
	if p.df < 1 {
		return p, 0, fmt.Errorf("analyze: %d blocks in %d groups leave no degree of freedom: add blocks", p.n, len(groups))
	}
	return p, least, nil
}

// bounds computes what the verdict needs and returns the resamples for reuse.
func bounds(p pooled, least int, opt Options) (Estimate, []resample) {
	return boundsFrom(p, least, opt.Alpha, func(g []group) []resample { return resamples(g, opt.Seed) })
}

// boundsFrom leaves it to the caller how groups are resampled.
func boundsFrom(p pooled, least int, alpha float64, resample func([]group) []resample) (Estimate, []resample) {
	e := Estimate{N: p.n, Mean: p.mean, SD: p.sd, SE: p.se, DF: p.df}
	for _, g := range p.groups {
		e.Tied += g.tied()
	}
	large := p.atLeast(least)
	e.TieWarning = 3*e.Tied > e.N
	if p.sd == 0 {
		e.ZeroVariance = true
		return e, nil
	}
	e.P = p.pValue()
	if len(large) == 0 || pool(large).sd == 0 {
		e.T = p.tInterval(strictT * alpha)
		e.L, e.U = e.T.Lo, e.T.Hi
		return e, nil
	}
	all := resample(large)
	e.HasBootT = true
	e.T = p.tInterval(alpha)
	e.BootT = p.bootT(all, large, alpha)
	e.L, e.U = min(e.T.Lo, e.BootT.Lo), max(e.T.Hi, e.BootT.Hi)
	return e, all
}

// atLeast are the groups that are large enough to be resampled.
func (p pooled) atLeast(blocks int) (large []group) {
	for _, g := range p.groups {
		if len(g.values) >= blocks {
			large = append(large, g)
		}
	}
	return large
}

// orderGroups splits the blocks by which arm ran first; both orders weigh the
// same.
func orderGroups(d []float64, baselineFirst []bool) ([]group, error) {
	ab, ba, err := splitByOrder(d, baselineFirst)
	if err != nil {
		return nil, err
	}
	return []group{newGroup(ab, 0.5), newGroup(ba, 0.5)}, nil
}

// hostGroups splits the blocks by host, in the order of host names; a host weighs
// as its blocks do.
func hostGroups(d []float64, host []string) ([]group, error) {
	if len(host) != len(d) {
		return nil, fmt.Errorf("analyze: %d hosts for %d blocks", len(host), len(d))
	}
	byHost := map[string][]float64{}
	for i, h := range host {
		byHost[h] = append(byHost[h], d[i])
	}
	var groups []group
	for _, h := range distinct(host) {
		share := float64(len(byHost[h])) / float64(len(d))
		groups = append(groups, newGroup(byHost[h], share))
	}
	return groups, nil
}

func distinct(names []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

// hosts adds the effect on each host and Cochran's Q, which asks whether they
// differ by more than their noise.
func (e *Estimate) hosts(p pooled, host []string) {
	e.QP = 1
	for i, name := range distinct(host) {
		g := p.groups[i]
		e.Hosts = append(e.Hosts, HostEffect{Host: name, N: len(g.values), Mean: g.mean})
		z := (g.mean - p.mean) / p.sd
		e.Q += float64(float64(len(g.values)) * float64(z*z))
	}
	if len(p.groups) > 1 {
		e.QP = twelveDigits(distuv.ChiSquared{K: float64(len(p.groups) - 1)}.Survival(e.Q))
	}
}

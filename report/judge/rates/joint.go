package rates

import (
	"slices"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
)

// TargetPower is the chance with which a plan should pass.
const TargetPower = 0.90

// Joint plans a campaign from one that was measured: its metrics have the spreads that
// they had, and move together as they did.
type Joint struct {
	Metrics   []view.Placed
	rule      stat.Rule
	campaigns int
	residuals [][]float64
	forecasts map[int]*stat.Forecast
}

// NewJoint takes the metrics that have an interval and all their pairs; nil if there
// are none. campaigns are simulated for each number of blocks.
func NewJoint(list []view.Placed, rule stat.Rule, campaigns int) *Joint {
	j := &Joint{rule: rule, campaigns: campaigns, forecasts: map[int]*stat.Forecast{}}
	for _, p := range list {
		if p.Detail == nil || !(p.Detail.SD > 0) || len(j.Metrics) > 0 && len(p.Pairs) != len(j.Metrics[0].Pairs) {
			continue
		}
		if d := p.Effects(); len(d) == len(p.Pairs) && len(d) > 2 {
			j.Metrics = append(j.Metrics, p)
			j.residuals = append(j.residuals, residuals(d, p.Pairs, rule.ByOrder))
		}
	}
	if j.Metrics == nil {
		return nil
	}
	return j
}

// residuals are the effects less their mean, or less that of their order.
func residuals(d []float64, pairs []view.Pair, byOrder bool) []float64 {
	mean := func(first bool) (sum float64) {
		n := 0.0
		for i, x := range d {
			if !byOrder || pairs[i].BaselineFirst == first {
				sum, n = sum+x, n+1
			}
		}
		return sum / n
	}
	out := slices.Clone(d)
	for i := range out {
		out[i] -= mean(pairs[i].BaselineFirst)
	}
	return out
}

// Of is what a plan assumes of a metric: the standard deviation and the true mean of
// its effects, on the scale of d, and the margin that it has to stay below.
type Of func(view.Placed) (sd, theta, margin float64)

// AsSeen assumes no true effect and the spread that was seen.
func AsSeen(p view.Placed) (sd, theta, margin float64) {
	return p.Detail.SD, 0, p.Detail.Margin
}

// AtUpper assumes no true effect and the spread that a plan should reckon with.
func AtUpper(p view.Placed) (sd, theta, margin float64) {
	return max(p.Detail.SD, p.Detail.SDUpper), 0, p.Detail.Margin
}

// Power is the chance that a campaign of n blocks passes on every metric. It is no
// larger than that of any single metric under normal noise.
func (j *Joint) Power(n int, of Of) float64 {
	limits, most := make([]float64, len(j.Metrics)), 1.0
	for k, p := range j.Metrics {
		sd, theta, margin := of(p)
		limits[k] = (margin - theta) / sd
		if one, err := stat.GatePower(n, sd, margin, theta, j.rule); err != nil || one < most {
			most = one
		}
	}
	if n > stat.MostForecast || most == 0 {
		return most
	}
	f := j.forecasts[n]
	if f == nil {
		f = stat.NewForecast(n, len(j.Metrics), j.campaigns, j.rule, stat.Residuals(j.residuals))
		j.forecasts[n] = f
	}
	return min(most, f.Pass(limits))
}

// Needed is the smallest plan that passes with the wanted power, 0 if none does. size
// rounds a number of blocks up to one that a plan can have.
func (j *Joint) Needed(of Of, wanted float64, size func(int) int) int {
	n := size(stat.MinBlocks)
	for _, p := range j.Metrics {
		sd, theta, margin := of(p)
		one, err := stat.GateBlocksNeeded(sd, margin, theta, j.rule, wanted, size)
		if err != nil {
			return 0
		}
		n = max(n, one)
	}
	for n <= stat.MostForecast && j.Power(n, of) < wanted {
		n = size(n + 1)
	}
	return n
}

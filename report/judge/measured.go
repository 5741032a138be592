package judge

import (
	"hash/fnv"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
)

// measured is a metric while it is analysed, with what is on the scale of d.
type measured struct {
	*view.Metric
	estimate stat.Estimate
	margin   float64
	d        []float64
	dir      stat.Direction
}

// seedOf makes the seed of the Monte Carlo bootstrap from the plan hash.
func seedOf(planHash string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(planHash))
	return h.Sum64()
}

// mostPercent bounds percentages: beyond it only the sign means anything, and
// JSON has no infinity.
const mostPercent = view.Boundless

// EffectPct is an effect on the scale of d in percent, bounded.
func EffectPct(d float64, dir stat.Direction) float64 {
	return max(-mostPercent, min(mostPercent, stat.Percent(d, dir)))
}

// finite bounds what JSON has no word for.
func finite(d float64) float64 { return max(-mostPercent, min(mostPercent, d)) }

func (m *measured) percent(d float64) float64 { return EffectPct(d, m.dir) }

func (m *measured) interval(i stat.Interval) *[2]float64 {
	return &[2]float64{m.percent(i.Lo), m.percent(i.Hi)}
}

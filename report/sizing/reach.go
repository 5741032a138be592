package sizing

import (
	"cmp"
	"slices"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
)

// newReach sorts the metrics that were judged. It is nil if there are none. Where
// several comparisons judge one metric, the noisiest counts.
func newReach(list []view.EqualArms, marginPct float64) *view.Reach {
	r := &view.Reach{Limit: view.PracticalBlocks, MarginPct: marginPct, Shown: []view.Carried{}, Within: []view.Carried{}, Beyond: []view.Carried{}}
	for _, x := range judged(list) {
		c := view.Carried{Phase: x.Phase, Name: x.Name, Label: x.Label, Blocks: x.Gate.Upper}
		if x.Verdict == view.Equal {
			r.Shown = append(r.Shown, c)
		}
		if c.Blocks == 0 || c.Blocks > r.Limit {
			r.Beyond = append(r.Beyond, c)
			continue
		}
		r.Within = append(r.Within, c)
	}
	if len(r.Within)+len(r.Beyond) == 0 {
		return nil
	}
	fewest := func(x, y view.Carried) int { return cmp.Compare(x.Blocks, y.Blocks) }
	slices.SortStableFunc(r.Within, fewest)
	return r
}

// judged are the metrics with a statement, each once.
func judged(list []view.EqualArms) (out []view.EqualMetric) {
	for _, c := range list {
		for _, m := range c.Metrics {
			if m.Verdict == stat.Invalid {
				continue
			}
			same := func(x view.EqualMetric) bool { return x.Phase == m.Phase && x.Name == m.Name }
			switch i := slices.IndexFunc(out, same); {
			case i < 0:
				out = append(out, m)
			case m.SD > out[i].SD:
				out[i] = m
			}
		}
	}
	return out
}

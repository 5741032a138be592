package evidence

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
)

// SpreadOf names a metric under a load: its spread in one campaign says something about
// its spread in another one.
type SpreadOf struct{ Phase, Load, Metric string }

// addSpreads adds what a campaign saved: for each metric the largest standard deviation
// of d among its comparisons. Plans are made with it and no verdict, so that what was
// saved is good enough; a campaign that is INVALID or not finished says nothing.
func addSpreads(to map[SpreadOf][]float64, dir string) {
	text, err := os.ReadFile(filepath.Join(dir, results.VerdictFile))
	var v struct {
		Kind        string            `json:"kind"`
		Finished    bool              `json:"finished"`
		Verdict     stat.Verdict      `json:"verdict"`
		Comparisons []view.Comparison `json:"comparisons"`
	}
	if err != nil || json.Unmarshal(text, &v) != nil || v.Kind != "verdict" || !v.Finished || v.Verdict == stat.Invalid {
		return
	}
	largest := map[SpreadOf]float64{}
	for _, c := range v.Comparisons {
		for _, p := range c.Primaries() {
			if p.Detail != nil && p.Detail.SD > 0 {
				of := SpreadOf{p.Phase, c.Load(p.Phase), p.Name}
				largest[of] = max(largest[of], p.Detail.SD)
			}
		}
	}
	for of, sd := range largest {
		to[of] = append(to[of], sd)
	}
}

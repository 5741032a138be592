package forms

import (
	"github.com/aituner/opprof/report/view"
)

func Outcomes(v *view.View) map[string]view.Outcome {
	found := map[string]view.Outcome{}
	for i := range v.Comparisons {
		for _, p := range v.Comparisons[i].Primaries() {
			if p.Control != nil {
				found[p.String()] = p.Control.Outcome
			}
		}
	}
	return found
}

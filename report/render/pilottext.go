package render

import (
	"fmt"
	"strings"

	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
)

// PilotLines tell the steps of the pilot, one line each.
func PilotLines(v *view.View) (lines []string) {
	if v.Pilot == nil {
		return nil
	}
	for i, step := range v.Pilot.Steps {
		line := fmt.Sprintf("step %d", i+1)
		if i+1 == v.Pilot.Chosen {
			line += " (used)"
		}
		var values, rises []string
		for _, x := range step.Values {
			values = append(values, x.Name+"="+x.Text)
		}
		for _, m := range step.Metrics {
			rises = append(rises, fmt.Sprintf("%s, %s %s", view.LabelOf(m.Metric), m.Phase, view.Percent(m.RisePct, results.LeastRisePct)))
		}
		lines = append(lines, line+": "+strings.Join(values, " ")+" · "+strings.Join(rises, " · "))
	}
	if rises := fitted(v.Pilot); len(lines) > 1 && rises != nil {
		lines = append(lines, "all steps together: "+strings.Join(rises, " · "))
	}
	return lines
}

// fitted is what all steps say that each metric rises by with the used values:
// these rises decide whether the slowdown reached it.
func fitted(p *results.Pilot) (rises []string) {
	if p.Chosen < 1 || p.Chosen > len(p.Steps) {
		return nil
	}
	for _, m := range p.Steps[p.Chosen-1].Metrics {
		rise, _ := p.Rise(m.Phase, m.Metric)
		rises = append(rises, fmt.Sprintf("%s, %s %s", view.LabelOf(m.Metric), m.Phase, view.Percent(rise, results.LeastRisePct)))
	}
	return rises
}

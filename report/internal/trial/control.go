package trial

import (
	"slices"
	"testing"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// Control is a campaign whose candidate is slowed down by 5.5 %, as its
// pilot says.
func Control(t *testing.T) *Trial {
	tr := New(t, 6)
	tr.Scenario.Name, tr.Scenario.Purpose = "positive-control", scenarios.Control
	tr.file = "positive-control.yaml"
	tr.Scenario.Arms = []scenarios.Arm{
		{Name: "plain", Patch: scenarios.PatchControl},
		{Name: "slowed", Patch: scenarios.PatchControl, Env: map[string]string{scenarios.SpinVariable: "0.071", scenarios.SpinPrefillVariable: "0.12"}},
	}
	tr.Scenario.Compare = []scenarios.Comparison{{Baseline: "plain", Candidate: "slowed"}}
	tr.Effect["tpot"], tr.Effect["ttft"] = 0.055, 0.056
	tr.Pilot = &results.Pilot{LowPct: 5, HighPct: 6, Chosen: 2, Steps: []results.PilotStep{
		pilotStep("0.06", 4.2, "0.1", 4.9), pilotStep("0.071", 5.4, "0.12", 5.9),
	}}
	return tr
}

func pilotStep(spin string, tpot float64, prefill string, ttft float64) results.PilotStep {
	number := func(phase, metric string, pct float64) results.PilotMetric {
		return results.PilotMetric{Phase: phase, Metric: metric, Baseline: 1, Candidate: 1 + pct/100, RisePct: pct}
	}
	return results.PilotStep{
		Values: []results.PilotValue{{Name: scenarios.SpinVariable, Text: spin, Metric: "tpot_p50", RisePct: tpot},
			{Name: scenarios.SpinPrefillVariable, Text: prefill, Metric: "ttft_p50", RisePct: ttft}},
		Metrics: []results.PilotMetric{
			number("single", "tpot_p50", tpot), number("single", "tpot_p95", tpot+0.1), number("single", "output_throughput", tpot-0.2),
			number("arrivals", "ttft_p50", ttft), number("arrivals", "ttft_p95", ttft-0.5),
		},
	}
}

// Spare makes the rise of TTFT metrics in the pilot too small to be noticed.
func Spare(tr *Trial, metrics ...string) {
	aim := tr.Pilot.Steps[tr.Pilot.Chosen-1].Values[1].Number()
	for _, step := range tr.Pilot.Steps {
		for i := range step.Metrics {
			if slices.Contains(metrics, step.Metrics[i].Metric) {
				step.Metrics[i].RisePct = 3.97 * step.Values[1].Number() / aim
			}
		}
	}
}

// Missed has one metric of each kind: TPOT is Caught, of TTFT the median
// is not sensitive and the slowdown did not reach p95.
func Missed(t *testing.T) *Trial {
	tr := Control(t)
	tr.Effect["ttft"] = 0.002
	Spare(tr, "ttft_p95")
	return tr
}

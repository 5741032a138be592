package view

import (
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/scenarios"
)

// IsCore reports whether a metric is one of the five of the acceptance rule.
func IsCore(name string) bool {
	m, _ := scenarios.FindMetric(name)
	return m.Core
}

// DirectionOf is which values of a metric are better.
func DirectionOf(m scenarios.Metric) stat.Direction {
	if m.HigherIsBetter() {
		return stat.HigherIsBetter
	}
	return stat.LowerIsBetter
}

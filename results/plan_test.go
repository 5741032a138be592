package results

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/aituner/opprof/scenarios"
)

// Plans of every rules that were ever published can still be judged; those of a
// later program cannot, or the verdict would be that of other rules.
func TestRulesOfAPlan(t *testing.T) {
	for rules, readable := range map[string]bool{"1": true, "2": true, RulesVersion: true, "": false, "0": false, "4": false, "1 ": false} {
		err := (&Plan{Rules: rules, Tool: "0.9.0+7170bf8a1b2c"}).CheckRules()
		assert.Equal(t, readable, err == nil, rules)
		if !readable {
			assert.ErrorContains(t, err, "this tool has rules 1, 2, 3: use the one that made it, opbench 0.9.0 of commit 7170bf8a1b2c")
		}
	}
}

// A plan whose primary metric is not in the table, or may not be gated, is
// refused: the metric would be left out, and the rest would pass for the whole.
func TestPlanWithAnotherMetricIsRefused(t *testing.T) {
	for metric, readable := range map[string]bool{"tpot_p50": true, "tpot_p99": false, "e2e_p50": false, "": false} {
		p := Plan{Rules: RulesVersion, Tool: "v9"}
		p.Scenario.Phases = []scenarios.Phase{{Primary: []string{"ttft_p50", metric}}}
		assert.Equal(t, readable, p.CheckRules() == nil, metric)
	}
	p := Plan{Rules: RulesVersion, Tool: "v9"}
	p.Scenario.Phases = []scenarios.Phase{{}, {Primary: []string{"tpot_p99"}}}
	assert.ErrorContains(t, p.CheckRules(), `"tpot_p99", a metric that this tool does not gate: use the one that made it, opbench "v9"`)
}

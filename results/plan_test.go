package results

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Plans of every rules that were ever published can still be judged; those of a
// later program cannot, or the verdict would be that of other rules.
func TestRulesOfAPlan(t *testing.T) {
	for rules, readable := range map[string]bool{"1": true, RulesVersion: true, "": false, "0": false, "3": false, "1 ": false} {
		err := (&Plan{Rules: rules, Tool: "0.9.0+7170bf8a1b2c"}).CheckRules()
		assert.Equal(t, readable, err == nil, rules)
		if !readable {
			assert.ErrorContains(t, err, "this tool has rules 1 and 2: use the one that made it, opbench 0.9.0 of commit 7170bf8a1b2c")
		}
	}
}

package judge

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
)

// Of comparisons that are INCONCLUSIVE for several reasons the first in the table says
// why, whichever comparison has it.
func TestReasonsOfInconclusiveHaveAnOrder(t *testing.T) {
	open := func(reasons ...view.Reason) (list []*view.Comparison) {
		for _, r := range reasons {
			list = append(list, &view.Comparison{Result: view.NewResult(stat.Inconclusive, r)})
		}
		return list
	}
	assert.Equal(t, view.ReasonBatch, overall(open("", view.ReasonUnadjusted, view.ReasonBatch)).Reason)
	assert.Equal(t, view.ReasonSelection, overall(open(view.ReasonBatch, view.ReasonStalls, view.ReasonSelection)).Reason)
	assert.Equal(t, view.ReasonUnadjusted, overall(open("", view.ReasonUnadjusted)).Reason)
	assert.Equal(t, view.ReasonStalls, overall(open(view.ReasonStalls, view.ReasonControl)).Reason)
}

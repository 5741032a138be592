package evidence_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/judge/evidence"
	"github.com/aituner/opprof/results"
)

// A phase of 128 streams keeps them busy up to its last send; throughput divides by a
// time in which they end one by one, and the report says so. Both means were computed
// elsewhere from the published requests.
func TestDrainOfAPublishedCampaignIsShown(t *testing.T) {
	t.Parallel()
	c, err := results.Load(filepath.Join("..", "..", "..", "results", "campaigns", "h200-r2"))
	require.NoError(t, err)
	beside := evidence.Beside(accept.Blocks(c, accept.Examine(c)))
	means := map[string]float64{}
	for _, q := range beside.Quantities {
		means[q.Phase+", "+q.Name] = q.Arms[0].Mean
	}
	assert.InDelta(t, 127.99801162081525, means["wide, streams busy up to the last send"], 1e-9)
	assert.InDelta(t, 115.80458712861567, means["wide, streams busy, drain included"], 1e-9)
	assert.NotContains(t, means, "single, streams busy up to the last send", "one stream has no drain")
}

package sizing

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/view"
)

// passed is how many percent of the simulated campaigns of so many metrics passed, in
// report/stat/CALIBRATION.md: thousands of them, by the functions that judge.
func passed(t *testing.T, metrics int, sd float64, blocks int) float64 {
	t.Helper()
	text, err := os.ReadFile("../stat/CALIBRATION.md")
	require.NoError(t, err)
	name := fmt.Sprintf("%d metrics × 1, true cost 0, SD %g %%, %d", metrics, sd, blocks)
	found := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(name) + ` \| (\d+) \| (\d+) \|`).FindStringSubmatch(string(text))
	require.Len(t, found, 3, "%s is no row", name)
	of, err := strconv.ParseFloat(found[1], 64)
	require.NoError(t, err)
	pass, err := strconv.ParseFloat(found[2], 64)
	require.NoError(t, err)
	return 100 * pass / of
}

// opbench power says how often a campaign passes, within two points: of eight metrics
// that have nothing in common, and of metrics that move as one.
func TestPowerIsThatOfTheSimulatedCampaign(t *testing.T) {
	t.Parallel()
	blocks := []int{6, 8, 10}
	for _, sd := range []float64{1.5, 2, 2.5} {
		table, err := PowerAt([]float64{sd / 100}, PowerPlan{Power: 0.9, Blocks: blocks}, "v0.1.0")
		require.NoError(t, err)
		seen := 0
		for _, g := range table.Groups {
			if !g.Whole {
				continue
			}
			metrics := map[float64]int{0: 8, 1: 1}[*g.Correlation]
			for i, n := range blocks {
				assert.InDelta(t, passed(t, metrics, sd, n), 100*g.Curves[0].Power[i], 2, "%s, SD %g %%, %d blocks", g.Label, sd, n)
				seen++
			}
		}
		assert.Equal(t, 6, seen)
		enough := passed(t, 8, sd, 10) >= 90
		assert.Equal(t, enough, table.Result == view.Enough, "SD %g %%: %s", sd, table.Sentence)
	}
}

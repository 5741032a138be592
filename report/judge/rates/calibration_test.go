package rates

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// gatePercent is the share of false passes in a row of the calibration.
func gatePercent(t *testing.T, cell string, blocks int) float64 {
	t.Helper()
	text, err := os.ReadFile("../../stat/CALIBRATION.md")
	require.NoError(t, err)
	row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(fmt.Sprintf("%s, %d", cell, blocks)) + ` \| \d+ \| [\d.]+ \| \d+ \| \d+ \| ([\d.]+) \|`)
	found := row.FindStringSubmatch(string(text))
	require.Len(t, found, 2, "%s, %d is no row", cell, blocks)
	percent, err := strconv.ParseFloat(found[1], 64)
	require.NoError(t, err)
	return percent
}

// What reports say of bad starts and of correlated blocks are the numbers that were
// simulated.
func TestTextsSayWhatWasSimulated(t *testing.T) {
	var bad []any
	for _, n := range []int{6, 8, 10} {
		bad = append(bad, gatePercent(t, "bad starts, 1 in 5 is 16 % slower", n))
	}
	assert.Contains(t, badStarts, fmt.Sprintf("(at n = 6 / 8 / 10: %.0f / %.0f / %.0f %% where one start in five is 16 %% slower)", bad...))
	for _, of := range correlated {
		assert.Equal(t, fmt.Sprintf("%.1f", gatePercent(t, "neighbours correlated by 0.3, normal", of.blocks)), fmt.Sprintf("%.1f", of.some), of.blocks)
		assert.Equal(t, fmt.Sprintf("%.1f", gatePercent(t, "neighbours correlated by 0.5, normal", of.blocks)), fmt.Sprintf("%.1f", of.much), of.blocks)
	}
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	assert.Regexp(t, fmt.Sprintf(`\(at n = 6 / 8 / 10: %.0f / %.0f / %.0f %% where one start in\s+five is 16 %% slower\)`, bad...), string(readme))
}

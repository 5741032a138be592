package results

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/results/gaps"
)

// run.json keeps the histogram as it is, and without gaps has the bytes that it
// always had.
func TestGapsInJSON(t *testing.T) {
	var p Phase
	text, err := json.Marshal(p)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "gap")
	p.Gaps.Add(5, 2047, 2048, 2049, 5)
	text, err = json.Marshal(p)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"gap_hist":"5:2 2047:1 2048:2"`)
	var back Phase
	require.NoError(t, json.Unmarshal(text, &back))
	assert.Equal(t, p.Gaps, back.Gaps)
	for _, bad := range []string{
		"5", "5:", "x:1", "5:0", "5:-1", "5:1 5:1", "6:1 5:1", "-1:1", "99999:1", "5:1:1", "5:1,6:1",
	} {
		assert.ErrorContains(t, new(gaps.Histogram).UnmarshalText([]byte(bad)), "gap histogram", bad)
	}
}

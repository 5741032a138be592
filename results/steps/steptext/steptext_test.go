package steptext

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/steps"
)

// A check that failed, one that only warns and one that was skipped are told apart,
// each with its reason.
func TestWriteChecks(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, WriteChecks(&b, &results.Steps{
		Records: 4, Steps: 3, EmptySteps: 1, Bytes: 900, BacklogMax: 2, Dropped: 5,
		Checks: []results.Check{
			{ID: "order", Checked: 4},
			{ID: "tokens", Checked: 4, Failed: 1, First: "a.jsonl:3: 7 tokens, want 8"},
			{ID: "footer", Checked: 1, Failed: 1, First: "a.jsonl has none", Warning: true},
			{ID: "client", Skipped: "no requests"},
		},
	}))
	assert.Equal(t, `4 records, 3 steps (1 empty), 900 bytes, backlog high watermark 2, 5 dropped
ok       order   4 of 4  
FAILED   tokens  3 of 4  a.jsonl:3: 7 tokens, want 8
warning  footer  0 of 1  a.jsonl has none
skipped  client  0 of 0  no requests
`, b.String())
}

// What was not recorded is said to be unknown and not shown as zero; of a histogram
// the empty ends are left out.
func TestWriteSurvey(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, WriteSurvey(&b, &steps.Survey{
		Records: 4, ContextEdges: []int64{1, 2, 4}, ContextHist: []int64{0, 3, 0, 1},
	}))
	assert.Regexp(t,
		`(?m)^context length +requests\nto 2 +3 +75\.0 %\nto 4 +0 +0\.0 %\nabove 4 +1 +25\.0 %\n\nprefill chunk +chunks\nnone$`,
		b.String())
	assert.Contains(t, b.String(), "no record has a stat\n")
	assert.Regexp(t, `prefix cache +local none, external none\n`, b.String())
	assert.Regexp(t, `volume +not known: the records are too few, or damaged\n`, b.String())
}

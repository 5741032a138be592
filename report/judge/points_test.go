package judge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/internal/forms"
	"github.com/aituner/opprof/report/internal/trial"
)

// The plot's steps are those of the records: the trial writes one for each
// output token, twelve timed requests of sixteen tokens in each of six runs.
func TestStepPlotReadsTheRecords(t *testing.T) {
	t.Parallel()
	v := forms.Build(t, trial.New(t, 6).Write(t.TempDir()))
	require.Len(t, v.Plots.StepTimes, 2)
	curves := v.Plots.StepTimes[0].Arms
	require.Len(t, curves, 1, "only one arm records")
	assert.Equal(t, "on", curves[0].Arm)
	assert.Equal(t, int64(6*12*16), curves[0].Total())
}

package judge_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/internal/forms"
	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/report/view"
)

// Whoever can choose when to stop has no error rate: a campaign that was closed
// shows what it measured, and neither passes nor fails.
func TestClosedEarlyHasNoVerdict(t *testing.T) {
	t.Parallel()
	for name, effect := range map[string]float64{"would pass": 0.003, "would fail": 0.08} {
		for _, stop := range []int{5, 8} {
			tr := trial.New(t, 10)
			tr.Stop, tr.Closed, tr.Effect["tpot"] = stop, "the reservation ended", effect
			v := forms.Build(t, tr.Write(t.TempDir()))
			assert.Equal(t, "INVALID(valid blocks missing)", v.Headline(), name)
			assert.Equal(t, view.ExitInvalid, v.ExitCode, name)
			assert.Contains(t, v.Sentence, fmt.Sprintf("%d of 10 planned blocks are valid, and the campaign was closed: the reservation ended", stop))
			tpot := v.Comparisons[0].Phases[0].Metrics[1]
			require.NotNil(t, tpot.Upper, name)
			assert.Less(t, math.Abs(*tpot.Effect-100*effect), 1.0, name)
		}
	}
	tr := trial.New(t, 6)
	tr.Stop, tr.Closed = 6, "crashed before it could say complete"
	assert.Equal(t, "PASS", forms.Build(t, tr.Write(t.TempDir())).Headline(), "nothing was missing")
}

// Ten blocks did not decide, so nobody is told that six would.
func TestNeverAdvisesFewerBlocksThanRan(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 10)
	tr.Noise, tr.Effect["ttft"] = 0.005, 0.027
	v := forms.Build(t, tr.Write(t.TempDir()))
	require.Equal(t, "INCONCLUSIVE", v.Headline())
	for _, p := range v.Comparisons[0].Primaries() {
		if p.Advice != nil {
			require.Less(t, p.Advice.IfZeroUpper, 10, "the case is none")
		}
	}
	assert.Contains(t, strings.Join(v.Next, " "), "(12 are enough if the true effect is 0)")
}

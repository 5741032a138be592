package judge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/aituner/opprof/report/internal/forms"
	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/scenarios"
)

// Blocks of attached endpoints repeat one pair of processes: how starts differ was
// never sampled, so no error rate may stand beside the verdict.
func TestNoErrorRateWithoutRestarts(t *testing.T) {
	for _, kind := range []scenarios.EngineKind{scenarios.EngineVLLM, scenarios.EngineAttach} {
		tr := trial.New(t, 6)
		tr.Scenario.Engine.Kind = kind
		v := forms.Build(t, tr.Write(t.TempDir()))
		started := kind == scenarios.EngineVLLM
		assert.Equal(t, started, v.ErrorRate != "", kind)
		assert.Equal(t, !started, strings.Contains(strings.Join(v.Notes, "\n"), "no error rate is known"), kind)
	}
}

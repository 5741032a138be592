package scenarios

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const smallest = `scenario: smallest
purpose: overhead
engine: {kind: sim}
arms:
  off: {}
  on: {env: {VLLM_OPPROF_DIR: "{run_dir}/steps"}}
phases: [{name: one, source: {seed: 7}}]
design: {seed: 1}
`

// canonical is the JSON form of smallest as of commit 7170bf8. Plan hashes cover
// it: a key that is new since then is tagged omitempty or omitzero, and its zero
// value means what was so before there was the key.
const canonical = `{"scenario":"smallest",
"purpose":"overhead",
"about":"",
"engine":{"kind":"sim","model":"simulated","args":{},"env":{}},
"arms":[{"name":"off","patch":"none","env":{}},
{"name":"on","patch":"none","env":{"VLLM_OPPROF_DIR":"{run_dir}/steps"}}],
"compare":[{"baseline":"off","candidate":"on"}],
"phases":[{"name":"one","source":{"kind":"synthetic","requests":100,"prompt_tokens":{"dist":"fixed","value":128},
"output_tokens":{"dist":"fixed","value":128},"seed":7,"vocab_size":32000,"vocab_low":10},
"arrival":{"kind":"closed","streams":1},"warmup":{"requests":10},"primary":["output_throughput","tpot_p50","tpot_p95"]}],
"design":{"blocks":10,"seed":1,"burn_in_blocks":1,"looks":[10],"max_dropped":0,"cooldown_ns":5000000000,"adjust_order":false},
"gate":{"margin":0.03,"confidence":0.95,"require_aa":false,"require_all_five":false},
"client":{"max_probe_lag_p99_ns":2000000,"request_timeout_ns":120000000000},
"identity":{"prompts":64,"prompt_tokens":32,"output_tokens":64,"min_distinct":4,"seed":20260711}}`

func TestCanonicalFormStays(t *testing.T) {
	s, err := Load("smallest.yaml", []byte(smallest), known)
	require.NoError(t, err)
	form, err := json.Marshal(s)
	require.NoError(t, err)
	assert.Equal(t, strings.ReplaceAll(canonical, "\n", ""), string(form), "a new key must be omitempty or omitzero, or every published plan has another hash")
}

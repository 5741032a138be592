package scenarios

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Scenario files may name exactly the kinds of the table, and nothing follows from
// a kind that is not in it.
func TestEngineKindsAreThoseOfTheTable(t *testing.T) {
	var document struct {
		Defs map[string]struct {
			Properties map[string]struct{ Enum []EngineKind }
		} `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(schema(t), &document))
	assert.Equal(t, document.Defs["engine"].Properties["kind"].Enum, engineKinds())
	for _, kind := range engineKinds() {
		assert.Equal(t, kind, kind.Capabilities().Kind)
		assert.NotEmpty(t, kind.Capabilities().Metrics.Prefix, kind)
	}
	assert.Equal(t, Capabilities{Kind: "other"}, EngineKind("other").Capabilities())
	assert.False(t, Engine{}.attached())
}

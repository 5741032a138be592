package scenarios

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// objects are the loader's tables by the name of their schema definition.
var objects = map[string]struct{ keys, required []string }{
	"scenario":      table(scenarioFields),
	"engine":        table(engineFields),
	"arm":           table(armFields),
	"comparison":    table(comparisonFields),
	"phase":         table(phaseFields),
	"source":        table(sourceFields),
	"goodput":       table(goodputFields),
	"prefix-groups": table(prefixGroupsFields),
	"dist":          table(distFields),
	"arrival":       table(arrivalFields),
	"warmup":        table(warmupFields),
	"design":        table(designFields),
	"interleave":    table(interleaveFields),
	"gate":          table(gateFields),
	"client":        table(clientFields),
	"identity":      table(identityFields),
}

func table[T any](fields []field[T]) (t struct{ keys, required []string }) {
	t.keys = each(fields, func(f field[T]) string { return f.key })
	for _, f := range fields {
		if f.need {
			t.required = append(t.required, f.key)
		}
	}
	return t
}

// schema is the JSON Schema (2020-12) of scenario files.
func schema(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile("schema.json")
	require.NoError(t, err)
	return text
}

type definition struct {
	Properties           map[string]any
	Required             []string
	AdditionalProperties any
}

func definitions(t *testing.T) map[string]definition {
	var document struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(schema(t), &document))
	defs := map[string]definition{}
	for name, text := range document.Defs {
		var d definition
		require.NoError(t, json.Unmarshal(text, &d))
		if d.Properties != nil {
			defs[name] = d
		}
	}
	return defs
}

func TestSchemaHasTheLoadersKeys(t *testing.T) {
	defs := definitions(t)
	assert.ElementsMatch(t, slices.Collect(maps.Keys(objects)), slices.Collect(maps.Keys(defs)))
	for name, want := range objects {
		assert.ElementsMatch(t, want.keys, slices.Collect(maps.Keys(defs[name].Properties)), name)
		assert.ElementsMatch(t, want.required, defs[name].Required, name)
		assert.Equal(t, false, defs[name].AdditionalProperties, name)
	}
}

// prefixes are the objects' places in the reference of README.md.
var prefixes = map[string]string{
	"scenario": "", "engine": "engine.", "arm": "arms.<arm>.", "comparison": "compare[].",
	"phase": "phases[].", "goodput": "phases[].goodput.", "prefix-groups": "phases[].source.prefix_groups.",
	"source": "phases[].source.", "dist": "prompt_tokens.",
	"arrival": "phases[].arrival.", "warmup": "phases[].warmup.", "design": "design.",
	"interleave": "design.interleave.", "gate": "gate.", "client": "client.", "identity": "identity.",
}

func TestReadmeHasTheLoadersKeys(t *testing.T) {
	_, reference, found := strings.Cut(readme(t), "\n## Keys\n")
	require.True(t, found)
	var rows, want []string
	for line := range strings.Lines(reference) {
		if cells := strings.Split(line, "`"); cells[0] == "| " {
			rows = append(rows, cells[1])
		}
	}
	for name, object := range objects {
		for _, key := range object.keys {
			want = append(want, prefixes[name]+key)
		}
	}
	assert.ElementsMatch(t, want, rows)
}

func compileSchema(t *testing.T) *jsonschema.Schema {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema(t)))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("schema.json", document))
	compiled, err := compiler.Compile("schema.json")
	require.NoError(t, err)
	return compiled
}

// asJSON turns YAML into what a schema validator sees.
func asJSON(t *testing.T, text string) any {
	var document any
	require.NoError(t, yaml.Unmarshal([]byte(text), &document))
	encoded, err := json.Marshal(document)
	require.NoError(t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(encoded))
	require.NoError(t, err)
	return value
}

func TestSchemaAcceptsBundled(t *testing.T) {
	compiled := compileSchema(t)
	for _, name := range Bundled() {
		text, err := Open(name)
		require.NoError(t, err)
		assert.True(t, strings.HasPrefix(string(text), "# yaml-language-server: $schema=schema.json\n#\n# "), name)
		assert.NoError(t, compiled.Validate(asJSON(t, string(text))), name)
	}
}

func TestSchemaRefuses(t *testing.T) {
	compiled := compileSchema(t)
	require.NoError(t, compiled.Validate(asJSON(t, good)))
	for _, change := range []struct{ from, to string }{
		{"cooldown: 1s", "cooldwn: 1s"},
		{"cooldown: 1s", "cooldown: 1"},
		{"margin: 3%", "margin: 3"},
		{"kind: sim", "kind: simulated"},
		{"seed: 7", "seed: -7"},
		{"seed: 7, ", ""},
		{"streams: 2", "streams: 0"},
		{"[tpot_p50]", "[tpot_p99]"},
		{"step-base: 10ms", "step-base: false"},
		{"on:", "On:"},
		{"requests: 20", "kind: trace, format: csv"},
		{"requests: 20", "prefix_groups: {count: 2}"},
		{"streams: 2", "burstiness: 0"},
		{"primary: [tpot_p50]", "goodput: {}"},
	} {
		text := replace(t, good, change.from, change.to)
		assert.Error(t, compiled.Validate(asJSON(t, text)), "%s instead of %s", change.to, change.from)
	}
}

package view_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
)

const schemaFile = "verdict.schema.json"

// schemaMaker makes the JSON schema of a Go type: names and types from the
// type, descriptions from the comments in the source.
type schemaMaker struct {
	defs     map[string]any
	comments map[string]string // by Type or Type.Field
}

func (s *schemaMaker) of(t reflect.Type) map[string]any {
	if t == reflect.TypeFor[stat.Verdict]() {
		return map[string]any{"enum": []stat.Verdict{stat.Pass, stat.Fail, stat.Inconclusive, stat.Invalid}}
	}
	if t == reflect.TypeFor[time.Time]() {
		return map[string]any{"type": "string", "format": "date-time"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.Struct:
		s.define(t)
		return map[string]any{"$ref": "#/$defs/" + t.Name()}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": s.of(t.Elem())}
	case reflect.Array:
		return map[string]any{"type": "array", "items": s.of(t.Elem()), "minItems": t.Len(), "maxItems": t.Len()}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Int, reflect.Int64:
		return map[string]any{"type": "integer"}
	case reflect.Uint64:
		return map[string]any{"type": "integer", "minimum": 0}
	case reflect.String:
		return map[string]any{"type": "string"}
	}
	panic("no schema for " + t.String())
}

func (s *schemaMaker) define(t reflect.Type) {
	if s.defs[t.Name()] != nil {
		return
	}
	properties, required := map[string]any{}, []string{}
	s.defs[t.Name()] = map[string]any{
		"type": "object", "description": s.comments[t.Name()], "properties": properties,
	}
	s.fields(t, properties, &required)
	s.defs[t.Name()].(map[string]any)["required"] = required
}

// fields are those of a struct and of what it embeds.
func (s *schemaMaker) fields(t reflect.Type, properties map[string]any, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			s.fields(f.Type, properties, required)
			continue
		}
		name, options, tagged := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "" || name == "-" {
			continue
		}
		one := s.of(f.Type)
		if text := s.comments[t.Name()+"."+f.Name]; text != "" {
			one["description"] = text
		}
		properties[name] = one
		if !tagged || options != "omitempty" {
			*required = append(*required, name)
		}
	}
}

// comments reads what the source says about types and fields.
func comments(t *testing.T, pattern string) map[string]string {
	t.Helper()
	found := map[string]string{}
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE && len(g.Specs) == 1 {
				readComments(found, g)
			}
		}
	}
	return found
}

func readComments(found map[string]string, g *ast.GenDecl) {
	spec := g.Specs[0].(*ast.TypeSpec)
	found[spec.Name.Name] = trial.OneLine(g.Doc.Text())
	of, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, f := range of.Fields.List {
		for _, name := range f.Names {
			found[spec.Name.Name+"."+name.Name] = strings.TrimSpace(trial.OneLine(f.Doc.Text()) + " " + trial.OneLine(f.Comment.Text()))
		}
	}
}

func verdictSchema(t *testing.T) []byte {
	t.Helper()
	s := &schemaMaker{defs: map[string]any{}, comments: comments(t, "*.go")}
	for name, text := range comments(t, "../../results/pilot.go") {
		s.comments[name] = text
	}
	top := s.of(reflect.TypeFor[view.View]())
	fields := s.defs["View"].(map[string]any)["properties"].(map[string]any)
	fields["schema"] = map[string]any{"const": view.VerdictSchema}
	fields["kind"] = map[string]any{"const": "verdict"}
	top["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	top["title"] = "OpProf Bench verdict"
	top["$defs"] = s.defs
	var b bytes.Buffer
	require.NoError(t, view.WriteJSON(&b, top))
	return b.Bytes()
}

// The published schema is that of the type: a field without one would change
// the format unnoticed. -update writes it again.
func TestSchemaIsThatOfTheView(t *testing.T) {
	got := verdictSchema(t)
	if *trial.Update {
		require.NoError(t, os.WriteFile(schemaFile, got, 0o644))
	}
	want, err := os.ReadFile(schemaFile)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got), "run the test with -update")
}

func compileVerdictSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile(schemaFile)
	require.NoError(t, err)
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource(schemaFile, document))
	compiled, err := compiler.Compile(schemaFile)
	require.NoError(t, err)
	return compiled
}

func TestSchemaAcceptsEveryVerdict(t *testing.T) {
	schema := compileVerdictSchema(t)
	published, err := filepath.Glob("../../results/campaigns/*/verdict.json")
	require.NoError(t, err)
	require.NotEmpty(t, published)
	files := published
	for _, c := range trial.Cases {
		files = append(files, filepath.Join("../page/testdata", c.Name+".json"))
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		require.NoError(t, err)
		assert.NoError(t, schema.Validate(value), name)
	}
}

// Documents that are no verdict are refused: the schema is able to fail.
func TestSchemaRefuses(t *testing.T) {
	schema := compileVerdictSchema(t)
	text, err := os.ReadFile(filepath.Join("../page/testdata", "pass.json"))
	require.NoError(t, err)
	for name, breakIt := range map[string]func(map[string]any){
		"another kind":      func(d map[string]any) { d["kind"] = "aa" },
		"another schema":    func(d map[string]any) { d["schema"] = 1 },
		"a strange verdict": func(d map[string]any) { d["verdict"] = "MAYBE" },
		"no exit code":      func(d map[string]any) { delete(d, "exit_code") },
		"a text as number":  func(d map[string]any) { d["subject"].(map[string]any)["margin_pct"] = "3" },
		"null as list":      func(d map[string]any) { d["runs"] = nil },
		"half an interval": func(d map[string]any) {
			metric(d)["detail"].(map[string]any)["t_pct"] = []any{1.5}
		},
		"a metric without a name": func(d map[string]any) { delete(metric(d), "name") },
	} {
		var document map[string]any
		require.NoError(t, json.Unmarshal(text, &document))
		require.NoError(t, schema.Validate(document), name)
		breakIt(document)
		assert.Error(t, schema.Validate(document), name)
	}
}

// metric is the first metric of a verdict.
func metric(d map[string]any) map[string]any {
	comparison := d["comparisons"].([]any)[0].(map[string]any)
	phase := comparison["phases"].([]any)[0].(map[string]any)
	return phase["metrics"].([]any)[0].(map[string]any)
}

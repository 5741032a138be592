package bench

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/aituner/opprof/"

// mayImport says which folders of the project the packages below a folder may
// import; the first matching rule counts. Everything may import itself.
var mayImport = []struct {
	folder string
	others []string
}{
	{"scenarios", nil},
	{"patches", nil},
	{"report/stat", nil},
	{"results", []string{"scenarios", "patches", "results"}},
	{"harness", []string{"scenarios", "patches", "results", "harness"}},
	{"report", []string{"scenarios", "patches", "results", "report"}},
	{"bench", []string{"scenarios", "patches", "results", "harness", "report", "bench"}},
}

type listed struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

func listPackages(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", module+"...").Output()
	require.NoError(t, err)
	dec := json.NewDecoder(strings.NewReader(string(out)))
	var all []listed
	for {
		var p listed
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		all = append(all, p)
	}
}

func under(path, folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }

// broken returns the imports of a package that the house rules forbid.
func broken(p listed) []string {
	self := strings.TrimPrefix(p.ImportPath, module)
	for _, rule := range mayImport {
		if !under(self, rule.folder) {
			continue
		}
		var bad []string
		for _, imp := range append(append(p.Imports, p.TestImports...), p.XTestImports...) {
			other, ours := strings.CutPrefix(imp, module)
			if ours && other != self && !allowed(other, rule.others) {
				bad = append(bad, self+" imports "+other)
			}
		}
		return bad
	}
	return []string{self + " is in no room of the house"}
}

func allowed(path string, folders []string) bool {
	for _, f := range folders {
		if under(path, f) {
			return true
		}
	}
	return false
}

// The rooms of the house stay apart: above all, harness and report never meet
// but in the files of a run directory.
func TestImportRules(t *testing.T) {
	all := listPackages(t)
	require.Greater(t, len(all), 10)
	for _, p := range all {
		assert.Empty(t, broken(p))
	}
}

func TestImportRulesCatch(t *testing.T) {
	for _, c := range []struct{ from, to string }{
		{"harness", "report"}, {"report", "harness/load"}, {"scenarios", "results"}, {"report/stat", "results"},
		{"results/steps", "harness"}, {"util", "results"}, {"patches", "scenarios"}, {"report", "bench"},
	} {
		assert.NotEmpty(t, broken(listed{ImportPath: module + c.from, Imports: []string{module + c.to}}), "%s -> %s", c.from, c.to)
	}
}

// doubles stand in for a part of the world in tests.
var doubles = []string{"harness/engine/enginetest", "harness/internal/pipe", "report/post/fakegithub"}

// shipsDouble returns the doubles that a package uses outside its tests. Doubles
// may use each other, and commands below bench/internal are for tests themselves.
func shipsDouble(p listed) []string {
	self := strings.TrimPrefix(p.ImportPath, module)
	if allowed(self, doubles) || under(self, "bench/internal") {
		return nil
	}
	var bad []string
	for _, imp := range p.Imports {
		if other := strings.TrimPrefix(imp, module); allowed(other, doubles) {
			bad = append(bad, self+" imports "+other)
		}
	}
	return bad
}

// What stands in for an engine, a network or GitHub is in no build of opbench.
func TestDoublesStayInTests(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range listPackages(t) {
		seen[strings.TrimPrefix(p.ImportPath, module)] = true
		assert.Empty(t, shipsDouble(p))
	}
	for _, d := range doubles {
		assert.True(t, seen[d], "%s is gone: take it off the list", d)
		fake := []string{module + d}
		assert.NotEmpty(t, shipsDouble(listed{ImportPath: module + "harness/load", Imports: fake}))
		assert.Empty(t, shipsDouble(listed{ImportPath: module + "harness/load", TestImports: fake}))
	}
}

// What depends on the kind of an engine is asked of the table in scenarios: only the
// table and what brings servers to life name a kind.
func TestEngineKindsAreNamedInTheirTable(t *testing.T) {
	kind := regexp.MustCompile(`\bEngine(VLLM|Sim|Attach)\b`)
	var named []string
	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if kind.Match(text) && !strings.HasPrefix(path, "../harness/engine/") && !strings.HasPrefix(path, "../report/internal/") {
			named = append(named, path)
		}
		return err
	}))
	assert.Equal(t, []string{"../scenarios/engine.go"}, named)
}

// What a visitor sees at the top is the list that was agreed on.
func TestTopLevel(t *testing.T) {
	want := []string{"LICENSE", "Makefile", "README.md", "bench", "go.mod", "go.sum", "harness", "patches", "report", "results", "scenarios"}
	out, err := exec.Command("git", "-C", "..", "ls-files").Output()
	if err != nil {
		out = topLevelOnDisk(t) // an archive without git
	}
	seen := map[string]bool{}
	for _, path := range strings.Fields(string(out)) {
		top, _, _ := strings.Cut(path, "/")
		if !strings.HasPrefix(top, ".") {
			seen[top] = true
		}
	}
	for _, name := range want {
		assert.True(t, seen[name], "%s is missing at the top level", name)
		delete(seen, name)
	}
	assert.Empty(t, seen, "not on the list of top-level entries")
}

func topLevelOnDisk(t *testing.T) []byte {
	t.Helper()
	entries, err := os.ReadDir("..")
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		if e.Name() != "bin" {
			names = append(names, e.Name())
		}
	}
	return []byte(strings.Join(names, "\n"))
}

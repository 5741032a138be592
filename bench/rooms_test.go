package bench

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rooms are the packages of report from the lowest up, with what each may import of
// the others; every one may import report/stat. Below report/internal is what only
// tests may use.
var rooms = []struct {
	name   string
	others []string
}{
	{"report", nil}, // documentation
	{"report/stat", nil},
	{"report/view", nil},
	{"report/judge/accept", []string{"report/view"}},
	{"report/judge/evidence", []string{"report/view", "report/judge/accept"}},
	{"report/judge/rates", []string{"report/view"}},
	{"report/judge/wording", []string{"report/view", "report/judge/evidence", "report/judge/accept", "report/judge/rates"}},
	{"report/judge", []string{
		"report/view", "report/judge/accept", "report/judge/evidence", "report/judge/rates", "report/judge/wording",
	}},
	{"report/sizing", []string{
		"report/view", "report/judge/accept", "report/judge/evidence", "report/judge/rates", "report/judge",
	}},
	{"report/revisions", []string{
		"report/view", "report/judge/accept", "report/judge/evidence", "report/judge", "report/sizing",
	}},
	{"report/render", []string{"report/view"}},
	{"report/page", []string{"report/view", "report/render"}},
	{"report/publish", []string{
		"report/view", "report/judge/accept", "report/judge/evidence", "report/judge", "report/render",
	}},
	{"report/export", []string{"report/view", "report/render"}},
	{"report/post", []string{"report/view", "report/render"}},
	{"report/post/fakegithub", nil},
}

// upstairs returns the imports of a package of report, tests left out, that are not
// below it; or that it is in no room.
func upstairs(p listed) (bad []string) {
	self := strings.TrimPrefix(p.ImportPath, module)
	if !under(self, "report") || under(self, "report/internal") {
		return nil
	}
	for _, room := range rooms {
		if room.name != self {
			continue
		}
		for _, imp := range p.Imports {
			other, ours := strings.CutPrefix(imp, module)
			below := other == "report/stat" || slices.Contains(room.others, other)
			if ours && under(other, "report") && !below {
				bad = append(bad, self+" imports "+other)
			}
		}
		return bad
	}
	return []string{self + " is in no room of report"}
}

// report's rooms lie one below the other, which is what lets each be read alone:
// view, judge, sizing, revisions, and view, render, page.
func TestOrderOfTheRooms(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range listPackages(t) {
		seen[strings.TrimPrefix(p.ImportPath, module)] = true
		assert.Empty(t, upstairs(p))
	}
	for _, room := range rooms {
		assert.True(t, seen[room.name], "%s is gone: take it off the list", room.name)
	}
}

// Each room can be left upwards or sideways in a way that the test finds.
func TestOrderOfTheRoomsCatches(t *testing.T) {
	forbidden := map[string][]string{
		"report": {"report/view"}, "report/stat": {"report/view"}, "report/view": {"report/judge/accept", "report/render"},
		"report/judge/accept": {"report/judge/evidence", "report/judge"}, "report/judge/evidence": {"report/judge"},
		"report/judge/rates": {"report/judge", "report/judge/evidence"}, "report/judge/wording": {"report/judge", "report/render"},
		"report/judge": {"report/sizing", "report/render"}, "report/sizing": {"report/revisions", "report/page"},
		"report/revisions": {"report/render"}, "report/render": {"report/page", "report/judge"},
		"report/publish": {"report/page", "report/sizing"},
		"report/page":    {"report/judge", "report/export"}, "report/export": {"report/judge", "report/page"},
		"report/post": {"report/judge", "report/page"}, "report/post/fakegithub": {"report/post"},
		"report/attic": {"report/stat"},
	}
	for _, room := range rooms {
		assert.Contains(t, forbidden, room.name)
	}
	for from, others := range forbidden {
		for _, to := range append(others, "report/internal/trial") {
			imports := []string{module + to}
			assert.NotEmpty(t, upstairs(listed{ImportPath: module + from, Imports: imports}), "%s -> %s", from, to)
		}
	}
	tests := listed{ImportPath: module + "report/view", TestImports: []string{module + "report/judge"}}
	assert.Empty(t, upstairs(tests), "tests may")
}

// A verdict with its reason is a value; its text is made in one place. Where the text
// stands in code, something compares texts or makes them by itself.
func TestTextsOfVerdictsAreMadeInOnePlace(t *testing.T) {
	files := filesWith(t, "..", []byte(`"INVALID(`))
	assert.LessOrEqual(t, len(files), 1, "%v", files)

	dir := t.TempDir()
	for name, text := range map[string]string{
		"one.go": `package x; var a = "INVALID(" + b`, "deep/two.go": `package x; var a = "INVALID(bias)"`,
		"three_test.go": `package x; var a = "INVALID(bias)"`, "four.go": "package x // INVALID(bias)",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	assert.Equal(t, []string{"deep/two.go", "one.go"}, filesWith(t, dir, []byte(`"INVALID(`)))
}

// filesWith are the Go files below a folder, tests left out, that have a text.
func filesWith(t *testing.T, dir string, text []byte) (files []string) {
	t.Helper()
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && len(d.Name()) > 1 && d.Name()[0] == '.' {
			return fs.SkipDir
		}
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(filepath.Join(dir, path))
		if bytes.Contains(source, text) {
			files = append(files, path)
		}
		return err
	}))
	return files
}

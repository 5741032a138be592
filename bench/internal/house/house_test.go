package house

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// module writes a module of these files and measures it.
func module(t *testing.T, files map[string]string) ([]Package, error) {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module example.org/toy\n\ngo 1.26\n"
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return Measure(dir)
}

// A function, a method and a constant close the circle of three files; a file
// that is only used, one that only uses, and tests stay outside of it.
func TestMeasureFindsACycle(t *testing.T) {
	all, err := module(t, map[string]string{
		"ring/a.go":      "package ring\n\nfunc A() { B() }\n",
		"ring/b.go":      "package ring\n\nfunc B() { New().C() }\n\nconst Size = 3\n",
		"ring/c.go":      "package ring\n\nfunc (*T) C() { A(); _ = Size }\n",
		"ring/t.go":      "package ring\n\ntype T struct{}\n\nfunc New() *T { return nil }\n",
		"ring/top.go":    "package ring\n\nimport \"example.org/toy/line\"\n\nfunc Top() { A(); line.Start() }\n",
		"ring/a_test.go": "package ring\n\nfunc use() { Top() }\n",
		"line/a.go":      "package line\n\n// Start begins.\nfunc Start() { end(); end() }\n",
		"line/b.go":      "package line\n\nfunc end() { var a int; _ = a }\n",
	})
	require.NoError(t, err)
	assert.Equal(t, []Package{{"line", 7, 2, 0}, {"ring", 21, 5, 3}}, all)
	assert.InDelta(t, 0.6, all[1].Share(), 1e-12)
	assert.Equal(t, "lines  files  in cycle  share  package\n"+
		"    7      2         0     0%  line\n"+
		"   21      5         3    60%  ring\n", Table(all))
}

// What can't be measured must not pass as a package without cycles.
func TestMeasureSaysWhatIsWrong(t *testing.T) {
	_, err := module(t, map[string]string{"a.go": "package a\n\nfunc A() { B() }\n"})
	assert.ErrorContains(t, err, "undefined: B")
	_, err = Measure(t.TempDir())
	assert.ErrorContains(t, err, "list the packages")
}

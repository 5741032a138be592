package patches

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	aOld, aNew = "one\ntwo\n", "one\nTWO\n"
	added      = "added\n"
	testText   = "def test(): pass\n"
	other      = "other\n"
)

// smallRevision changes vllm/a.py, adds vllm/sub/n.py and a test, and relies
// on vllm/sub/other.py.
func smallRevision(t *testing.T) Revision {
	t.Helper()
	head := func(path, pre, post string) string {
		old, mode := "a/"+path, ""
		if pre == absentBlob {
			old, mode = "/dev/null", "new file mode 100644\n"
		}
		return "diff --git a/" + path + " b/" + path + "\n" + mode +
			"index " + pre + ".." + post + "\n--- " + old + "\n+++ b/" + path + "\n"
	}
	a, aPatched := blobID([]byte(aOld)), blobID([]byte(aNew))
	n, test := blobID([]byte(added)), blobID([]byte(testText))
	text := head("vllm/a.py", a, aPatched) + "@@ -2 +2 @@\n-two\n+TWO\n" +
		head("vllm/sub/n.py", absentBlob, n) + "@@ -0,0 +1 @@\n+" + added +
		head("tests/v1/test_n.py", absentBlob, test) + "@@ -0,0 +1 @@\n+" + testText
	diffs, err := parseDiffs("small.patch", []byte(text))
	require.NoError(t, err)
	return Revision{
		ID: "small", Commit: blobA, VLLM: "0.0.1",
		Files: []File{
			{"vllm/a.py", a, aPatched}, {"vllm/sub/n.py", "", n}, {"tests/v1/test_n.py", "", test},
		},
		patches:  []patchFile{{"small.patch", []byte(text), diffs}},
		required: map[string]string{"vllm/a.py": a, "vllm/sub/other.py": blobID([]byte(other))},
	}
}

// smallPackage is a package that smallRevision fits, with a native library,
// byte code, a link and a neighbour.
func smallPackage(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "site-packages")
	files := map[string]string{
		"vllm/a.py":                                  aOld,
		"vllm/__pycache__/a.cpython-311.pyc":         "byte code of a",
		"vllm/sub/other.py":                          other,
		"vllm/sub/__pycache__/other.cpython-311.pyc": "byte code of other",
		"vllm/sub/_C.so":                             "native",
		"torch/t.py":                                 "t",
	}
	for name, text := range files {
		write(t, filepath.Join(dir, name), text)
	}
	require.NoError(t, os.Symlink("sub/other.py", filepath.Join(dir, "vllm/alias.py")))
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

// snapshot is what a folder contains: kind, time of change and content.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		require.NoError(t, err)
		data, err := os.ReadFile(path)
		all[path] = info.Mode().String() + " " + info.ModTime().Format(time.RFC3339Nano) + " " + string(data)
		return err
	}))
	return all
}

func states(tree Tree) map[string]State {
	all := map[string]State{}
	for _, f := range tree.Files {
		all[f.Path] = f.State
	}
	return all
}

func TestBuildTree(t *testing.T) {
	r, src := smallRevision(t), smallPackage(t)
	before := snapshot(t, src)
	out := filepath.Join(t.TempDir(), "tree")
	tree, err := BuildTree(r, src, out)
	require.NoError(t, err)
	assert.Equal(t, Applied, tree.State)
	assert.Equal(t, out, tree.Root)
	assert.Equal(t, before, snapshot(t, src), "the source changed")

	content := map[string]string{}
	for path, text := range snapshot(t, out) {
		rel, err := filepath.Rel(out, path)
		require.NoError(t, err)
		content[rel] = text[strings.LastIndex(text, " ")+1:]
	}
	assert.ElementsMatch(t, []string{
		".opprof-tree", "vllm/a.py", "vllm/alias.py", "vllm/sub/n.py", "vllm/sub/other.py", "vllm/sub/_C.so",
		"vllm/sub/__pycache__/other.cpython-311.pyc", "tests/v1/test_n.py",
	}, keys(content))
	assert.Equal(t, aNew, content["vllm/a.py"])
	assert.Equal(t, added, content["vllm/sub/n.py"])
	assert.Equal(t, other, content["vllm/alias.py"])
	assert.True(t, sameFile(t, out, src, "vllm/sub/other.py"), "not a hard link")
	assert.False(t, sameFile(t, out, src, "vllm/a.py"))
	link, err := os.Readlink(filepath.Join(out, "vllm/sub/_C.so"))
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(src, "vllm/sub/_C.so"), link)
	assert.Equal(t, []string{"tree"}, names(t, filepath.Dir(out)), "something was left behind")
}

func keys(m map[string]string) []string {
	var all []string
	for k := range maps.Keys(m) {
		all = append(all, k)
	}
	return all
}

func sameFile(t *testing.T, a, b, name string) bool {
	t.Helper()
	one, err := os.Lstat(filepath.Join(a, name))
	require.NoError(t, err)
	two, err := os.Lstat(filepath.Join(b, name))
	require.NoError(t, err)
	return os.SameFile(one, two)
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestBuildTreeOfNone(t *testing.T) {
	r := smallRevision(t)
	none := Revision{ID: None, required: r.required}
	out := filepath.Join(t.TempDir(), "tree")
	tree, err := BuildTree(none, smallPackage(t), out)
	require.NoError(t, err)
	assert.Equal(t, Pristine, tree.State)
	assert.FileExists(t, filepath.Join(out, "vllm/__pycache__/a.cpython-311.pyc"))
	assert.NoFileExists(t, filepath.Join(out, "vllm/sub/n.py"))
	// A tree is a source like any other.
	tree, err = BuildTree(r, out, filepath.Join(t.TempDir(), "second"))
	require.NoError(t, err)
	assert.Equal(t, Applied, tree.State)
}

func TestCopyKeepsTheTimeThatByteCodeIsCheckedBy(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "a.py"), filepath.Join(dir, "b.py")
	write(t, from, aOld)
	stamp := time.Unix(1_700_000_000, 0)
	require.NoError(t, os.Chtimes(from, stamp, stamp))
	l := linker{copies: true}
	require.NoError(t, l.hardLink(from, to))
	info, err := os.Stat(to)
	require.NoError(t, err)
	assert.True(t, info.ModTime().Equal(stamp))
	source, err := os.Stat(from)
	require.NoError(t, err)
	assert.False(t, os.SameFile(source, info))
}

func TestBuildTreeReplacesOnlyItsOwn(t *testing.T) {
	r, src := smallRevision(t), smallPackage(t)
	out := filepath.Join(t.TempDir(), "tree")
	write(t, filepath.Join(out, "precious"), "text")
	_, err := BuildTree(r, src, out)
	assert.ErrorContains(t, err, "was not made by this tool")
	assert.Equal(t, []string{"precious"}, names(t, out))

	write(t, filepath.Join(out, marker), "old\n")
	_, err = BuildTree(r, src, out)
	require.NoError(t, err)
	assert.NoFileExists(t, filepath.Join(out, "precious"))
	assert.Equal(t, []string{"tree"}, names(t, filepath.Dir(out)))
}

// An earlier tree stays as it was when the new one cannot be built.
func TestBuildTreeIsAllOrNothing(t *testing.T) {
	r, src := smallRevision(t), smallPackage(t)
	out := filepath.Join(t.TempDir(), "tree")
	_, err := BuildTree(r, src, out)
	require.NoError(t, err)
	before := snapshot(t, out)

	r.patches[0].diffs[0].hunks[0].added = []string{"wrong\n"}
	_, err = BuildTree(r, src, out)
	assert.ErrorContains(t, err, "is foreign after applying small: [vllm/a.py (foreign)]")
	r.patches[0].diffs[0].hunks[0].removed = []string{"2\n"}
	_, err = BuildTree(r, src, out)
	assert.ErrorContains(t, err, `small.patch:6: vllm/a.py:2: have "two\n", want "2\n"`)
	assert.Equal(t, before, snapshot(t, out))
	assert.Equal(t, []string{"tree"}, names(t, filepath.Dir(out)))
}

func TestBuildTreeRefusesItsSource(t *testing.T) {
	r, src := smallRevision(t), smallPackage(t)
	_, err := BuildTree(r, src, filepath.Join(src, "vllm/sub/tree"))
	assert.ErrorContains(t, err, "lies inside the source")
	_, err = BuildTree(r, src, src)
	assert.ErrorContains(t, err, "was not made by this tool")
	_, err = BuildTree(r, src, filepath.Join(src, "no", "tree"))
	assert.ErrorContains(t, err, "there is no folder "+filepath.Join(src, "no")+" to make it in; create that first")
}

func TestVerify(t *testing.T) {
	a, n, test, o := "vllm/a.py", "vllm/sub/n.py", "tests/v1/test_n.py", "vllm/sub/other.py"
	tests := map[string]struct {
		files map[string]string // written; "" removes
		state State
		want  map[string]State
		wrong string
	}{
		"pristine package": {nil, Pristine, map[string]State{a: Pristine, n: Pristine, test: NotInTree, o: Pristine}, ""},
		"pristine clone": {map[string]string{"tests/v1/conftest.py": ""}, Pristine,
			map[string]State{a: Pristine, n: Pristine, test: Pristine, o: Pristine}, ""},
		"applied package": {map[string]string{a: aNew, n: added}, Applied,
			map[string]State{a: Applied, n: Applied, test: NotInTree, o: Pristine}, ""},
		"applied clone": {map[string]string{a: aNew, n: added, test: testText}, Applied,
			map[string]State{a: Applied, n: Applied, test: Applied, o: Pristine}, ""},
		"half": {map[string]string{a: aNew}, Foreign,
			map[string]State{a: Applied, n: Pristine, test: NotInTree, o: Pristine}, n + " (pristine)"},
		"clone without test": {map[string]string{a: aNew, n: added, "tests/v1/x": "x"}, Foreign,
			map[string]State{a: Applied, n: Applied, test: Pristine, o: Pristine}, test + " (pristine)"},
		"one byte": {map[string]string{a: "one\ntwo \n"}, Foreign,
			map[string]State{a: Foreign, n: Pristine, test: NotInTree, o: Pristine}, a + " (foreign)"},
		"other version below": {map[string]string{o: "new\n"}, Foreign,
			map[string]State{a: Pristine, n: Pristine, test: NotInTree, o: Foreign}, o + " (foreign)"},
		"name taken": {map[string]string{n: "mine\n"}, Foreign,
			map[string]State{a: Pristine, n: Foreign, test: NotInTree, o: Pristine}, n + " (foreign)"},
		"missing": {map[string]string{a: ""}, Foreign,
			map[string]State{a: Missing, n: Pristine, test: NotInTree, o: Pristine}, a + " (missing)"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r, src := smallRevision(t), smallPackage(t)
			for name, text := range tt.files {
				write(t, filepath.Join(src, name), text)
				if text == "" && !strings.HasPrefix(name, "tests/") {
					require.NoError(t, os.Remove(filepath.Join(src, name)))
				}
			}
			tree, err := Verify(r, src)
			require.NoError(t, err)
			assert.Equal(t, tt.state, tree.State)
			assert.Equal(t, tt.want, states(tree))
			if tt.state == Foreign {
				assert.Contains(t, tree.Wrong(), tt.wrong)
			}
			_, err = BuildTree(r, src, filepath.Join(t.TempDir(), "tree"))
			if tt.state == Pristine {
				assert.NoError(t, err)
			} else {
				assert.ErrorIs(t, err, ErrForeign)
			}
		})
	}
}

func TestVerifyNeedsAPackage(t *testing.T) {
	r, src := smallRevision(t), smallPackage(t)
	_, err := Verify(r, filepath.Join(src, "vllm"))
	assert.ErrorContains(t, err, "contains no folder vllm: give "+src)
	_, err = Verify(r, t.TempDir())
	assert.ErrorContains(t, err, "give a site-packages folder or a clone")
	require.NoError(t, os.Remove(filepath.Join(src, "vllm/a.py")))
	require.NoError(t, os.Mkdir(filepath.Join(src, "vllm/a.py"), 0o755))
	_, err = Verify(r, src)
	assert.ErrorContains(t, err, "is a directory")
}

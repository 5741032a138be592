package patches

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A tree is one revision as a whole or foreign, whatever single files look like.
func TestInspect(t *testing.T) {
	const aSecond = "zero\none\ntwo\n"
	a, n, m, o := "vllm/a.py", "vllm/sub/n.py", "vllm/sub/m.py", "vllm/sub/other.py"
	for name, c := range map[string]struct {
		files    map[string]string // written; "" removes
		state    State
		revision string
		wrong    string // one of Wrong
	}{
		"pristine":         {nil, Pristine, "", ""},
		"first":            {map[string]string{a: aNew, n: added}, Applied, "small", ""},
		"first, a clone":   {map[string]string{a: aNew, n: added, "tests/v1/test_n.py": testText}, Applied, "small", ""},
		"clone, no test":   {map[string]string{a: aNew, n: added, "tests/v1/x.py": "x"}, Foreign, "", a + " (of small)"},
		"second":           {map[string]string{a: aSecond, m: "more\n"}, Applied, "second", ""},
		"half":             {map[string]string{a: aNew}, Foreign, "", a + " (of small)"},
		"first and more":   {map[string]string{a: aNew, n: added, m: "more\n"}, Foreign, "", m + " (of second)"},
		"mixed":            {map[string]string{a: aSecond, n: added}, Foreign, "", "not all files of one revision"},
		"only an addition": {map[string]string{n: added}, Foreign, "", n + " (of small)"},
		"another version":  {map[string]string{o: "new\n"}, Foreign, "", o + " (foreign)"},
		"name taken":       {map[string]string{m: "mine\n"}, Foreign, "", m + " (foreign)"},
		"missing":          {map[string]string{a: ""}, Foreign, "", a + " (missing)"},
	} {
		t.Run(name, func(t *testing.T) {
			src := smallPackage(t)
			for path, text := range c.files {
				write(t, filepath.Join(src, path), text)
				if text == "" {
					require.NoError(t, os.Remove(filepath.Join(src, path)))
				}
			}
			s, err := inspect(smallList(t), src)
			require.NoError(t, err)
			assert.Equal(t, c.state, s.State, "%+v", s.Files)
			assert.Equal(t, c.revision, s.Revision)
			if c.wrong == "" {
				assert.Empty(t, s.Wrong())
			} else {
				assert.Contains(t, s.Wrong(), c.wrong)
			}
		})
	}
}

// smallList is what load would make of the two small revisions.
func smallList(t *testing.T) []Revision {
	small := smallRevision(t)
	return []Revision{{ID: None, Commit: small.Commit, VLLM: small.VLLM, required: small.required}, small, secondRevision(t)}
}

func TestInspectNamesBlobs(t *testing.T) {
	src := smallPackage(t)
	write(t, filepath.Join(src, "vllm/a.py"), aNew)
	s, err := inspect(smallList(t), src)
	require.NoError(t, err)
	var paths []string
	for _, f := range s.Files {
		paths = append(paths, f.Path)
	}
	assert.Equal(t, []string{"tests/v1/test_n.py", "vllm/a.py", "vllm/sub/m.py", "vllm/sub/n.py", "vllm/sub/other.py"}, paths)
	assert.Equal(t, StatusFile{Path: "vllm/a.py", State: Applied, Blob: blobID([]byte(aNew)), Upstream: blobID([]byte(aOld)),
		Revisions: []string{"small"}}, s.Files[1])
	assert.Equal(t, NotInTree, s.Files[0].State)
	assert.Equal(t, StatusFile{Path: "vllm/sub/m.py", State: Pristine}, s.Files[2])
}

func TestInspectNeedsAPackage(t *testing.T) {
	_, err := Inspect(t.TempDir())
	assert.ErrorContains(t, err, "give a site-packages folder or a clone")
	_, err = Inspect(filepath.Join(t.TempDir(), "absent"))
	assert.ErrorContains(t, err, "contains no folder vllm")
}

// Of the embedded revisions, an empty package is foreign, and every file that
// any of them needs is named.
func TestInspectKnowsTheEmbeddedRevisions(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "vllm/__init__.py"), "")
	s, err := Inspect(dir)
	require.NoError(t, err)
	assert.Equal(t, Foreign, s.State)
	assert.Contains(t, s.Wrong(), "vllm/envs.py (missing)")
	assert.Equal(t, "0.24.0", s.VLLM)
	states := map[string]State{}
	for _, f := range s.Files {
		states[f.Path] = f.State
	}
	assert.Equal(t, Pristine, states["vllm/v1/opprof_scheduler.py"])
	assert.Equal(t, NotInTree, states["tests/v1/core/test_opprof.py"])
}

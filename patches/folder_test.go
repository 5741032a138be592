package patches

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// copyRevision puts r1-seed into a folder of its own, edited by change.
func copyRevision(t *testing.T, name string, change func(dir string)) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.CopyFS(dir, os.DirFS(base+"r1-seed")))
	if change != nil {
		change(dir)
	}
	return dir
}

func rewrite(t *testing.T, path, old, new string) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(data), old)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(data), old, new, 1)), 0o644))
}

// A folder gives the same revision as the embedded one, and its id tells it from
// another state of itself.
func TestOpen(t *testing.T) {
	r, err := Open(copyRevision(t, "r1-seed", nil))
	require.NoError(t, err)
	want, err := Find("r1-seed")
	require.NoError(t, err)
	assert.Equal(t, "r1-seed+"+want.SHA256[:12], r.ID)
	assert.Equal(t, want.Series(), r.Series())
	assert.Equal(t, want.Files, r.Files)
	assert.Equal(t, want.required, r.required)
}

// What a pull request brings is checked like what ships: nothing of it reaches a
// tree before it fits.
func TestOpenRefuses(t *testing.T) {
	for _, c := range []struct {
		name, folder, want string
		change             func(dir string)
	}{
		{"not there", "r1-seed", "no such file", func(dir string) { require.NoError(t, os.RemoveAll(dir)) }},
		{"empty", "r1-seed", "meta.json", func(dir string) { require.NoError(t, os.WriteFile(filepath.Join(dir, "meta.json"), nil, 0o644)) }},
		{"renamed", "other", `id "r1-seed" does not fit the folder`, nil},
		{"hostile id", "a b`c", "use small letters", func(dir string) {
			rewrite(t, filepath.Join(dir, "meta.json"), `"id": "r1-seed"`, "\"id\": \"a b`c\"")
		}},
		{"other vLLM", "r1-seed", "UPSTREAM.json has", func(dir string) {
			rewrite(t, filepath.Join(dir, "meta.json"), `"commit": "ee0da84`, `"commit": "1e0da84`)
		}},
		{"edited patch", "r1-seed", "SHA-256", func(dir string) {
			rewrite(t, filepath.Join(dir, "0002-vllm-v1-opprof.patch"), "SCHEMA = 1", "SCHEMA = 2")
		}},
		{"cut patch", "r1-seed", "SHA-256", func(dir string) {
			require.NoError(t, os.Truncate(filepath.Join(dir, "0002-vllm-v1-opprof.patch"), 900))
		}},
		{"no patch", "r1-seed", "no such file", func(dir string) { require.NoError(t, os.Remove(filepath.Join(dir, "0001-vllm-envs.patch"))) }},
		{"no series", "r1-seed", "no such file", func(dir string) { require.NoError(t, os.Remove(filepath.Join(dir, "series"))) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Open(copyRevision(t, c.folder, c.change))
			require.ErrorContains(t, err, c.want)
			assert.NotContains(t, err.Error(), "\n")
		})
	}
}

// A plan is not carried out with another state of the folder than it was made with.
func TestResolve(t *testing.T) {
	dir := copyRevision(t, "r1-seed", nil)
	r, err := Open(dir)
	require.NoError(t, err)
	again, err := Resolve(r.ID, dir)
	require.NoError(t, err)
	assert.Equal(t, r, again)
	_, err = Resolve("r1-seed+000000000000", dir)
	require.ErrorContains(t, err, "holds "+r.ID+", the plan was made with r1-seed+000000000000")
	seed, err := Resolve("r1-seed", "")
	require.NoError(t, err)
	assert.Equal(t, "r1-seed", seed.ID)
}

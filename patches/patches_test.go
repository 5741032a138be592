package patches

import (
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const base = "vllm/ee0da84/"

func TestEmbeddedRevisions(t *testing.T) {
	list := List()
	require.NotEmpty(t, list)
	for _, r := range list {
		assert.NotEqual(t, None, r.ID)
		assert.Equal(t, "0.24.0", r.VLLM)
		assert.True(t, strings.HasPrefix(r.Commit, "ee0da84"), r.Commit)
		assert.Equal(t, hexSHA256(r.Series()), r.SHA256)
		assert.NotEmpty(t, r.Changes, r.ID)
		assert.NotEmpty(t, r.ExpectedCost, r.ID)
		if r.ID == "control-spin" {
			assert.Zero(t, r.SchemaVersion, "it records nothing")
			continue
		}
		assert.Equal(t, 1, r.SchemaVersion, r.ID)
	}
}

func TestSeedRevisionIsTheApprovedFiveFiles(t *testing.T) {
	r, err := Find("r1-seed")
	require.NoError(t, err)
	var paths []string
	added := 0
	for _, f := range r.Files {
		paths = append(paths, f.Path)
		if f.Pre == "" {
			added++
		}
	}
	assert.ElementsMatch(t, []string{
		"vllm/envs.py", "vllm/v1/opprof.py", "vllm/v1/core/sched/scheduler.py",
		"vllm/v1/worker/gpu_model_runner.py", "tests/v1/core/test_opprof.py",
	}, paths)
	assert.Equal(t, 2, added)
	assert.Equal(t, None, r.Parent)
}

// The recorder names its revision and commit in the header of every file.
func TestRecorderNamesItsRevision(t *testing.T) {
	for _, r := range List() {
		if r.SchemaVersion == 0 {
			continue
		}
		recorder := addedFile(t, r, "vllm/v1/opprof.py")
		assert.Contains(t, recorder, "REVISION = \""+r.ID+"\"\n")
		assert.Contains(t, recorder, "COMMIT = \""+r.Commit+"\"\n")
		for _, f := range r.Files {
			if strings.HasPrefix(f.Path, "vllm/") {
				assert.Contains(t, recorder, "    \""+f.Path+"\",\n")
			}
		}
	}
}

// Later recorders fit the same hooks, so only the recorder itself differs.
func TestOnePassRevisionKeepsTheHooks(t *testing.T) {
	r1, err := Find("r1-seed")
	require.NoError(t, err)
	r2, err := Find("r2-onepass")
	require.NoError(t, err)
	assert.Equal(t, r1.ID, r2.Parent)
	require.Len(t, r2.Files, len(r1.Files))
	for i, f := range r2.Files {
		assert.Equal(t, r1.Files[i].Path, f.Path)
		assert.Equal(t, f.Pre != "", f.Post == r1.Files[i].Post, f.Path)
	}
}

// The plugin changes no file of vLLM, and its recorder is its parent's but for
// what names it and where the directory comes from.
func TestPluginIsItsParentsRecorder(t *testing.T) {
	plugin, err := Find("plugin")
	require.NoError(t, err)
	parent, err := Find(plugin.Parent)
	require.NoError(t, err)
	for _, f := range plugin.Files {
		assert.Empty(t, f.Pre, f.Path)
	}
	theirs := strings.Split(addedFile(t, parent, "vllm/v1/opprof.py"), "\n")
	var own []string
	for _, line := range strings.Split(addedFile(t, plugin, "vllm/v1/opprof.py"), "\n") {
		if !slices.Contains(theirs, line) {
			own = append(own, strings.TrimSpace(line))
		}
	}
	assert.Equal(t, []string{
		`REVISION = "plugin"`,
		"# The upstream commit that this revision was made for, and what it adds.",
		`"vllm/v1/opprof_scheduler.py",`,
		`directory = os.environ.get("VLLM_OPPROF_DIR", "")`,
		`"""Git blob ids of the added files of the package that is running."""`,
	}, own)
}

func addedFile(t *testing.T, r Revision, path string) string {
	t.Helper()
	for _, p := range r.patches {
		for _, d := range p.diffs {
			if d.path == path && d.pre == "" {
				data, err := d.apply(nil)
				require.NoError(t, err)
				return string(data)
			}
		}
	}
	require.Fail(t, "no such added file", path)
	return ""
}

func TestFind(t *testing.T) {
	none, err := Find(None)
	require.NoError(t, err)
	assert.Empty(t, none.Files)
	assert.Empty(t, none.Series())
	_, err = Find("r9")
	assert.ErrorContains(t, err, "unknown, use one of [none control-spin plugin r1-seed r2-onepass r3-packed")
}

// copyEmbedded returns a file system that a test may damage.
func copyEmbedded(t *testing.T) fstest.MapFS {
	t.Helper()
	m := fstest.MapFS{}
	require.NoError(t, fs.WalkDir(embedded, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := fs.ReadFile(embedded, name)
		m[name] = &fstest.MapFile{Data: data}
		return err
	}))
	return m
}

func edit(name, old, new string) func(*testing.T, fstest.MapFS) {
	return func(t *testing.T, m fstest.MapFS) {
		t.Helper()
		require.Contains(t, m, name)
		text := string(m[name].Data)
		require.Contains(t, text, old)
		m[name].Data = []byte(strings.Replace(text, old, new, 1))
	}
}

// resealed edits a patch and then makes all SHA-256 sums right again, so that
// the checks behind them are reached.
func resealed(name, old, new string) func(*testing.T, fstest.MapFS) {
	return func(t *testing.T, m fstest.MapFS) {
		t.Helper()
		edit(name, old, new)(t, m)
		dir := path.Dir(name)
		var v map[string]any
		require.NoError(t, json.Unmarshal(m[dir+"/meta.json"].Data, &v))
		var all []byte
		for _, p := range v["patches"].([]any) {
			p := p.(map[string]any)
			text := m[dir+"/"+p["name"].(string)].Data
			p["sha256"] = hexSHA256(text)
			all = append(all, text...)
		}
		v["series_sha256"] = hexSHA256(all)
		data, err := json.Marshal(v)
		require.NoError(t, err)
		m[dir+"/meta.json"].Data = data
	}
}

func remove(name string) func(*testing.T, fstest.MapFS) {
	return func(t *testing.T, m fstest.MapFS) {
		t.Helper()
		require.Contains(t, m, name)
		delete(m, name)
	}
}

func TestEveryCheckOfTheDataFires(t *testing.T) {
	const (
		meta  = base + "r1-seed/meta.json"
		envs  = base + "r1-seed/0001-vllm-envs.patch"
		added = base + "r1-seed/0002-vllm-v1-opprof.patch"
		up    = base + "UPSTREAM.json"
	)
	seed, err := Find("r1-seed")
	require.NoError(t, err)
	tests := map[string]struct {
		damage func(*testing.T, fstest.MapFS)
		want   string
	}{
		"no upstream":         {remove(up), "want one UPSTREAM.json"},
		"other folder":        {edit(up, seed.Commit, strings.Repeat("a", 40)), "does not fit the folder"},
		"short commit":        {edit(up, seed.Commit, seed.Commit[:12]), "does not fit the folder"},
		"unknown key":         {edit(meta, `"status"`, `"state"`), "unknown field"},
		"two values":          {edit(up, "{", "{}{"), "more than one JSON value"},
		"cut meta":            {edit(meta, `"series_sha256"`, ""), meta},
		"other id":            {edit(meta, `"id": "r1-seed"`, `"id": "r1"`), "does not fit the folder"},
		"other commit":        {edit(meta, seed.Commit, strings.Repeat("b", 40)), "UPSTREAM.json has"},
		"unknown parent":      {edit(meta, `"parent": "none"`, `"parent": "r0"`), "is no other revision"},
		"own parent":          {edit(meta, `"parent": "none"`, `"parent": "r1-seed"`), "is no other revision"},
		"no series":           {remove(base + "r1-seed/series"), "series"},
		"short series":        {edit(base+"r1-seed/series", "0001-vllm-envs.patch\n", ""), "series: lists"},
		"no patch file":       {remove(envs), "0001-vllm-envs.patch"},
		"edited patch":        {edit(envs, "Unset", "unset"), "SHA-256 is"},
		"edited series sum":   {edit(meta, seed.SHA256, strings.Repeat("0", 64)), "series has SHA-256"},
		"edited new file":     {resealed(added, "MAX_PENDING_STEPS = 1024", "MAX_PENDING_STEPS = 1025"), "adds blob"},
		"other pre blob":      {resealed(envs, "index 27a85bb3", "index 27a85bb4"), "meta.json has"},
		"other post blob":     {edit(meta, `"post": "`+seed.Files[0].Post[:4], `"post": "0000`), "meta.json has"},
		"other upstream blob": {edit(up, `"vllm/envs.py": "27a8`, `"vllm/envs.py": "0000`), "UPSTREAM.json has"},
		"unlisted file":       {edit(meta, `"path": "vllm/envs.py"`, `"path": "vllm/env.py"`), "is not, or no longer"},
		"listed, no patch":    {edit(meta, `"files": [`, `"files": [{"path":"vllm/x.py","pre":"","post":""},`), "no patch for [vllm/x.py]"},
		"hunk count":          {resealed(added, "@@ -0,0 +1,", "@@ -0,0 +1,1"), "its head says"},
		"context":             {resealed(envs, "@@ -248,0 +249 @@\n", "@@ -248,0 +249 @@ if TYPE_CHECKING:\n"), "without anything after"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := copyEmbedded(t)
			_, err := load(m)
			require.NoError(t, err)
			test.damage(t, m)
			_, err = load(m)
			assert.ErrorContains(t, err, test.want)
		})
	}
}

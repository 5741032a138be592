package bench

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Which commit a binary is of, by every way in which one can be built: two
// binaries of one version are of one source.
func TestBuildOf(t *testing.T) {
	const commit = "7170bf8a1b2c3d4e5f60718293a4b5c6d7e8f901"
	checkout := []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: commit}}
	clean := append(checkout[:2:2], debug.BuildSetting{Key: "vcs.modified", Value: "false"})
	edited := append(checkout[:2:2], debug.BuildSetting{Key: "vcs.modified", Value: "true"})
	for _, c := range []struct {
		name, module string
		settings     []debug.BuildSetting
		want         build
	}{
		{"checkout", "v0.0.0-20261204101500-7170bf8a1b2c", clean, build{Version: "0.1.0+7170bf8a1b2c", Commit: commit}},
		{"edited checkout", "v0.0.0-20261204101500-7170bf8a1b2c+dirty", edited,
			build{Version: "0.1.0+7170bf8a1b2c.dirty", Commit: commit, Dirty: true}},
		{"checkout of a tag", "v0.2.0", clean, build{Version: "0.1.0+7170bf8a1b2c", Commit: commit}},
		{"go install @main", "v0.0.0-20261204101500-7170bf8a1b2c", nil,
			build{Version: "0.1.0+7170bf8a1b2c", Commit: "7170bf8a1b2c"}},
		{"go install after a tag", "v0.2.1-0.20261204101500-7170bf8a1b2c", nil,
			build{Version: "0.1.0+7170bf8a1b2c", Commit: "7170bf8a1b2c"}},
		{"go install of a tag", "v0.2.0", nil, build{Version: "0.2.0", Commit: "unknown"}},
		{"no git", "(devel)", []debug.BuildSetting{{Key: "CGO_ENABLED", Value: "0"}},
			build{Version: "0.1.0+unknown", Commit: "unknown"}},
		{"no information", "", nil, build{Version: "0.1.0+unknown", Commit: "unknown"}},
	} {
		info := &debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Version: c.module}, Settings: c.settings}
		c.want.Go = "go1.26.0"
		assert.Equal(t, c.want, buildOf(info), c.name)
	}
}

// A binary that is built as make build does it names the commit of the checkout.
func TestBuiltBinaryNamesItsCommit(t *testing.T) {
	if git, err := os.Stat("../.git"); err != nil || !git.IsDir() {
		t.Skip("the go command knows no commit of an archive or of a linked worktree")
	}
	head, err := exec.Command("git", "rev-parse", "HEAD").Output()
	require.NoError(t, err)
	makefile, err := os.ReadFile("../Makefile")
	require.NoError(t, err)
	assert.Contains(t, string(makefile), "go build -buildvcs=auto -o bin/opbench ./bench/opbench\n")
	path := filepath.Join(t.TempDir(), "opbench")
	out, err := exec.Command("go", "build", "-buildvcs=auto", "-o", path, "./opbench").CombinedOutput()
	require.NoError(t, err, string(out))
	out, err = exec.Command(path, "version", "--json").Output()
	require.NoError(t, err)
	var b build
	require.NoError(t, json.Unmarshal(out, &b))
	assert.Equal(t, strings.TrimSpace(string(head)), b.Commit)
	assert.True(t, strings.HasPrefix(b.Version, release+"+"+b.Commit[:12]), b.Version)
	assert.Equal(t, b.Dirty, strings.HasSuffix(b.Version, ".dirty"))
}

// A report made now says which opbench made it, not which one measured.
func TestReportIsOfTheOpbenchThatMakesIt(t *testing.T) {
	var out bytes.Buffer
	a := &app{stdout: &out, stderr: &out, build: testBuild}
	require.Zero(t, a.main([]string{"report", "--format", "json", "../results/campaigns/h200-r2"}), out.String())
	var v struct{ Tool string }
	require.NoError(t, json.Unmarshal(out.Bytes(), &v))
	assert.Equal(t, version, v.Tool)
}

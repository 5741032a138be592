package bench

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/page"
	"github.com/aituner/opprof/report/render"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// maxPage bounds a page, whatever the number of requests and steps behind it.
const maxPage = 300 << 10

// maxVerdict bounds verdict.json: it has every run's summaries and the points of
// the plots, and no request.
const maxVerdict = 1_000_000

func publishedCampaigns(t *testing.T) []string {
	t.Helper()
	archives, err := filepath.Glob("../results/campaigns/*/" + results.ArchiveName)
	require.NoError(t, err)
	require.NotEmpty(t, archives)
	var dirs []string
	for _, file := range archives {
		dirs = append(dirs, filepath.Dir(file))
	}
	return dirs
}

// judgedBy is the opbench that a published verdict says it is of: its reports are
// rendered again when their content changes, not with every commit.
func judgedBy(t *testing.T, dir string) *app {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "verdict.json"))
	require.NoError(t, err)
	var v struct{ Tool string }
	require.NoError(t, json.Unmarshal(data, &v))
	require.NotEmpty(t, v.Tool, dir)
	return &app{build: build{Version: v.Tool}}
}

// publishedVerdicts is what gate said of each published campaign when it was
// published, from the folder that was measured.
var publishedVerdicts = map[string]struct {
	result string
	code   int
}{
	"h200-r2":                 {"PASS", 0},
	"vllm-cpu-aa":             {"INCONCLUSIVE", 11},
	"vllm-cpu-azure":          {"INCONCLUSIVE", 11},
	"vllm-cpu-control":        {"INCONCLUSIVE(control)", 11}, // published as PASS(control), under rules 2
	"vllm-cpu-interleaved-aa": {"INCONCLUSIVE", 11},
	"vllm-cpu-noop":           {"INCONCLUSIVE", 11},
	"vllm-cpu-r1":             {"INCONCLUSIVE", 11},
	"vllm-cpu-revisions":      {"INCONCLUSIVE", 11},
	"vllm-cpu-second-aa":      {"INCONCLUSIVE", 11},
}

// The gate gives every published campaign the verdict and the exit code of its
// publication, whatever has become of archives, readers and rules.
func TestGateOfPublishedCampaigns(t *testing.T) {
	dirs := publishedCampaigns(t)
	assert.Len(t, dirs, len(publishedVerdicts))
	for _, dir := range dirs {
		want, ok := publishedVerdicts[filepath.Base(dir)]
		require.True(t, ok, "%s: write its verdict into the table", dir)
		var out, log bytes.Buffer
		a := &app{stdout: &out, stderr: &log}
		assert.Equal(t, want.code, a.main([]string{"gate", dir}), "%s: %s", dir, log.String())
		result, _, _ := strings.Cut(out.String(), "  ")
		assert.Equal(t, want.result, result, dir)
	}
}

// A published folder holds its archive and what is read without opbench: pages are
// made where they are looked at, and every other file would be a clone's burden.
func TestPublishedFoldersHoldFewFiles(t *testing.T) {
	for _, dir := range publishedCampaigns(t) {
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, e := range entries {
			known := slices.Contains([]string{results.ArchiveName, "report.md", "verdict.json", "report.html"}, e.Name())
			assert.True(t, known || strings.HasPrefix(e.Name(), "compare-"), "%s/%s", dir, e.Name())
		}
	}
}

// Every published report is what its measured files give, byte for byte.
func TestPublishedCampaignsRenderAgain(t *testing.T) {
	for _, dir := range publishedCampaigns(t) {
		_, v, err := judgedBy(t, dir).judge(dir)
		require.NoError(t, err, dir)
		assert.True(t, v.Finished, dir)
		for name, write := range map[string]func(io.Writer, *view.View) error{
			"verdict.json": view.WriteJSON[*view.View], "report.md": render.WriteMarkdown, "report.html": page.Write,
		} {
			var b bytes.Buffer
			require.NoError(t, write(&b, v))
			if name == "report.html" { // made again by whoever looks at it
				assert.Less(t, b.Len(), maxPage, "%s: the page has %d bytes", dir, b.Len())
				continue
			}
			assert.True(t, name != "verdict.json" || b.Len() < maxVerdict, "%s: the verdict has %d bytes", dir, b.Len())
			want, err := os.ReadFile(filepath.Join(dir, name))
			require.NoError(t, err)
			assert.Equal(t, string(want), b.String(), "%s/%s: render it again with opbench report", dir, name)
		}
	}
}

// A published comparison of arms, compare-BASELINE-CANDIDATE.txt, is what opbench
// compare says of the campaign beside it.
func TestPublishedComparisonsRenderAgain(t *testing.T) {
	files, err := filepath.Glob("../results/campaigns/*/compare-*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, path := range files {
		arms := strings.Split(strings.TrimSuffix(filepath.Base(path), ".txt"), "-")
		require.Len(t, arms, 3, path)
		dir := filepath.Dir(path)
		f := compareFlags{baseline: arms[1], candidate: arms[2]}
		r, err := f.compare([]string{dir}, judgedBy(t, dir).build.Version)
		require.NoError(t, err, path)
		var b bytes.Buffer
		require.NoError(t, render.WriteRevisions(&b, r))
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, string(want), b.String(), path)
	}
}

// machinePath is a path below somebody's home or work directory.
var machinePath = regexp.MustCompile(`(^|[^\w.}~-])/(home|root|work|Users|tmp)/\w`)

// pathOf is the first such path. Most files have no such folder at all, which a search
// for plain text sees ten times faster than the pattern.
func pathOf(data []byte) string {
	for _, folder := range []string{"/home/", "/root/", "/work/", "/Users/", "/tmp/"} {
		if bytes.Contains(data, []byte(folder)) {
			return string(machinePath.Find(data))
		}
	}
	return ""
}

func TestPublishedCampaignsAreSmallAndNameNoMachine(t *testing.T) {
	for _, dir := range publishedCampaigns(t) {
		archive, err := os.ReadFile(filepath.Join(dir, results.ArchiveName))
		require.NoError(t, err)
		assert.Less(t, len(archive), results.MaxArchive, dir)
		for name, data := range archived(t, archive) {
			if strings.HasSuffix(name, ".zst") {
				data = unpack(t, data)
			}
			assert.Empty(t, pathOf(data), "%s: %s", dir, name)
		}
		for _, name := range []string{"report.md", "verdict.json"} {
			data, err := os.ReadFile(filepath.Join(dir, name))
			require.NoError(t, err)
			assert.Empty(t, pathOf(data), "%s: %s", dir, name)
		}
	}
}

// archived are the files of an archive as any tar gives them, by name.
func archived(t *testing.T, archive []byte) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for r := tar.NewReader(bytes.NewReader(unpack(t, archive))); ; {
		h, err := r.Next()
		if err == io.EOF {
			require.NotEmpty(t, files)
			return files
		}
		require.NoError(t, err)
		files[h.Name], err = io.ReadAll(r)
		require.NoError(t, err)
	}
}

func unpack(t *testing.T, data []byte) []byte {
	t.Helper()
	r, err := zstd.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	defer r.Close()
	plain, err := io.ReadAll(r)
	require.NoError(t, err)
	return plain
}

// fewBlocks are the campaigns that were published before ten blocks were asked for.
var fewBlocks = []string{
	"h200-r2", "vllm-cpu-aa", "vllm-cpu-azure", "vllm-cpu-control", "vllm-cpu-interleaved-aa",
	"vllm-cpu-noop", "vllm-cpu-r1", "vllm-cpu-revisions", "vllm-cpu-second-aa",
}

// Ten blocks exclude that three starts in ten are bad ones, six not even that every
// second is: what is published from now on has ten of two arms, twelve of more.
func TestPublishedCampaignsHaveTenBlocks(t *testing.T) {
	for _, dir := range publishedCampaigns(t) {
		p, err := results.ReadPlan(dir)
		require.NoError(t, err)
		assert.False(t, tooFewToPublish(filepath.Base(dir), p), "%s: plan more blocks", dir)
	}
	for _, c := range []struct {
		purpose      scenarios.Purpose
		arms, blocks int
		few          bool
	}{
		{scenarios.Overhead, 2, 8, true}, {scenarios.Overhead, 2, 10, false}, {scenarios.AA, 2, 6, true},
		{scenarios.Overhead, 3, 10, true}, {scenarios.Overhead, 4, 12, false}, {scenarios.Control, 2, 6, false},
		{scenarios.Correctness, 2, 1, false},
	} {
		p := &results.Plan{Scenario: scenarios.Scenario{Purpose: c.purpose, Arms: make([]scenarios.Arm, c.arms)}}
		p.Scenario.Design.Blocks = c.blocks
		assert.Equal(t, c.few, tooFewToPublish("new", p), "%+v", c)
	}
}

func tooFewToPublish(name string, p *results.Plan) bool {
	s := &p.Scenario
	if s.Purpose != scenarios.Overhead && s.Purpose != scenarios.AA || slices.Contains(fewBlocks, name) {
		return false
	}
	return s.Design.Blocks < 10 || len(s.Arms) > 2 && s.Design.Blocks < 12
}

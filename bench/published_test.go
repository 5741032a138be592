package main

import (
	"archive/tar"
	"bytes"
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

	"github.com/aituner/opprof/report"
	"github.com/aituner/opprof/results"
)

// maxPage bounds a page, whatever the number of requests and steps behind it.
const maxPage = 300 << 10

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

// publishedVerdicts is what gate said of each published campaign when it was
// published, from the folder that was measured.
var publishedVerdicts = map[string]struct {
	result string
	code   int
}{
	"h200-r2":                 {"PASS", 0},
	"vllm-cpu-aa":             {"INCONCLUSIVE", 11},
	"vllm-cpu-azure":          {"INCONCLUSIVE", 11},
	"vllm-cpu-control":        {"PASS(control)", 0},
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
		v, err := buildView(dir)
		require.NoError(t, err, dir)
		assert.True(t, v.Finished, dir)
		for name, render := range map[string]func(io.Writer, *report.View) error{
			"verdict.json": report.WriteJSON, "report.md": report.WriteMarkdown, "report.html": report.WriteHTML,
		} {
			var b bytes.Buffer
			require.NoError(t, render(&b, v))
			if name == "report.html" { // made again by whoever looks at it
				assert.Less(t, b.Len(), maxPage, "%s: the page has %d bytes", dir, b.Len())
				continue
			}
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
		r, err := (&compareFlags{baseline: arms[1], candidate: arms[2]}).compare([]string{filepath.Dir(path)})
		require.NoError(t, err, path)
		var b bytes.Buffer
		require.NoError(t, report.WriteComparison(&b, r))
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, string(want), b.String(), path)
	}
}

// homePath begins like a path below somebody's home or work directory. That it
// begins with a slash keeps the search fast: step records have hardly any.
var homePath = regexp.MustCompile(`/(home|root|work|Users|tmp)/\w`)

// machinePath finds such a path, or "": one that goes on from a word, a dot or a
// placeholder is part of another path.
func machinePath(data []byte) string {
	for _, at := range homePath.FindAllIndex(data, -1) {
		if at[0] == 0 || !regexp.MustCompile(`[\w.}~-]`).Match(data[at[0]-1:at[0]]) {
			return string(data[at[0]:at[1]])
		}
	}
	return ""
}

func TestMachinePath(t *testing.T) {
	for text, want := range map[string]string{
		"/home/u/x": "/home/u", "cd /tmp/x": "/tmp/x", `"/work/run"`: "/work/r", "=/Users/me": "/Users/m",
		"{cwd}/home/u": "", "~/work/x": "", "lib/tmp/x": "", "../work/x": "", "/homes/u": "", "/tmp/": "", "": "",
		"lib/tmp/x and /root/x": "/root/x",
	} {
		assert.Equal(t, want, machinePath([]byte(text)), "%q", text)
	}
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
			assert.Empty(t, machinePath(data), "%s: %s", dir, name)
		}
		for _, name := range []string{"report.md", "verdict.json"} {
			data, err := os.ReadFile(filepath.Join(dir, name))
			require.NoError(t, err)
			assert.Empty(t, machinePath(data), "%s: %s", dir, name)
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

package main

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report"
)

// maxPublished bounds what a published campaign adds to every clone.
const maxPublished = 15 << 20

// maxPage bounds a page, whatever the number of requests and steps behind it.
const maxPage = 300 << 10

// maxVerdict bounds verdict.json: it has every run's summaries, and no request.
const maxVerdict = 1_000_000

func publishedCampaigns(t *testing.T) []string {
	t.Helper()
	plans, err := filepath.Glob("../results/campaigns/*/plan.json")
	require.NoError(t, err)
	require.NotEmpty(t, plans)
	var dirs []string
	for _, p := range plans {
		dirs = append(dirs, filepath.Dir(p))
	}
	return dirs
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
			assert.True(t, name != "report.html" || b.Len() < maxPage, "%s: the page has %d bytes", dir, b.Len())
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
		r, err := (&compareFlags{baseline: arms[1], candidate: arms[2]}).compare([]string{filepath.Dir(path)})
		require.NoError(t, err, path)
		var b bytes.Buffer
		require.NoError(t, report.WriteComparison(&b, r))
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, string(want), b.String(), path)
	}
}

// machinePath is a path below somebody's home or work directory.
var machinePath = regexp.MustCompile(`(^|[^\w.}~-])/(home|root|work|Users|tmp)/\w`)

func TestPublishedCampaignsAreSmallAndNameNoMachine(t *testing.T) {
	for _, dir := range publishedCampaigns(t) {
		var size int64
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			size += int64(len(data))
			if strings.HasSuffix(path, ".zst") {
				data = unpack(t, data)
			}
			assert.Empty(t, string(machinePath.Find(data)), path)
			return nil
		})
		require.NoError(t, err)
		assert.Less(t, size, int64(maxPublished), dir)
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

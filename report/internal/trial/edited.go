package trial

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/metrics"
)

// Unpack makes a run directory of a published campaign.
func Unpack(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "results", "campaigns", name, results.ArchiveName))
	require.NoError(t, err)
	defer f.Close()
	z, err := zstd.NewReader(f)
	require.NoError(t, err)
	defer z.Close()
	dir := filepath.Join(t.TempDir(), name)
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		require.NoError(t, err)
		data, err := io.ReadAll(r)
		require.NoError(t, err)
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, data, 0o644))
	}
}

// Forge edits the runs in a copy of a campaign's run directory and seals them again,
// as one does who does not wish to be found out. c is the campaign as it was; edit
// gets runs of its own and reports whether it changed one.
func Forge(t *testing.T, dir string, c *results.Campaign, edit func(a *results.Attempt) bool) {
	t.Helper()
	sums := map[results.Key]string{}
	for _, a := range c.Attempts {
		run := *a.Run
		run.Phases = slices.Clone(run.Phases)
		a.Run, a.Requests = &run, slices.Clone(a.Requests)
		if !edit(&a) {
			continue
		}
		files, err := results.RunFiles(&a)
		require.NoError(t, err)
		path := results.RunPath(dir, a.Key)
		for name, data := range files {
			require.NoError(t, os.WriteFile(filepath.Join(path, name), data, 0o644))
		}
		sums[a.Key], err = results.Seal(path)
		require.NoError(t, err)
	}
	require.NotEmpty(t, sums, "nothing was edited")
	vouch(t, dir, sums)
}

// vouch lets the ledger have other seals.
func vouch(t *testing.T, dir string, sums map[results.Key]string) {
	t.Helper()
	entries, err := results.ReadLedger(results.LedgerPath(dir))
	require.NoError(t, err)
	var ledger bytes.Buffer
	for _, e := range entries {
		if sum, forged := sums[e.Key()]; forged && e.Event == results.EventRunEnd {
			e.SumsSHA256 = sum
		}
		require.NoError(t, json.NewEncoder(&ledger).Encode(e))
	}
	require.NoError(t, os.WriteFile(results.LedgerPath(dir), ledger.Bytes(), 0o644))
}

// Tell puts into run.json what the requests of a run give.
func Tell(a *results.Attempt) {
	byPhase := map[string][]results.Request{}
	for _, r := range a.Requests {
		byPhase[r.Phase] = append(byPhase[r.Phase], r)
	}
	for i := range a.Run.Phases {
		p := &a.Run.Phases[i]
		p.Metrics, p.Undefined = metrics.Compute(metrics.Phase{Requests: byPhase[p.Name], Gaps: p.Gaps})
		p.MeanLive = metrics.MeanLive(byPhase[p.Name])
	}
}

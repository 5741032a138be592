package results

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func sealed(t *testing.T) (dir, sum string) {
	t.Helper()
	dir = t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "steps"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "run.json"), []byte("{}"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "steps", "a.jsonl"), []byte("x\n"), 0o644))
	sum, err := Seal(dir)
	require.NoError(t, err)
	return dir, sum
}

// Every way to change measured data after the run is named.
func TestSealCatches(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(dir string) error
		want   string
	}{
		{"nothing", func(string) error { return nil }, ""},
		{"edited", func(d string) error { return os.WriteFile(filepath.Join(d, "run.json"), []byte("{ }"), 0o644) }, "run.json: checksum"},
		{"removed", func(d string) error { return os.Remove(filepath.Join(d, "steps", "a.jsonl")) }, "steps/a.jsonl: the file is missing"},
		{"added", func(d string) error { return os.WriteFile(filepath.Join(d, "new"), nil, 0o644) }, "new: the file was added"},
		{"sealed again", func(d string) error {
			if err := os.WriteFile(filepath.Join(d, "run.json"), []byte("{ }"), 0o644); err != nil {
				return err
			}
			_, err := Seal(d)
			return err
		}, "the ledger says"},
		{"unsealed", func(d string) error { return os.Remove(filepath.Join(d, sumsFile)) }, "the run is incomplete"},
	} {
		dir, sum := sealed(t)
		require.NoError(t, c.change(dir), c.name)
		err := verifySeal(folder(dir), sum, nil)
		if c.want == "" {
			assert.NoError(t, err, c.name)
			continue
		}
		assert.ErrorContains(t, err, c.want, c.name)
	}
}

// Publishing may leave step files out, but only those that it lists, and what is
// there must still be right.
func TestSealThinned(t *testing.T) {
	thin := map[string]bool{"steps/a.jsonl": true}
	dir, sum := sealed(t)
	require.NoError(t, os.Remove(filepath.Join(dir, "steps", "a.jsonl")))
	assert.NoError(t, verifySeal(folder(dir), sum, thin))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "steps", "a.jsonl"), []byte("y\n"), 0o644))
	assert.ErrorContains(t, verifySeal(folder(dir), sum, thin), "a.jsonl: checksum")
	dir, sum = sealed(t)
	require.NoError(t, os.Remove(filepath.Join(dir, "run.json")))
	assert.ErrorContains(t, verifySeal(folder(dir), sum, thin), "run.json: the file is missing")
}

func TestParseSumsDamage(t *testing.T) {
	for _, text := range []string{"", "abc", "abc  file", "\n", string(make([]byte, 80))} {
		_, err := parseSums("d/SHA256SUMS", []byte(text))
		assert.ErrorContains(t, err, "d/SHA256SUMS:1: not a checksum line", "%q", text)
	}
}

package results

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func someRequests() []Request {
	return []Request{
		{Phase: "wide", Index: 0, Warmup: true, SentNS: 5, FirstNS: 9, CachedTokens: -1, LongGaps: [][2]int64{{1, 2}}},
		{Phase: "wide", Index: 1, SentNS: 1 << 60, Error: "the stream ended before [DONE]"},
	}
}

func TestRequestsRoundTrip(t *testing.T) {
	data, err := encodeRequests(someRequests())
	require.NoError(t, err)
	got, err := decodeRequests("r", bytes.NewReader(data))
	require.NoError(t, err)
	assert.Equal(t, someRequests(), got)
	assert.False(t, got[1].OK())
}

// A file that was cut anywhere is an error, never a shorter list of requests:
// losing the slow ones would make any server look good.
func TestRequestsCutAnywhere(t *testing.T) {
	whole, err := encodeRequests(someRequests())
	require.NoError(t, err)
	for cut := 1; cut < len(whole); cut++ {
		_, err := decodeRequests("r", bytes.NewReader(whole[:cut]))
		assert.ErrorContains(t, err, "r:", "cut at %d of %d", cut, len(whole))
	}
}

func TestRequestsDamaged(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, compress(&b, strings.NewReader("{\"phase\":\"a\"}\n{\"phase\":7}\n")))
	_, err := decodeRequests("r", &b)
	assert.ErrorContains(t, err, "r:2: ")
}

func FuzzRequests(f *testing.F) {
	var b bytes.Buffer
	if err := compress(&b, strings.NewReader("{\"phase\":\"a\"}\n")); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := decodeRequests("r", bytes.NewReader(data))
		if err != nil && got != nil {
			t.Fatalf("requests beside the error %v", err)
		}
	})
}

func TestReadJSON(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ text, want string }{
		{"", ":1: the file is empty"},
		{"{\"schema\": 1,\n \"kind\": 5}", ":2: "},
		{"{} {}", "something follows"},
		{"{\"schema\"", ":1: "},
	} {
		path := filepath.Join(dir, "run.json")
		require.NoError(t, os.WriteFile(path, []byte(c.text), 0o644))
		var run Run
		assert.ErrorContains(t, readJSON(folder(filepath.Dir(path)), filepath.Base(path), &run), c.want, "%q", c.text)
	}
}

func TestWriteFileLeavesNoTemporary(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	require.NoError(t, WriteJSON(path, 1))
	require.NoError(t, WriteJSON(path, 2))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "2\n", string(data))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
	assert.Error(t, WriteFile(filepath.Join(dir, "absent", "b"), nil))
}

func TestCompressFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "server.log")
	require.NoError(t, os.WriteFile(path, []byte("line\n"), 0o644))
	packed, err := CompressFile(path)
	require.NoError(t, err)
	assert.Equal(t, path+".zst", packed)
	assert.NoFileExists(t, path)
	assert.FileExists(t, packed)
}

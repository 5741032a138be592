package steps

import (
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/results"
)

// bothWays reads a line as canonical and as tolerant as the reader can, and
// requires that what canonical takes is a record for both, and the same one.
func bothWays(t require.TestingT, line []byte) (canonically bool) {
	var fast canonical
	var got, want Record
	if !fast.record(line, &got) {
		return false
	}
	c := cursor{line: line}
	require.NoError(t, recordFields.read(&c, &want), "%q", line)
	require.True(t, c.done(), "%q", line)
	require.Empty(t, c.private, "%q", line)
	require.Empty(t, kindOf(line), "%q", line)
	require.Equal(t, want, got, "%q", line)
	return true
}

// The fast path is worth nothing if recorders write something else: every line
// of the seed's recorder and of this package's writer is canonical.
func TestRecordersWriteCanonicalLines(t *testing.T) {
	c, err := results.Load("../campaigns/vllm-cpu-r1")
	require.NoError(t, err)
	run := c.RunFiles(results.Key{Block: "0001", Attempt: 1, Arm: "on"})
	published, err := fs.Glob(run, Folder+"/*")
	require.NoError(t, err)
	require.NotEmpty(t, published)
	for _, path := range published {
		canonicalThroughout(t, run, path)
	}
	canonicalThroughout(t, results.Folder("testdata/packed"), "steps.jsonl.gz")
	s := goodStream()
	s.recs[1].Prefix.External = &Lookups{Requests: 1, Queries: 16, Hits: 16}
	s.recs[2].Prefix.Local = nil
	for _, line := range s.lines(t)[1:7] {
		assert.True(t, bothWays(t, line), "%s", line)
	}
	assert.True(t, bothWays(t, []byte(designRecord)))
}

// canonicalThroughout requires that the records of a file are all canonical.
func canonicalThroughout(t *testing.T, files fs.FS, name string) {
	t.Helper()
	f, err := Open(files, name)
	require.NoError(t, err)
	defer f.Close()
	data, err := io.ReadAll(f)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	lines = lines[1 : len(lines)-1]
	require.NotEmpty(t, lines)
	for i, line := range lines[:min(len(lines), 2000)] {
		require.True(t, bothWays(t, []byte(line)), "%s:%d", name, i+2)
	}
}

// No change of one byte makes the two paths differ, wherever it is.
func TestCanonicalAgreesNearTheFormat(t *testing.T) {
	taken := 0
	for i := range designRecord {
		head, tail := designRecord[:i], designRecord[i+1:]
		for _, put := range []string{"", "0", "1", "-", ".", "e", `"`, `\`, ",", "}", "]", " ", "n", "\x00", "\xff"} {
			if bothWays(t, []byte(head+put+tail)) {
				taken++
			}
			if bothWays(t, []byte(head+put+designRecord[i:])) {
				taken++
			}
		}
	}
	assert.Greater(t, taken, 500, "too few changed lines are still records for this test to say anything")
}

// What canonical leaves to the tolerant path is still read.
func TestTolerantPath(t *testing.T) {
	for name, line := range map[string]string{
		"white space":   strings.Replace(designRecord, ":", ": ", 1),
		"other order":   strings.Replace(designRecord, `"schema":1,"engine_id":"dp0-pid1234"`, `"engine_id":"dp0-pid1234","schema":1`, 1),
		"unknown field": strings.Replace(designRecord, `"backlog":3`, `"new":[{}],"backlog":3`, 1),
		"escapes":       strings.Replace(designRecord, `dp0-`, `\u0064p0-`, 1),
		"minus zero":    strings.Replace(designRecord, `"preemptions":0`, `"preemptions":-0`, 1),
	} {
		assert.False(t, bothWays(t, []byte(line)), name)
		recs, _, err := scanAll(designHeader + "\n" + designRecord + "\n" + strings.Replace(line, ":42,", ":43,", 1) + "\n")
		require.NoError(t, err, name)
		require.Len(t, recs, 2, name)
		recs[0].StepIndex, recs[1].private = 43, ""
		assert.Equal(t, recs[0], recs[1], name)
	}
}

// An engine id that has to be escaped must not be mistaken for its raw form.
func TestEscapedEngineID(t *testing.T) {
	header := strings.Replace(designHeader, "dp0-pid1234", `a\"b`, 1)
	recs, _, err := scanAll(header + "\n" + strings.Replace(designRecord, "dp0-pid1234", `a\"b`, 1) + "\n")
	require.NoError(t, err)
	assert.Equal(t, `a"b`, recs[0].EngineID)
	_, _, err = scanAll(header + "\n" + strings.Replace(designRecord, "dp0-pid1234", `a"b`, 1) + "\n")
	assert.ErrorContains(t, err, "f.jsonl:2:")
}

// A record must not keep what the one before it pointed to, on either path.
func TestNullFollowsAnObject(t *testing.T) {
	null := strings.Replace(designRecord, designRecord[strings.Index(designRecord, `{"hit"`):strings.Index(designRecord, `,"moe`)], "null", 1)
	lines := []string{designHeader}
	for i, line := range []string{designRecord, null, " " + designRecord, " " + null, designRecord} {
		lines = append(lines, strings.Replace(line, ":42,", fmt.Sprintf(":%d,", i), 1))
	}
	recs, _, err := scanAll(strings.Join(lines, "\n") + "\n")
	require.NoError(t, err)
	for i, r := range recs {
		assert.Equal(t, i%2 == 0, r.CUDAGraph != nil, i)
	}
	assert.Equal(t, recs[0].CUDAGraph, recs[4].CUDAGraph)
}

// FuzzCanonical: on any bytes, the fast path takes only what the tolerant path
// takes too, and reads the same from it.
func FuzzCanonical(f *testing.F) {
	f.Add([]byte(designRecord))
	for _, line := range goodStream().lines(f) {
		f.Add(line)
	}
	f.Add([]byte(strings.Replace(designRecord, `0.65`, `6.5E-1`, 1)))
	f.Add([]byte(strings.Replace(designRecord, `8920000000`, `9223372036854775808`, 1)))
	f.Fuzz(func(t *testing.T, line []byte) { bothWays(t, line) })
}

package patches

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	blobA = "1111111111111111111111111111111111111111"
	blobB = "2222222222222222222222222222222222222222"
)

const sample = "diff --git a/vllm/a.py b/vllm/a.py\n" +
	"index " + blobA + ".." + blobB + " 100644\n" +
	"--- a/vllm/a.py\n" +
	"+++ b/vllm/a.py\n" +
	"@@ -0,0 +1 @@\n" +
	"+first\n" +
	"@@ -2 +3,2 @@\n" +
	"-two\n" +
	"+TWO\n" +
	"+2.5\n" +
	"@@ -4,2 +5,0 @@\n" +
	"-four\n" +
	"-five\n" +
	"@@ -6,0 +7 @@\n" +
	"+last\n"

const sampleOld = "one\ntwo\nthree\nfour\nfive\nsix\n"

const sampleAdded = "diff --git a/tests/n.py b/tests/n.py\n" +
	"new file mode 100644\n" +
	"index " + absentBlob + ".." + blobB + "\n" +
	"--- /dev/null\n" +
	"+++ b/tests/n.py\n" +
	"@@ -0,0 +1,2 @@\n" +
	"+\n" +
	"+++ b\n"

func TestApply(t *testing.T) {
	diffs, err := parseDiffs("p", []byte(sample+sampleAdded))
	require.NoError(t, err)
	require.Len(t, diffs, 2)
	got, err := diffs[0].apply([]byte(sampleOld))
	require.NoError(t, err)
	assert.Equal(t, "first\none\nTWO\n2.5\nthree\nsix\nlast\n", string(got))
	got, err = diffs[1].apply(nil)
	require.NoError(t, err)
	assert.Equal(t, "\n++ b\n", string(got))
	assert.Empty(t, diffs[1].pre)
}

// Line ends and bytes of the file are kept as they are.
func TestApplyKeepsOtherBytes(t *testing.T) {
	diffs, err := parseDiffs("p", []byte(sample))
	require.NoError(t, err)
	old := "one\r\ntwo\nth\x00\xffree\nfour\nfive\nsix\nend without newline"
	got, err := diffs[0].apply([]byte(old))
	require.NoError(t, err)
	assert.Equal(t, "first\none\r\nTWO\n2.5\nth\x00\xffree\nsix\nlast\nend without newline", string(got))
}

// There is no fuzz: one line more or less, or another byte, and it fails.
func TestApplyIsStrict(t *testing.T) {
	diffs, err := parseDiffs("p", []byte(sample))
	require.NoError(t, err)
	tests := map[string]struct{ old, want string }{
		"empty":            {"", "p:7: vllm/a.py has only 0 lines"},
		"one line more":    {"zero\n" + sampleOld, `p:8: vllm/a.py:2: have "one\n", want "two\n"`},
		"other line":       {strings.Replace(sampleOld, "five", "5", 1), `p:13: vllm/a.py:5: have "5\n", want "five\n"`},
		"other space":      {strings.Replace(sampleOld, "two", "two ", 1), "p:8: vllm/a.py:2"},
		"too short":        {strings.TrimSuffix(sampleOld, "six\n"), "p:14: vllm/a.py has only 5 lines"},
		"no final newline": {strings.TrimSuffix(sampleOld, "\n"), "p:14: vllm/a.py:6: ends without a newline"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := diffs[0].apply([]byte(test.old))
			assert.ErrorContains(t, err, test.want)
		})
	}
}

func TestParseRefuses(t *testing.T) {
	change := func(old, new string) string {
		require.Contains(t, sample, old)
		return strings.Replace(sample, old, new, 1)
	}
	paths := func(path string) string { return strings.ReplaceAll(sample, "vllm/a.py", path) }
	tests := map[string]struct{ text, want string }{
		"empty":              {"", "may be cut"},
		"blank":              {"\n", "p:1: want \"diff --git"},
		"cut in a line":      {strings.TrimSuffix(sample, "st\n"), "may be cut"},
		"cut in a hunk":      {strings.TrimSuffix(sample, "+last\n"), "its head says"},
		"cut in the head":    {sample[:strings.Index(sample, "+++")], "p:3: have \"\""},
		"mail header":        {"From: someone\n" + sample, "p:1: want \"diff --git"},
		"trailer":            {sample + "-- \n2.39\n", "p:16: have \"-- \" after a complete hunk"},
		"two names":          {change("b/vllm/a.py", "b/vllm/b.py"), "with one name"},
		"other old name":     {change("--- a/vllm/a.py", "--- a/vllm/b.py"), "p:3: have"},
		"other new name":     {change("+++ b/vllm/a.py", "+++ b/vllm/b.py"), "p:4: have"},
		"short blob":         {change(blobA, blobA[:7]), "two full blob ids"},
		"executable":         {change(" 100644", " 100755"), "two full blob ids"},
		"deleted file":       {change(blobB, absentBlob), "do not fit the kind"},
		"added without mode": {change(blobA, absentBlob), "do not fit the kind"},
		"rename":             {change("index", "rename from vllm/b.py\nindex"), "two full blob ids"},
		"function name":      {change("+1 @@", "+1 @@ def f():"), "without anything after"},
		"context line":       {change("+first\n", " one\n+first\n"), "its head says"},
		"context after":      {change("+first\n", "+first\n one\n"), "p:7: have \" one\""},
		"no newline":         {sample + "\\ No newline at end of file\n", "after a complete hunk"},
		"long hunk":          {change("+first\n", "+first\n+more\n"), "after a complete hunk"},
		"short hunk":         {change("+2.5\n", ""), "p:10: hunk of line 7"},
		"empty hunk":         {change("-0,0 +1 ", "-0,0 +0,0 "), "an empty hunk"},
		"line zero":          {change("@@ -2 ", "@@ -0 "), "overlaps"},
		"overlap":            {change("@@ -4,2 +5,0", "@@ -2,2 +3,0"), "overlaps"},
		"backwards":          {change("@@ -6,0 +7 ", "@@ -3,0 +4 "), "overlaps"},
		"wrong new line":     {change("@@ -2 +3,2", "@@ -2 +2,2"), "does not fit the hunks before"},
		"huge number":        {change("@@ -6,0 +7 ", "@@ -99999999999999999999,0 +7 "), "without anything after"},
		"no hunk":            {sample[:strings.Index(sample, "@@")], "no hunk"},
		"twice":              {sample + sample, "changed twice"},
		"parent folder":      {paths("vllm/../../etc/passwd"), "not a plain path"},
		"absolute":           {paths("/etc/passwd"), "not a plain path"},
		"other folder":       {paths("setup.py"), "not a plain path"},
		"backslash":          {paths(`vllm/..\x.py`), "not a plain path"},
		"dot":                {paths("vllm/./a.py"), "not a plain path"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			diffs, err := parseDiffs("p", []byte(test.text))
			assert.ErrorContains(t, err, test.want)
			assert.Empty(t, diffs)
		})
	}
}

func TestHugePatch(t *testing.T) {
	const n = 200_000
	text := strings.Replace(sampleAdded, "+1,2 @@\n+\n+++ b\n", "+1,200000 @@\n"+strings.Repeat("+x\n", n), 1)
	diffs, err := parseDiffs("p", []byte(text))
	require.NoError(t, err)
	got, err := diffs[0].apply(nil)
	require.NoError(t, err)
	assert.Len(t, got, 2*n)
}

func TestBlobID(t *testing.T) {
	assert.Equal(t, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", blobID(nil))
	assert.Equal(t, "ce013625030ba8dba906f756967f9e9ca394464a", blobID([]byte("hello\n")))
}

// FuzzParseDiffs: whatever parses stays inside vllm/ and tests/, and applies
// or fails without a panic.
func FuzzParseDiffs(f *testing.F) {
	f.Add([]byte(sample), []byte(sampleOld))
	f.Add([]byte(sampleAdded), []byte{})
	f.Add([]byte(sample+sampleAdded), []byte("one\n"))
	f.Add([]byte("diff --git a/vllm/../x b/vllm/../x\n"), []byte("x"))
	f.Fuzz(func(t *testing.T, text, old []byte) {
		diffs, err := parseDiffs("p", text)
		if err != nil {
			assert.Nil(t, diffs)
			return
		}
		for _, d := range diffs {
			require.NoError(t, checkPath(d.path))
			require.NotEmpty(t, d.hunks)
			if got, err := d.apply(old); err == nil {
				grown := 0
				for _, h := range d.hunks {
					grown += len(strings.Join(h.added, "")) - len(strings.Join(h.removed, ""))
				}
				assert.Len(t, got, len(old)+grown)
			}
		}
	})
}

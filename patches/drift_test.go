package patches

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// numbered is an upstream file of twelve lines.
func numbered() []string {
	var lines []string
	for i := range 12 {
		lines = append(lines, fmt.Sprintf("line %d\n", i+1))
	}
	return lines
}

// driftRevision has four hunks in vllm/a.py: at the top, behind line 3, in place
// of lines 6 and 7, and at the end. It adds vllm/n.py, and relies on
// vllm/other.py.
func driftRevision(t *testing.T) Revision {
	t.Helper()
	old := strings.Join(numbered(), "")
	d := fileDiff{source: "p", line: 1, path: "vllm/a.py", pre: blobID([]byte(old)), hunks: []hunk{
		{line: 5, oldStart: 0, added: []string{"top\n"}},
		{line: 7, oldStart: 3, added: []string{"put\n"}},
		{line: 9, oldStart: 5, removed: []string{"line 6\n", "line 7\n"}, added: []string{"six and seven\n"}},
		{line: 13, oldStart: 12, added: []string{"end\n"}},
	}}
	now, err := d.apply([]byte(old))
	require.NoError(t, err)
	d.post = blobID(now)
	n := fileDiff{source: "p", line: 15, path: "vllm/n.py", post: blobID([]byte(added)), hunks: []hunk{{line: 20, added: []string{added}}}}
	return Revision{
		ID: "drifting", Commit: blobA, VLLM: "0.0.1",
		Files:    []File{{d.path, d.pre, d.post}, {n.path, "", n.post}},
		patches:  []patchFile{{name: "p", diffs: []fileDiff{d, n}}},
		required: map[string]string{d.path: d.pre, "vllm/other.py": blobID([]byte(other))},
	}
}

// driftTree is a tree with these lines in vllm/a.py.
func driftTree(t *testing.T, lines []string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "vllm/a.py"), strings.Join(lines, ""))
	write(t, filepath.Join(dir, "vllm/other.py"), other)
	return dir
}

func without(lines []string, i int) []string { return slices.Delete(slices.Clone(lines), i-1, i) }

func changed(lines []string, i int) []string {
	lines = slices.Clone(lines)
	lines[i-1] = "changed\n"
	return lines
}

func before(lines []string, i int, n int) []string {
	return slices.Insert(slices.Clone(lines), i-1, slices.Repeat([]string{"new\n"}, n)...)
}

// With upstream's text, every hunk goes where its lines went, or is reported
// with what is in its way; it is never guessed.
func TestDriftFollowsLines(t *testing.T) {
	up := numbered()
	for name, c := range map[string]struct {
		now  []string
		want [4]string
	}{
		"other end":            {append(slices.Clone(up), "more\n"), [4]string{"as is 0", "as is 3", "as is 6", "no place: new lines stand where it belongs: 1 behind line 12"}},
		"lines above":          {before(up, 2, 5), [4]string{"as is 0", "moves 8", "moves 11", "moves 17"}},
		"lines on top":         {before(up, 1, 2), [4]string{"no place: new lines stand where it belongs: 2 behind line 0", "moves 5", "moves 8", "moves 14"}},
		"a line gone":          {without(up, 9), [4]string{"as is 0", "as is 3", "as is 6", "moves 11"}},
		"the line before":      {changed(up, 3), [4]string{"as is 0", "no place: line 3 before it was changed or moved", "as is 6", "as is 12"}},
		"the line after":       {changed(up, 4), [4]string{"as is 0", "no place: line 4 after it was changed or moved", "as is 6", "as is 12"}},
		"in between":           {before(up, 4, 1), [4]string{"as is 0", "no place: new lines stand where it belongs: 1 behind line 3", "moves 7", "moves 13"}},
		"a replaced line":      {changed(up, 7), [4]string{"as is 0", "as is 3", "no place: line 7, which it replaces, was changed or moved", "as is 12"}},
		"replaced lines apart": {before(up, 7, 1), [4]string{"as is 0", "as is 3", "no place: line 7, which it replaces, was changed or moved", "moves 13"}},
		"nothing left":         {nil, [4]string{"no place: line 1 after it was changed or moved", "no place: line 3 before it was changed or moved", "no place: line 6, which it replaces, was changed or moved", "no place: line 12 before it was changed or moved"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := driftTree(t, c.now)
			was := snapshot(t, dir)
			d, err := FindDrift(driftRevision(t), dir, driftTree(t, up))
			require.NoError(t, err)
			assert.Equal(t, c.want[:], fates(d.Files[0].Hunks))
			assert.Equal(t, was, snapshot(t, dir), "a report changed the tree")
		})
	}
}

func fates(hunks []HunkDrift) []string {
	var all []string
	for _, h := range hunks {
		if h.Why != "" {
			all = append(all, fmt.Sprintf("%s: %s", h.Fate, h.Why))
		} else {
			all = append(all, fmt.Sprintf("%s %d", h.Fate, h.To))
		}
	}
	return all
}

// Without upstream's text only replaced lines can be searched for, and only
// where they are there once.
func TestDriftSearchesReplacedLines(t *testing.T) {
	const unknown = "no place: an insertion, and what stood around it is not known without upstream's file"
	up := numbered()
	for name, c := range map[string]struct {
		now  []string
		want string
	}{
		"moved": {before(up, 2, 5), "moves 11"},
		"there": {changed(up, 1), "as is 6"},
		"gone":  {changed(up, 7), "no place: the lines that it replaces are gone"},
		"twice": {append(slices.Clone(up), up...), "no place: the lines that it replaces are there 2 times"},
	} {
		d, err := FindDrift(driftRevision(t), driftTree(t, c.now), "")
		require.NoError(t, err)
		assert.Equal(t, []string{unknown, unknown, c.want, unknown}, fates(d.Files[0].Hunks), name)
		assert.Equal(t, "p:9", d.Files[0].Hunks[2].Patch)
		assert.Equal(t, -1, d.Files[0].Changed)
	}
}

func TestDriftOfWholeFiles(t *testing.T) {
	r, up := driftRevision(t), numbered()
	one := func(change func(dir string)) Drift {
		dir := driftTree(t, up)
		change(dir)
		d, err := FindDrift(r, dir, driftTree(t, up))
		require.NoError(t, err)
		require.Len(t, d.Files, 3)
		return d
	}
	d := one(func(string) {})
	assert.Equal(t, []string{"as is 0", "as is 3", "as is 6", "as is 12"}, fates(d.Files[0].Hunks))
	assert.Equal(t, []string{"new file 0"}, fates(d.Files[1].Hunks))
	assert.Empty(t, d.Files[2].Hunks)

	d = one(func(dir string) { write(t, filepath.Join(dir, "vllm/n.py"), "mine\n") })
	assert.Equal(t, []string{"name taken: the tree has a file of this name"}, fates(d.Files[1].Hunks))

	d = one(func(dir string) {
		write(t, filepath.Join(dir, "vllm/n.py"), added)
		write(t, filepath.Join(dir, "vllm/a.py"), patchedText(t, up, r.patches[0].diffs[0].hunks))
		write(t, filepath.Join(dir, "vllm/other.py"), "so\nmuch\n")
	})
	assert.Equal(t, []string{"in there 0", "in there 3", "in there 6", "in there 12"}, fates(d.Files[0].Hunks))
	assert.Equal(t, []string{"in there 0"}, fates(d.Files[1].Hunks))
	assert.Equal(t, DriftFile{Path: "vllm/other.py", State: Foreign, Blob: blobID([]byte("so\nmuch\n")), Changed: 1, Extra: 2}, d.Files[2])

	_, err := FindDrift(r, driftTree(t, up), driftTree(t, changed(up, 1)))
	assert.ErrorIs(t, err, ErrForeign, "lines must be followed from the pinned commit")
	_, err = FindDrift(r, t.TempDir(), "")
	assert.ErrorContains(t, err, "contains no folder vllm")
}

// FuzzFollow: lines are followed in their order and onto equal lines.
func FuzzFollow(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nx\nc\n")
	f.Add("a\nb", "a\nb\n")
	f.Add("", "\n\n")
	f.Add("--- a\n+++ b\n@@ -1,1 +1,1 @@\n", "+++ b\n@@ -1,1 +1,1 @@\n")
	f.Fuzz(func(t *testing.T, a, b string) {
		old, now := splitLines([]byte(a)), splitLines([]byte(b))
		follow := followLines(old, now)
		require.Len(t, follow, len(old))
		last := -1
		for i, to := range follow {
			if to < 0 {
				continue
			}
			require.Greater(t, to, last)
			require.Equal(t, old[i], now[to])
			last = to
		}
		if a == b {
			gone, came := countChanges(follow, len(now))
			require.Zero(t, gone+came)
		}
	})
}

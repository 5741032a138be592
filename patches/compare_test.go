package patches

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// standIn is a text that the hunks fit, for tests that do not have upstream's.
func standIn(hunks ...hunk) []string {
	var lines []string
	for _, h := range hunks {
		for len(lines) < h.oldStart+len(h.removed)+2 {
			lines = append(lines, fmt.Sprintf("upstream %d\n", len(lines)))
		}
	}
	for _, h := range hunks {
		copy(lines[h.oldStart:], h.removed)
	}
	return lines
}

func patchedText(t *testing.T, old []string, hunks []hunk) string {
	t.Helper()
	got, err := fileDiff{hunks: hunks}.apply([]byte(strings.Join(old, "")))
	require.NoError(t, err)
	return string(got)
}

// The diff of two revisions leads from the one tree to the other, for all pairs
// of revisions and all their files, whole files byte for byte.
func TestDiffLeadsFromTreeToTree(t *testing.T) {
	all, err := revisions()
	require.NoError(t, err)
	for _, from := range all {
		for _, to := range all {
			changes, err := Diff(from, to)
			require.NoError(t, err)
			require.Equal(t, from.ID == to.ID, len(changes) == 0)
			a, b := from.byPath(), to.byPath()
			for _, c := range changes {
				name := from.ID + " to " + to.ID + ": " + c.Path
				if c.From != "" && c.To != "" && a[c.Path].pre+b[c.Path].pre != "" {
					base := standIn(slices.Concat(a[c.Path].hunks, b[c.Path].hunks)...)
					diffs, err := parseDiffs("d", []byte(c.Diff))
					require.NoError(t, err, name)
					got, err := diffs[0].apply([]byte(patchedText(t, base, a[c.Path].hunks)))
					require.NoError(t, err, name)
					assert.Equal(t, patchedText(t, base, b[c.Path].hunks), string(got), name)
					continue
				}
				old, err := a[c.Path].apply(nil)
				require.NoError(t, err)
				got := applyUnified(t, c.Diff, string(old))
				if c.To == "" {
					assert.Empty(t, got, name)
					continue
				}
				assert.Equal(t, c.To, blobID([]byte(got)), name)
			}
		}
	}
}

// applyUnified applies a diff with context strictly.
func applyUnified(t *testing.T, text, old string) string {
	t.Helper()
	_, text, ok := strings.Cut(text, "\n@@ ")
	require.True(t, ok)
	lines := splitLines([]byte(old))
	var out strings.Builder
	at := 0
	for _, line := range splitLines([]byte("@@ " + text)) {
		switch line[0] {
		case '@':
			head := hunkLine.FindStringSubmatch(strings.TrimSpace(line))
			require.NotNil(t, head, line)
			start, _ := lineRange(head[1], head[2])
			for ; at < start; at++ {
				out.WriteString(lines[at])
			}
		case '+':
			out.WriteString(line[1:])
		default:
			require.Equal(t, lines[at], line[1:])
			if line[0] == ' ' {
				out.WriteString(line[1:])
			}
			at++
		}
	}
	return out.String() + strings.Join(lines[at:], "")
}

// Any two sets of hunks on one text, overlapping or not: the hunks between lead
// from the one result to the other, and there are none where both are equal.
func TestBetweenLeadsFromAnyTextToAnyOther(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		base := make([]string, 12)
		for i := range base {
			base[i] = fmt.Sprintf("line %d\n", rng.IntN(4))
		}
		from, to := someHunks(rng, base), someHunks(rng, base)
		a, b := patchedText(t, base, from), patchedText(t, base, to)
		steps := between(from, to)
		require.Equal(t, b, patchedText(t, splitLines([]byte(a)), steps), "%q: %v and %v", base, from, to)
		require.Empty(t, between(from, from))
	}
}

func someHunks(rng *rand.Rand, base []string) []hunk {
	var hunks []hunk
	for at := rng.IntN(4); at < len(base); at += rng.IntN(4) {
		end := min(len(base), at+rng.IntN(3))
		h := hunk{oldStart: at, removed: base[at:end]}
		for range rng.IntN(3) {
			h.added = append(h.added, fmt.Sprintf("new %d\n", rng.IntN(3)))
		}
		if len(h.removed)+len(h.added) > 0 {
			hunks = append(hunks, h)
		}
		at = end
	}
	return hunks
}

// What a reader of the diff sees: heads as git writes them, no context in files
// of upstream, context in a revision's own, and counts that fit.
func TestDiffText(t *testing.T) {
	one, two := smallRevision(t), secondRevision(t)
	changes, err := Diff(one, two)
	require.NoError(t, err)
	require.Len(t, changes, 4)
	a, n := one.Files[0], one.Files[1]
	assert.Equal(t, Change{Path: "vllm/a.py", From: a.Post, To: two.Files[0].Post, Removed: 1, Added: 2, Diff: "" +
		"diff --git a/vllm/a.py b/vllm/a.py\nindex " + a.Post + ".." + two.Files[0].Post + "\n" +
		"--- a/vllm/a.py\n+++ b/vllm/a.py\n@@ -0,0 +1 @@\n+zero\n@@ -2 +3 @@\n-TWO\n+two\n"}, changes[1])
	assert.Equal(t, "tests/v1/test_n.py", changes[0].Path)
	assert.Equal(t, Change{Path: "vllm/sub/m.py", To: two.Files[1].Post, Added: 1, Diff: "" +
		"diff --git a/vllm/sub/m.py b/vllm/sub/m.py\nnew file mode 100644\nindex " + absentBlob + ".." + two.Files[1].Post + "\n" +
		"--- /dev/null\n+++ b/vllm/sub/m.py\n@@ -0,0 +1,1 @@\n+more\n"}, changes[2])
	assert.Equal(t, Change{Path: "vllm/sub/n.py", From: n.Post, Removed: 1, Diff: "" +
		"diff --git a/vllm/sub/n.py b/vllm/sub/n.py\ndeleted file mode 100644\nindex " + n.Post + ".." + absentBlob + "\n" +
		"--- a/vllm/sub/n.py\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-added\n"}, changes[3])

	two.Commit = blobB
	_, err = Diff(one, two)
	assert.ErrorContains(t, err, "compare small with second: they are for different commits")
}

// secondRevision changes vllm/a.py otherwise than smallRevision, and adds
// vllm/sub/m.py.
func secondRevision(t *testing.T) Revision {
	t.Helper()
	const patched, more = "zero\none\ntwo\n", "more\n"
	small := smallRevision(t)
	a := File{"vllm/a.py", blobID([]byte(aOld)), blobID([]byte(patched))}
	m := File{"vllm/sub/m.py", "", blobID([]byte(more))}
	return Revision{
		ID: "second", Commit: small.Commit, VLLM: small.VLLM, Files: []File{a, m}, required: small.required,
		patches: []patchFile{{name: "second.patch", diffs: []fileDiff{
			{path: a.Path, pre: a.Pre, post: a.Post, hunks: []hunk{{oldStart: 0, added: []string{"zero\n"}}}},
			{path: m.Path, post: m.Post, hunks: []hunk{{oldStart: 0, added: []string{more}}}},
		}}},
	}
}

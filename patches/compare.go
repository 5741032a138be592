package patches

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// Change is how one file differs between the trees of two revisions.
type Change struct {
	Path    string `json:"path"`
	From    string `json:"from_blob"` // git blob ids; "" where there is no such file
	To      string `json:"to_blob"`
	Removed int    `json:"removed"` // lines
	Added   int    `json:"added"`
	// Diff is a unified diff of the file. It has context only where the whole
	// file is a revision's own.
	Diff string `json:"diff"`
}

// Diff compares what two revisions for one upstream commit leave in its tree,
// file by file in the order of their paths; one of them may be None. Equal files
// are not in the list. No tree and no text of upstream is needed: both start
// from the same blobs, and all lines that one of them touches are in its patches.
func Diff(from, to Revision) ([]Change, error) {
	if from.Commit != to.Commit {
		return nil, fmt.Errorf("compare %s with %s: they are for different commits of vLLM, %.8s and %.8s", from.ID, to.ID, from.Commit, to.Commit)
	}
	a, b := from.byPath(), to.byPath()
	paths := maps.Clone(a)
	maps.Copy(paths, b)
	changes := []Change{}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		c := Change{Path: path, From: from.blob(path), To: to.blob(path)}
		if c.From == c.To {
			continue
		}
		if err := c.compare(a[path], b[path]); err != nil {
			return nil, err
		}
		changes = append(changes, c)
	}
	return changes, nil
}

func (r Revision) byPath() map[string]fileDiff {
	all := map[string]fileDiff{}
	for _, p := range r.patches {
		for _, d := range p.diffs {
			all[d.path] = d
		}
	}
	return all
}

// blob is the id of a file in the revision's tree, "" if it has none.
func (r Revision) blob(path string) string {
	for _, f := range r.Files {
		if f.Path == path {
			return f.Post
		}
	}
	return r.required[path]
}

// compare fills in the diff, given what the two revisions do to the file.
func (c *Change) compare(from, to fileDiff) error {
	if from.pre != "" || to.pre != "" { // a file of upstream
		c.zeroContext(between(from.hunks, to.hunks))
		return nil
	}
	before, err := from.apply(nil)
	if err != nil {
		return err
	}
	after, err := to.apply(nil)
	if err != nil {
		return err
	}
	_, body, _ := strings.Cut(string(diff.Diff("a", before, "b", after)), "\n@@ ")
	c.Removed, c.Added = strings.Count(body, "\n-"), strings.Count(body, "\n+")
	c.Diff = c.head() + "@@ " + body
	return nil
}

// head is the head of the diff as git writes it.
func (c *Change) head() string {
	old, now, mode := "a/"+c.Path, "b/"+c.Path, ""
	from, to := c.From, c.To
	switch {
	case from == "":
		from, old, mode = absentBlob, "/dev/null", "new file mode 100644\n"
	case to == "":
		to, now, mode = absentBlob, "/dev/null", "deleted file mode 100644\n"
	}
	return fmt.Sprintf("diff --git a/%s b/%s\n%sindex %s..%s\n--- %s\n+++ %s\n", c.Path, c.Path, mode, from, to, old, now)
}

func (c *Change) zeroContext(hunks []hunk) {
	var text strings.Builder
	text.WriteString(c.head())
	delta := 0
	for _, h := range hunks {
		fmt.Fprintf(&text, "@@ -%s +%s @@\n", rangeText(h.oldStart, len(h.removed)), rangeText(h.oldStart+delta, len(h.added)))
		for _, line := range h.removed {
			text.WriteString("-" + line)
		}
		for _, line := range h.added {
			text.WriteString("+" + line)
		}
		delta += len(h.added) - len(h.removed)
		c.Removed += len(h.removed)
		c.Added += len(h.added)
	}
	c.Diff = text.String()
}

// rangeText is the inverse of lineRange.
func rangeText(start, count int) string {
	switch count {
	case 0:
		return fmt.Sprintf("%d,0", start)
	case 1:
		return fmt.Sprint(start + 1)
	}
	return fmt.Sprintf("%d,%d", start+1, count)
}

// between returns the hunks that lead from one patched file to the other, given
// those that lead to each of them from the same file. Of that file only the
// lines that one of them removes are known, and no other is needed.
func between(from, to []hunk) []hunk {
	var out []hunk
	grown := 0 // by how much from has made the file longer before the region
	for len(from)+len(to) > 0 {
		var r region
		r, from, to = nextRegion(from, to)
		before, after := r.patched(r.from), r.patched(r.to)
		h := trimmed(hunk{oldStart: r.start + grown, removed: before, added: after})
		if len(h.removed)+len(h.added) > 0 {
			out = append(out, h)
		}
		grown += len(before) - (r.end - r.start)
	}
	return out
}

// region is a range of lines of the common file which hunks of one or both
// sides cover without a gap.
type region struct {
	start, end int
	from, to   []hunk
}

// nextRegion takes the hunks of the first region from both lists.
func nextRegion(from, to []hunk) (region, []hunk, []hunk) {
	r := region{start: firstStart(from, to)}
	r.end = r.start
	for {
		switch {
		case len(from) > 0 && from[0].oldStart <= r.end:
			r.end = max(r.end, from[0].oldStart+len(from[0].removed))
			r.from, from = append(r.from, from[0]), from[1:]
		case len(to) > 0 && to[0].oldStart <= r.end:
			r.end = max(r.end, to[0].oldStart+len(to[0].removed))
			r.to, to = append(r.to, to[0]), to[1:]
		default:
			return r, from, to
		}
	}
}

func firstStart(from, to []hunk) int {
	switch {
	case len(from) == 0:
		return to[0].oldStart
	case len(to) == 0:
		return from[0].oldStart
	}
	return min(from[0].oldStart, to[0].oldStart)
}

// patched is the region after the hunks of one side.
func (r region) patched(hunks []hunk) []string {
	common := make([]string, r.end-r.start)
	for _, h := range slices.Concat(r.from, r.to) {
		copy(common[h.oldStart-r.start:], h.removed)
	}
	var out []string
	at := r.start
	for _, h := range hunks {
		out = append(out, common[at-r.start:h.oldStart-r.start]...)
		out = append(out, h.added...)
		at = h.oldStart + len(h.removed)
	}
	return append(out, common[at-r.start:]...)
}

// trimmed takes off what both sides begin and end with.
func trimmed(h hunk) hunk {
	for len(h.removed) > 0 && len(h.added) > 0 && h.removed[0] == h.added[0] {
		h.oldStart++
		h.removed, h.added = h.removed[1:], h.added[1:]
	}
	for len(h.removed) > 0 && len(h.added) > 0 && h.removed[len(h.removed)-1] == h.added[len(h.added)-1] {
		h.removed, h.added = h.removed[:len(h.removed)-1], h.added[:len(h.added)-1]
	}
	return h
}

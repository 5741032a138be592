package patches

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
)

// absentBlob is how git writes the blob id of a file that is not there.
const absentBlob = "0000000000000000000000000000000000000000"

// fileDiff is the change of one file.
type fileDiff struct {
	source    string // the patch, for errors
	line      int    // of its "diff --git" in the patch
	path      string
	pre, post string // blob ids; pre is "" for an added file
	hunks     []hunk
}

// hunk replaces lines without context.
type hunk struct {
	line     int // in the patch
	oldStart int // lines [oldStart, oldStart+len(removed)) go, from 0
	removed  []string
	added    []string // all lines end in a newline
}

var (
	gitLine   = regexp.MustCompile(`^diff --git a/(\S+) b/(\S+)$`)
	indexLine = regexp.MustCompile(`^index ([0-9a-f]{40})\.\.([0-9a-f]{40})(?: 100644)?$`)
	hunkLine  = regexp.MustCompile(`^@@ -(\d{1,7})(?:,(\d{1,7}))? \+(\d{1,7})(?:,(\d{1,7}))? @@$`)
)

// diffParser reads a patch line by line. What git apply would tolerate or
// guess, it refuses: context, fuzz, renames, modes, text between files.
type diffParser struct {
	name  string
	lines []string
	next  int
}

// parseDiffs reads a patch of zero-context diffs with full blob ids.
func parseDiffs(name string, text []byte) ([]fileDiff, error) {
	if !bytes.HasSuffix(text, []byte("\n")) {
		return nil, fmt.Errorf("%s: does not end in a newline, it may be cut", name)
	}
	p := &diffParser{name: name, lines: strings.SplitAfter(string(text[:len(text)-1]), "\n")}
	p.lines[len(p.lines)-1] += "\n"
	var diffs []fileDiff
	seen := map[string]bool{}
	for p.next < len(p.lines) {
		d, err := p.file()
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, max(p.next, 1), err)
		}
		if seen[d.path] {
			return nil, fmt.Errorf("%s:%d: %s is changed twice", name, d.line, d.path)
		}
		seen[d.path] = true
		diffs = append(diffs, d)
	}
	return diffs, nil
}

// take returns the next line without its newline, "" at the end.
func (p *diffParser) take() string {
	if p.next == len(p.lines) {
		return ""
	}
	p.next++
	return strings.TrimSuffix(p.lines[p.next-1], "\n")
}

func (p *diffParser) peek(prefix string) bool {
	return p.next < len(p.lines) && strings.HasPrefix(p.lines[p.next], prefix)
}

func (p *diffParser) expect(want string) error {
	if got := p.take(); got != want {
		return fmt.Errorf("have %q, want %q", got, want)
	}
	return nil
}

func (p *diffParser) file() (fileDiff, error) {
	d := fileDiff{source: p.name, line: p.next + 1}
	if err := p.head(&d); err != nil {
		return d, err
	}
	delta, end := 0, 0
	for p.peek("@@ ") {
		h, err := p.hunk(delta, end)
		if err != nil {
			return d, err
		}
		end = h.oldStart + len(h.removed)
		delta += len(h.added) - len(h.removed)
		d.hunks = append(d.hunks, h)
	}
	if len(d.hunks) == 0 {
		p.take()
		return d, fmt.Errorf("%s: no hunk", d.path)
	}
	return d, nil
}

func (p *diffParser) head(d *fileDiff) error {
	names := gitLine.FindStringSubmatch(p.take())
	if names == nil || names[1] != names[2] {
		return fmt.Errorf("want \"diff --git a/FILE b/FILE\" with one name")
	}
	d.path = names[1]
	if err := checkPath(d.path); err != nil {
		return err
	}
	added := p.peek("new file mode")
	if added {
		if err := p.expect("new file mode 100644"); err != nil {
			return err
		}
	}
	index := indexLine.FindStringSubmatch(p.take())
	if index == nil {
		return fmt.Errorf("want an index line with two full blob ids")
	}
	d.pre, d.post = strings.TrimPrefix(index[1], absentBlob), index[2]
	if added != (d.pre == "") || d.post == absentBlob {
		return fmt.Errorf("blob ids %s..%s do not fit the kind of change", index[1], index[2])
	}
	old := "--- a/" + d.path
	if added {
		old = "--- /dev/null"
	}
	if err := p.expect(old); err != nil {
		return err
	}
	return p.expect("+++ b/" + d.path)
}

// checkPath allows plain paths below vllm/ and tests/ only.
func checkPath(path string) error {
	inside := strings.HasPrefix(path, "vllm/") || strings.HasPrefix(path, "tests/")
	if !fs.ValidPath(path) || strings.ContainsAny(path, `\:`) || !inside {
		return fmt.Errorf("path %q is not a plain path below vllm/ or tests/", path)
	}
	return nil
}

// hunk reads the next hunk. delta is by how many lines the file has grown so
// far, end the line (from 0) where the hunk before ended.
func (p *diffParser) hunk(delta, end int) (hunk, error) {
	h := hunk{line: p.next + 1}
	ranges := hunkLine.FindStringSubmatch(p.take())
	if ranges == nil {
		return h, fmt.Errorf("want \"@@ -LINE,COUNT +LINE,COUNT @@\" without anything after it")
	}
	oldStart, oldCount := lineRange(ranges[1], ranges[2])
	newStart, newCount := lineRange(ranges[3], ranges[4])
	h.oldStart = oldStart
	switch {
	case oldCount+newCount == 0:
		return h, fmt.Errorf("an empty hunk")
	case oldStart < end:
		return h, fmt.Errorf("overlaps the hunk before or starts before line 1")
	case newStart != oldStart+delta:
		return h, fmt.Errorf("new line number does not fit the hunks before")
	}
	h.removed = p.body('-', oldCount)
	h.added = p.body('+', newCount)
	if len(h.removed) != oldCount || len(h.added) != newCount {
		p.take()
		return h, fmt.Errorf("hunk of line %d: has %d- %d+ lines here, its head says %d- %d+",
			h.line, len(h.removed), len(h.added), oldCount, newCount)
	}
	return h, p.afterHunk()
}

// lineRange turns "start,count" into a start from 0: of nothing, the position
// after the start line; else the start line itself.
func lineRange(start, count string) (int, int) {
	s, _ := strconv.Atoi(start) // digits only, and few, by the pattern
	if count == "" {
		return s - 1, 1
	}
	n, _ := strconv.Atoi(count)
	if n == 0 {
		return s, 0
	}
	return s - 1, n
}

func (p *diffParser) body(sign byte, count int) []string {
	var lines []string
	for len(lines) < count && p.peek(string(sign)) {
		lines = append(lines, p.lines[p.next][1:])
		p.next++
	}
	return lines
}

// afterHunk makes sure that nothing follows but a hunk, a file or the end.
func (p *diffParser) afterHunk() error {
	if p.next == len(p.lines) || p.peek("@@ ") || p.peek("diff --git ") {
		return nil
	}
	return fmt.Errorf("have %q after a complete hunk; context and missing newlines are not allowed", p.take())
}

// apply returns the changed file. It fits exactly or not at all.
func (d fileDiff) apply(old []byte) ([]byte, error) {
	lines := splitLines(old)
	var out strings.Builder
	at := 0
	for _, h := range d.hunks {
		if err := d.fits(h, lines); err != nil {
			return nil, err
		}
		for _, line := range lines[at:h.oldStart] {
			out.WriteString(line)
		}
		for _, line := range h.added {
			out.WriteString(line)
		}
		at = h.oldStart + len(h.removed)
	}
	for _, line := range lines[at:] {
		out.WriteString(line)
	}
	return []byte(out.String()), nil
}

func (d fileDiff) fits(h hunk, lines []string) error {
	if h.oldStart+len(h.removed) > len(lines) {
		return fmt.Errorf("%s:%d: %s has only %d lines", d.source, h.line, d.path, len(lines))
	}
	for i, want := range h.removed {
		if got := lines[h.oldStart+i]; got != want {
			return fmt.Errorf("%s:%d: %s:%d: have %q, want %q", d.source, h.line+1+i, d.path, h.oldStart+i+1, got, want)
		}
	}
	if before := h.oldStart - 1; before >= 0 && !strings.HasSuffix(lines[before], "\n") {
		return fmt.Errorf("%s:%d: %s:%d: ends without a newline", d.source, h.line, d.path, before+1)
	}
	return nil
}

// blobID is git's name for the content of a file.
func blobID(data []byte) string {
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

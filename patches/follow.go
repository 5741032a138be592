package patches

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// splitLines keeps the line ends; the last line may have none.
func splitLines(data []byte) []string {
	lines := strings.SplitAfter(string(data), "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	return lines
}

// searched places a hunk by the lines that it replaces, the only ones of the
// file that are known.
func searched(h hunk, now []string) HunkDrift {
	if len(h.removed) == 0 {
		return HunkDrift{Why: "an insertion, and what stood around it is not known without upstream's file"}
	}
	var at []int
	for i := 0; i+len(h.removed) <= len(now); i++ {
		if slices.Equal(now[i:i+len(h.removed)], h.removed) {
			at = append(at, i)
		}
	}
	switch {
	case len(at) == 0:
		return HunkDrift{Why: "the lines that it replaces are gone"}
	case len(at) > 1:
		return HunkDrift{Why: fmt.Sprintf("the lines that it replaces are there %d times", len(at))}
	}
	return HunkDrift{To: h.lineNumber(at[0])}
}

// followed places a hunk by where the lines around it went; of a replacement
// all replaced lines must still be there, of an insertion both neighbours.
func followed(h hunk, follow []int, now int) HunkDrift {
	if n := len(h.removed); n > 0 {
		for i := range n {
			if to := follow[h.oldStart+i]; to < 0 || to != follow[h.oldStart]+i {
				return HunkDrift{Why: fmt.Sprintf("line %d, which it replaces, was changed or moved", h.oldStart+i+1)}
			}
		}
		return HunkDrift{To: h.lineNumber(follow[h.oldStart])}
	}
	before, after := -1, now
	if h.oldStart > 0 {
		if before = follow[h.oldStart-1]; before < 0 {
			return HunkDrift{Why: fmt.Sprintf("line %d before it was changed or moved", h.oldStart)}
		}
	}
	if h.oldStart < len(follow) {
		if after = follow[h.oldStart]; after < 0 {
			return HunkDrift{Why: fmt.Sprintf("line %d after it was changed or moved", h.oldStart+1)}
		}
	}
	if after != before+1 {
		return HunkDrift{Why: fmt.Sprintf("new lines stand where it belongs: %d behind line %d", after-before-1, before+1)}
	}
	return HunkDrift{To: before + 1}
}

// countChanges counts the lines of a file that went, and those that came.
func countChanges(follow []int, now int) (gone, came int) {
	came = now
	for _, to := range follow {
		if to < 0 {
			gone++
		} else {
			came--
		}
	}
	return gone, came
}

// followLines returns for each line of old where it is in now, or -1; kept
// lines stay in their order.
func followLines(old, now []string) []int {
	follow := make([]int, len(old))
	at, to := 0, 0
	keep := func(end int) {
		for ; at < end; at++ {
			follow[at] = to
			to++
		}
	}
	text := string(diff.Diff("a", []byte(strings.Join(old, "")), "b", []byte(strings.Join(now, ""))))
	_, text, _ = strings.Cut(text, "\n+++ b\n")
	for _, line := range splitLines([]byte(text)) {
		switch line[0] {
		case '@':
			if head := hunkLine.FindStringSubmatch(strings.TrimSuffix(line, "\n")); head != nil {
				start, _ := lineRange(head[1], head[2])
				keep(start)
			}
		case ' ':
			keep(at + 1)
		case '-':
			follow[at] = -1
			at++
		case '+':
			to++
		}
	}
	keep(len(old))
	return follow
}

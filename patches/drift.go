package patches

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Fate says where a hunk would go in a tree that is not the one it was made for.
type Fate string

const (
	AsIs    Fate = "as is"      // at the same line
	Moves   Fate = "moves"      // at another line
	NoPlace Fate = "no place"   // nowhere for sure
	InTree  Fate = "in there"   // the file is the revision's already
	NewFile Fate = "new file"   // the hunk is a whole file, whose name is free
	Taken   Fate = "name taken" // the hunk is a whole file, whose name is not free
)

// Drift says how well a revision still fits a tree. It is a report for whoever
// carries the revision over: nothing is ever applied by it, for lines that look
// alike need not mean the same.
type Drift struct {
	Root     string      `json:"root"`
	Revision string      `json:"revision"`
	Commit   string      `json:"commit"` // that the revision was made for
	Files    []DriftFile `json:"files"`
}

// DriftFile is a file that the revision changes, adds or relies on.
type DriftFile struct {
	Path  string      `json:"path"`
	State State       `json:"state"`
	Blob  string      `json:"blob"`
	Hunks []HunkDrift `json:"hunks,omitempty"` // none: the revision only relies on the file
	// Changed is the number of upstream's lines that are not in the tree's file,
	// Extra that of the tree's lines that are not upstream's; both need
	// upstream's text, else they are -1.
	Changed int `json:"changed"`
	Extra   int `json:"extra"`
}

// HunkDrift is one hunk. Lines count from 1; of an insertion they are those of
// the line before, 0 at the top.
type HunkDrift struct {
	Patch string `json:"patch"` // file:line of the hunk
	Fate  Fate   `json:"fate"`
	Line  int    `json:"line"` // in the file that it was made for
	To    int    `json:"to"`   // in the tree, where it has a place
	Why   string `json:"why,omitempty"`
}

// FindDrift compares dir with what the revision was made for. Hunks have no
// context, so only a replaced line can be searched for; with upstream, a pristine
// tree of the pinned commit, lines are followed from there, and an insertion has
// a place where the lines before and after it still follow each other.
func FindDrift(r Revision, dir, upstream string) (Drift, error) {
	root, err := findRoot(dir)
	if err != nil {
		return Drift{}, err
	}
	from := ""
	if upstream != "" {
		if from, err = pristine(Revision{ID: None, VLLM: r.VLLM, Commit: r.Commit, required: r.required}, upstream); err != nil {
			return Drift{}, err
		}
	}
	d := Drift{Root: root, Revision: r.ID, Commit: r.Commit}
	others, diffs := maps.Clone(r.required), r.byPath()
	for _, f := range r.Files {
		delete(others, f.Path)
		if err := d.add(f, diffs[f.Path], from); err != nil {
			return d, err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(others)) {
		if err := d.add(File{Path: path, Pre: others[path]}, fileDiff{}, from); err != nil {
			return d, err
		}
	}
	return d, nil
}

// add compares one file. from is the root of upstream's tree, or "".
func (d *Drift) add(f File, change fileDiff, from string) error {
	t := Tree{Root: d.Root}
	if err := t.add(f); err != nil {
		return err
	}
	out := DriftFile{Path: f.Path, State: t.Files[0].State, Blob: t.Files[0].Blob, Changed: -1, Extra: -1}
	var now, old []string
	var err error
	if now, err = readLines(d.Root, f.Path); err == nil && from != "" && f.Pre != "" {
		old, err = readLines(from, f.Path)
	}
	if err != nil {
		return err
	}
	find := finder(func(h hunk) HunkDrift { return searched(h, now) })
	if old != nil {
		follow := followLines(old, now)
		out.Changed, out.Extra = countChanges(follow, len(now))
		find = func(h hunk) HunkDrift { return followed(h, follow, len(now)) }
	}
	for _, h := range change.hunks {
		hd := fate(out.State, f, h, find)
		hd.Patch = fmt.Sprintf("%s:%d", change.source, h.line)
		out.Hunks = append(out.Hunks, hd)
	}
	d.Files = append(d.Files, out)
	return nil
}

// finder finds the place of a hunk in a foreign file, or says why it has none.
type finder func(h hunk) HunkDrift

func fate(state State, f File, h hunk, find finder) HunkDrift {
	line := h.lineNumber(h.oldStart)
	switch {
	case state == Applied:
		return HunkDrift{Fate: InTree, Line: line, To: line}
	case state == Missing:
		return HunkDrift{Fate: NoPlace, Line: line, Why: "the file is not there"}
	case f.Pre == "" && state == Foreign:
		return HunkDrift{Fate: Taken, Line: line, Why: "the tree has a file of this name"}
	case f.Pre == "":
		return HunkDrift{Fate: NewFile, Line: line, To: line}
	case state == Pristine:
		return HunkDrift{Fate: AsIs, Line: line, To: line}
	}
	hd := find(h)
	hd.Line = line
	if hd.Why != "" {
		hd.Fate = NoPlace
		return hd
	}
	hd.Fate = Moves
	if hd.To == line {
		hd.Fate = AsIs
	}
	return hd
}

// lineNumber is how a diff numbers the place of the hunk if that is behind at
// lines.
func (h hunk) lineNumber(at int) int {
	if len(h.removed) == 0 {
		return at
	}
	return at + 1
}

// readLines returns nil for a file that is not there.
func readLines(root, path string) ([]string, error) {
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("vLLM tree %s: %w", root, err)
	}
	return splitLines(data), nil
}

package patches

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// State says what a file or a whole tree is, compared with a revision.
type State string

const (
	Pristine State = "pristine" // upstream's content
	Applied  State = "applied"  // the revision's content
	Foreign  State = "foreign"  // anything else; a tree that is half patched
	Missing  State = "missing"  // a file that must be there
	// NotInTree is an added file whose folder the tree does not have: a package
	// has no tests/. It does not count.
	NotInTree State = "not in this tree"
)

// Tree is a folder that contains vllm/, compared with a revision.
type Tree struct {
	Root     string // absolute
	Revision string
	State    State // Pristine, Applied or Foreign
	// Files are those of the revision in its order, then the other upstream
	// files that it relies on, by path.
	Files []TreeFile
}

// TreeFile is one file of a tree. An upstream file that no patch touches is
// Pristine, Foreign or Missing.
type TreeFile struct {
	Path  string
	Blob  string // git blob id, "" if there is no such file
	State State
}

// Wrong lists the files that make the tree foreign, for messages; of a half
// patched tree those that are not patched.
func (t Tree) Wrong() []string {
	var wrong, unpatched []string
	for _, f := range t.Files {
		switch f.State {
		case Foreign, Missing:
			wrong = append(wrong, fmt.Sprintf("%s (%s)", f.Path, f.State))
		case Pristine:
			unpatched = append(unpatched, fmt.Sprintf("%s (%s)", f.Path, f.State))
		}
	}
	if t.State == Foreign && len(wrong) == 0 {
		return unpatched
	}
	return wrong
}

// Verify compares dir with a revision by git blob ids, computed from the
// content; git is not needed. dir is a site-packages folder, a clone or a tree
// of BuildTree: what contains vllm/. A foreign tree is a result, not an error.
func Verify(r Revision, dir string) (Tree, error) {
	root, err := findRoot(dir)
	if err != nil {
		return Tree{}, err
	}
	t := Tree{Root: root, Revision: r.ID}
	others := maps.Clone(r.required)
	for _, f := range r.Files {
		delete(others, f.Path)
		if err := t.add(f); err != nil {
			return t, err
		}
	}
	patched := len(t.Files)
	for _, path := range slices.Sorted(maps.Keys(others)) {
		if err := t.add(File{Path: path, Pre: others[path]}); err != nil {
			return t, err
		}
	}
	t.State = overall(t.Files, patched)
	return t, nil
}

func findRoot(dir string) (string, error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("vLLM tree %s: %w", dir, err)
	}
	if info, err := os.Stat(filepath.Join(root, "vllm")); err == nil && info.IsDir() {
		return root, nil
	}
	hint := "give a site-packages folder or a clone"
	if filepath.Base(root) == "vllm" {
		hint = "give " + filepath.Dir(root)
	}
	return "", fmt.Errorf("vLLM tree %s: contains no folder vllm: %s", dir, hint)
}

func (t *Tree) add(f File) error {
	path := filepath.Join(t.Root, filepath.FromSlash(f.Path))
	data, err := os.ReadFile(path)
	switch {
	case err == nil:
		blob := blobID(data)
		t.Files = append(t.Files, TreeFile{f.Path, blob, fileState(f, blob)})
	case errors.Is(err, fs.ErrNotExist):
		t.Files = append(t.Files, TreeFile{f.Path, "", absentState(f, path)})
	default:
		return fmt.Errorf("vLLM tree %s: %w", t.Root, err)
	}
	return nil
}

func fileState(f File, blob string) State {
	switch blob {
	case f.Post:
		return Applied
	case f.Pre:
		return Pristine
	}
	return Foreign
}

func absentState(f File, path string) State {
	if f.Pre != "" {
		return Missing
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil && !strings.HasPrefix(f.Path, "vllm/") {
		return NotInTree
	}
	return Pristine
}

// overall is the state of a tree whose first files are the patched ones.
func overall(files []TreeFile, patched int) State {
	count := map[State]int{}
	for i, f := range files {
		if i < patched || f.State != Pristine {
			count[f.State]++
		}
	}
	switch {
	case count[Foreign]+count[Missing] > 0:
		return Foreign
	case count[Applied] == 0:
		return Pristine
	case count[Pristine] == 0:
		return Applied
	}
	return Foreign
}

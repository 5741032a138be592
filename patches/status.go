package patches

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Status says what a tree is, compared with all revisions at once.
type Status struct {
	Root     string       `json:"root"`     // absolute
	State    State        `json:"state"`    // Pristine, Applied or Foreign
	Revision string       `json:"revision"` // the one that is applied, else ""
	VLLM     string       `json:"vllm"`     // the upstream version compared with
	Commit   string       `json:"commit"`
	Files    []StatusFile `json:"files"` // all that any revision touches or relies on, by path
}

// StatusFile is one file of a tree.
type StatusFile struct {
	Path     string `json:"path"`
	State    State  `json:"state"`
	Blob     string `json:"blob"`     // git blob id, "" if there is no such file
	Upstream string `json:"upstream"` // what it has to be in a pristine tree
	// Revisions are those that leave this very file, if it is not upstream's.
	Revisions []string `json:"revisions,omitempty"`
}

// Inspect tells what the tree in dir is: pristine, patched with one revision as
// a whole, or foreign, which is a result and no error. See Verify for dir.
func Inspect(dir string) (Status, error) {
	all, err := revisions()
	if err != nil {
		return Status{}, err
	}
	return inspect(all, dir)
}

func inspect(all []Revision, dir string) (Status, error) {
	root, err := findRoot(dir)
	if err != nil {
		return Status{}, err
	}
	s := Status{Root: root, State: Foreign, VLLM: all[0].VLLM, Commit: all[0].Commit}
	tree := Tree{Root: root}
	for _, path := range unionOfPaths(all) {
		if err := tree.add(File{Path: path, Pre: all[0].required[path]}); err != nil {
			return s, err
		}
		s.Files = append(s.Files, statusOf(all, tree.Files[len(tree.Files)-1]))
	}
	for _, r := range all {
		if s.is(r) {
			s.State = wanted(r)
			if s.State == Applied {
				s.Revision = r.ID
			}
			break
		}
	}
	return s, nil
}

func unionOfPaths(all []Revision) []string {
	paths := map[string]bool{}
	for _, r := range all {
		for path := range r.required {
			paths[path] = true
		}
		for _, f := range r.Files {
			paths[f.Path] = true
		}
	}
	return slices.Sorted(maps.Keys(paths))
}

// statusOf completes what a comparison with upstream alone says of a file.
func statusOf(all []Revision, f TreeFile) StatusFile {
	s := StatusFile{Path: f.Path, State: f.State, Blob: f.Blob, Upstream: all[0].required[f.Path]}
	if f.State != Foreign {
		return s
	}
	for _, r := range all {
		if r.blob(f.Path) == f.Blob {
			s.Revisions = append(s.Revisions, r.ID)
			s.State = Applied
		}
	}
	return s
}

// is reports whether all files are as the revision leaves them. A folder that a
// package does not have, such as tests/, does not count.
func (s Status) is(r Revision) bool {
	return !slices.ContainsFunc(s.Files, func(f StatusFile) bool {
		return f.State != NotInTree && f.Blob != r.blob(f.Path)
	})
}

// Wrong says what makes the tree foreign, file by file, for messages: files that
// are nobody's, or else whose they are.
func (s Status) Wrong() []string {
	var wrong, mixed []string
	for _, f := range s.Files {
		switch f.State {
		case Foreign, Missing:
			wrong = append(wrong, fmt.Sprintf("%s (%s)", f.Path, f.State))
		case Applied:
			mixed = append(mixed, fmt.Sprintf("%s (of %s)", f.Path, strings.Join(f.Revisions, ", ")))
		}
	}
	if len(wrong) == 0 && s.State == Foreign {
		return append(mixed, "not all files of one revision")
	}
	return wrong
}

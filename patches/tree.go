package patches

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// marker is the file that tells a tree of this package from a folder that
// must not be replaced. It names the revision.
const marker = ".opprof-tree"

// BuildTree makes a tree to serve from: out becomes a folder whose vllm/ is
// that of src with the revision applied; PYTHONPATH=out then imports it. Folders
// are real, .py files hard links (copies on another device), other files
// symbolic links, the revision's files written fresh. src is only read and must
// be pristine, else the error wraps ErrForeign. out must not exist or be an
// earlier tree; it is replaced as a whole or stays as it was.
func BuildTree(r Revision, src, out string) (Tree, error) {
	from, err := pristine(r, src)
	if err != nil {
		return Tree{}, err
	}
	if out, err = filepath.Abs(out); err != nil {
		return Tree{}, fmt.Errorf("tree %s: %w", out, err)
	}
	if err := checkOut(from, out); err != nil {
		return Tree{}, err
	}
	work, err := os.MkdirTemp(filepath.Dir(out), "."+filepath.Base(out)+".new-*")
	if err != nil {
		return Tree{}, fmt.Errorf("tree %s: %w", out, err)
	}
	defer os.RemoveAll(work)
	if err := fill(r, from, work); err != nil {
		return Tree{}, err
	}
	if err := replace(work, out); err != nil {
		return Tree{}, err
	}
	return Verify(r, out)
}

// pristine returns the root of src without links in its path, since the links
// in the tree must not follow one that is switched later.
func pristine(r Revision, src string) (string, error) {
	t, err := Verify(r, src)
	if err != nil {
		return "", err
	}
	if t.State == Applied {
		return "", fmt.Errorf("vLLM tree %s: %s is already applied, give a pristine one: %w", src, r.ID, ErrForeign)
	}
	if t.State != Pristine {
		return "", fmt.Errorf("vLLM tree %s is not vLLM %s at %.7s: %s: %w",
			src, r.VLLM, r.Commit, strings.Join(t.Wrong(), ", "), ErrForeign)
	}
	root, err := filepath.EvalSymlinks(t.Root)
	if err != nil {
		return "", fmt.Errorf("vLLM tree %s: %w", src, err)
	}
	return root, nil
}

func checkOut(from, out string) error {
	parent, err := filepath.EvalSymlinks(filepath.Dir(out))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("tree %s: there is no folder %s to make it in; create that first", out, filepath.Dir(out))
	}
	if err != nil {
		return fmt.Errorf("tree %s: %w", out, err)
	}
	source := filepath.Join(from, "vllm") + string(filepath.Separator)
	if strings.HasPrefix(parent+string(filepath.Separator), source) {
		return fmt.Errorf("tree %s: lies inside the source %s", out, source)
	}
	switch _, err := os.Lstat(out); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("tree %s: %w", out, err)
	}
	info, err := os.Lstat(filepath.Join(out, marker))
	if err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("tree %s: exists and was not made by this tool; remove it or choose another name", out)
	}
	return nil
}

// fill makes the whole tree in work and verifies it.
func fill(r Revision, from, work string) error {
	if err := os.Chmod(work, 0o755); err != nil {
		return fmt.Errorf("tree: %w", err)
	}
	l := linker{from: from, to: work, skip: map[string]bool{}}
	for _, f := range r.Files {
		l.skip[f.Path] = true
		l.skip[compiledDir(f.Path)] = true
	}
	if err := filepath.WalkDir(filepath.Join(from, "vllm"), l.visit); err != nil {
		return fmt.Errorf("tree of %s: %w", from, err)
	}
	if err := writePatched(r, from, work); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(work, marker), []byte(r.ID+"\n"), 0o644); err != nil {
		return fmt.Errorf("tree: %w", err)
	}
	t, err := Verify(r, work)
	if err != nil {
		return err
	}
	if want := wanted(r); t.State != want {
		return fmt.Errorf("tree of %s is %s after applying %s: %v: %w", from, t.State, r.ID, t.Wrong(), ErrForeign)
	}
	return nil
}

func wanted(r Revision) State {
	if len(r.Files) == 0 {
		return Pristine
	}
	return Applied
}

// compiledDir is the prefix of a file's byte code, which is for the old source.
func compiledDir(path string) string {
	dir, name := filepath.Split(path)
	return dir + "__pycache__/" + strings.TrimSuffix(name, "py")
}

func writePatched(r Revision, from, work string) error {
	for _, p := range r.patches {
		for _, d := range p.diffs {
			old, err := readOld(d, from)
			if err != nil {
				return err
			}
			data, err := d.apply(old)
			if err != nil {
				return err
			}
			path := filepath.Join(work, filepath.FromSlash(d.path))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return fmt.Errorf("tree: %w", err)
			}
			if err := os.WriteFile(path, data, 0o644); err != nil {
				return fmt.Errorf("tree: %w", err)
			}
		}
	}
	return nil
}

func readOld(d fileDiff, from string) ([]byte, error) {
	if d.pre == "" {
		return nil, nil
	}
	data, err := os.ReadFile(filepath.Join(from, filepath.FromSlash(d.path)))
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %w", d.source, d.line, err)
	}
	return data, nil
}

// linker mirrors a folder with links.
type linker struct {
	from, to string
	skip     map[string]bool // slash paths from the root: files, or prefixes of byte code
	copies   bool            // hard links do not work here
}

func (l *linker) visit(path string, entry fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(l.from, path)
	if err != nil {
		return err
	}
	slash := filepath.ToSlash(rel)
	target := filepath.Join(l.to, rel)
	switch {
	case entry.IsDir():
		return os.MkdirAll(target, 0o755)
	case l.skip[slash] || l.stale(slash):
		return nil
	case strings.HasSuffix(slash, ".py"):
		return l.hardLink(path, target)
	}
	return os.Symlink(path, target)
}

// stale reports byte code of a skipped file: name.cpython-311.pyc.
func (l *linker) stale(slash string) bool {
	dir, name := filepath.Split(slash)
	stem, _, _ := strings.Cut(name, ".")
	return strings.HasSuffix(dir, "__pycache__/") && l.skip[dir+stem+"."]
}

// hardLink gives a module a name in the tree and no other: code that resolves
// the links in __file__ stays inside the tree, too.
func (l *linker) hardLink(path, target string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	if !l.copies {
		if os.Link(real, target) == nil {
			return nil
		}
		l.copies = true // another device, or links to foreign files forbidden
	}
	return copyFile(real, target)
}

// copyFile keeps the time of change, by which Python trusts its byte code.
func copyFile(path, target string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := os.WriteFile(target, data, 0o644); err != nil {
		return err
	}
	return os.Chtimes(target, info.ModTime(), info.ModTime())
}

// replace puts the finished tree in place of an earlier one.
func replace(work, out string) error {
	old := work + ".old"
	err := os.Rename(out, old)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("tree %s: %w", out, err)
	}
	if err := os.Rename(work, out); err != nil {
		return fmt.Errorf("tree %s: %w", out, errors.Join(err, os.Rename(old, out)))
	}
	if err := os.RemoveAll(old); err != nil {
		return fmt.Errorf("tree %s: remove the earlier one: %w", out, err)
	}
	return nil
}

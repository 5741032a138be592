package results

import (
	"bytes"
	"io"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// archive is a folder in an archive that was read into memory.
type archive struct {
	at      string            // for people: path of the archive, and of the folder in it
	dir     string            // the folder; "" is the archive itself
	content map[string][]byte // of the whole archive, by path
}

func (a *archive) path(name string) string { return filepath.Join(a.at, filepath.FromSlash(name)) }

func (a *archive) sub(dir string) files {
	return &archive{at: a.path(dir), dir: path.Join(a.dir, dir), content: a.content}
}

func (a *archive) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: a.path(name), Err: fs.ErrInvalid}
	}
	inside := path.Join(a.dir, name)
	if data, ok := a.content[inside]; ok {
		return &storedFile{bytes.NewReader(data), storedInfo{name: path.Base(inside), size: int64(len(data))}}, nil
	}
	entries := a.entries(inside)
	if len(entries) == 0 {
		return nil, &fs.PathError{Op: "open", Path: a.path(name), Err: fs.ErrNotExist}
	}
	return &storedFolder{storedInfo{name: path.Base(inside), folder: true}, entries}, nil
}

// entries are those of a folder, by name.
func (a *archive) entries(dir string) []fs.DirEntry {
	prefix := dir + "/"
	if dir == "." {
		prefix = ""
	}
	found := map[string]storedInfo{}
	for name, data := range a.content {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			first, _, below := strings.Cut(rest, "/")
			found[first] = storedInfo{name: first, size: int64(len(data)), folder: below}
		}
	}
	var list []fs.DirEntry
	for _, name := range slices.Sorted(maps.Keys(found)) {
		list = append(list, fs.FileInfoToDirEntry(found[name]))
	}
	return list
}

// storedInfo describes a file or a folder of an archive.
type storedInfo struct {
	name   string
	size   int64
	folder bool
}

func (i storedInfo) Name() string     { return i.name }
func (i storedInfo) IsDir() bool      { return i.folder }
func (storedInfo) ModTime() time.Time { return time.Time{} }
func (storedInfo) Sys() any           { return nil }

func (i storedInfo) Size() int64 {
	if i.folder {
		return 0
	}
	return i.size
}

func (i storedInfo) Mode() fs.FileMode {
	if i.folder {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

type storedFile struct {
	*bytes.Reader
	info storedInfo
}

func (f *storedFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *storedFile) Close() error               { return nil }

type storedFolder struct {
	info storedInfo
	left []fs.DirEntry
}

func (f *storedFolder) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *storedFolder) Close() error               { return nil }

func (f *storedFolder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: f.info.name, Err: fs.ErrInvalid}
}

func (f *storedFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 {
		n = len(f.left)
	} else if len(f.left) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(f.left))
	list := f.left[:n]
	f.left = f.left[n:]
	return list, nil
}

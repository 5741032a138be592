package results

import (
	"io/fs"
	"os"
	"path/filepath"
)

// files are those of a run directory, or of a folder in it, for reading: of a
// folder of this machine, or of the archive of a published campaign.
type files interface {
	fs.FS
	// path names a file for people; the errors of Open do so as well.
	path(name string) string
	sub(dir string) files
}

// folder is a folder of this machine.
type folder string

// Folder gives the files of a folder of this machine. Errors name whole paths.
func Folder(dir string) fs.FS { return folder(dir) }

func (f folder) path(name string) string { return filepath.Join(string(f), filepath.FromSlash(name)) }

func (f folder) sub(dir string) files { return folder(f.path(dir)) }

func (f folder) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: f.path(name), Err: fs.ErrInvalid}
	}
	return os.Open(f.path(name))
}

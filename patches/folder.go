package patches

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
)

// markLength is how much of a series' SHA-256 tells two states of a revision
// apart, in hex digits.
const markLength = 12

var folderID = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,47}$`)

// Open reads a revision that does not ship with opbench from its folder, such as
// the one of a pull request: meta.json, series and patches. It is checked like
// those that ship, against the same upstream files, and must fit the same vLLM.
// Its ID ends in the beginning of its series' SHA-256, r1-seed+337c3ac28b95, so
// that two states of one revision can be told apart. Its parent is not looked for.
func Open(dir string) (Revision, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Revision{}, fmt.Errorf("patch folder %s: %w", dir, err)
	}
	up, _, err := findUpstream(embedded)
	if err != nil {
		return Revision{}, err
	}
	r, err := loadRevision(os.DirFS(filepath.Dir(abs)), path.Join(filepath.Base(abs), "meta.json"), up)
	if err != nil {
		return Revision{}, fmt.Errorf("patch folder %s: %w", dir, err)
	}
	if !folderID.MatchString(r.ID) {
		return Revision{}, fmt.Errorf("patch folder %s: id %q: use small letters, digits, dots and hyphens, at most 48", dir, r.ID)
	}
	r.ID += "+" + r.SHA256[:markLength]
	return r, nil
}

// Resolve returns a revision of a plan: one that ships with opbench if dir is
// empty, else the one in that folder, which must still be the one of that id.
func Resolve(id, dir string) (Revision, error) {
	if dir == "" {
		return Find(id)
	}
	r, err := Open(dir)
	if err == nil && r.ID != id {
		return r, fmt.Errorf("patch folder %s: holds %s, the plan was made with %s: put that back, or plan again", dir, r.ID, id)
	}
	return r, err
}

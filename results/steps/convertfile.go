package steps

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ConvertFile converts one packed step file (see Convert) into a new file in
// dir, "" for its own folder, and returns the new file's path. A file of that
// name is never overwritten, and a failed conversion leaves none behind. The
// packed file stays.
func ConvertFile(path, dir string) (string, File, error) {
	stem, ok := strings.CutSuffix(path, PackedExt)
	if !ok {
		return "", File{}, fmt.Errorf("convert %s: its name does not end in %s", path, PackedExt)
	}
	if dir == "" {
		dir = filepath.Dir(path)
	}
	target := filepath.Join(dir, filepath.Base(stem)+".jsonl")
	in, err := os.Open(path)
	if err != nil {
		return "", File{}, fmt.Errorf("convert packed step file: %w", err)
	}
	defer in.Close()
	out, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return "", File{}, fmt.Errorf("convert %s: %w", path, err)
	}
	file, err := Convert(filepath.Base(path), in, out)
	if err = errors.Join(err, out.Close()); err != nil {
		return "", file, errors.Join(err, os.Remove(target))
	}
	return target, file, nil
}

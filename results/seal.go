package results

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Seal writes SHA256SUMS over every file of a run's directory, last: a run
// with this file is complete and never changes. It returns the digest of
// SHA256SUMS for the ledger.
func Seal(dir string) (string, error) {
	sums, err := hashTree(folder(dir))
	if err != nil {
		return "", fmt.Errorf("seal %s: %w", dir, err)
	}
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&b, "%s  %s\n", sums[name], name)
	}
	if err := WriteFile(filepath.Join(dir, sumsFile), b.Bytes()); err != nil {
		return "", err
	}
	return digest(b.Bytes()), nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// hashTree hashes all files of a folder and below except SHA256SUMS itself.
func hashTree(f files) (map[string]string, error) {
	sums := map[string]string{}
	err := fs.WalkDir(f, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || name == sumsFile {
			return err
		}
		sums[name], err = hashFile(f, name)
		return err
	})
	return sums, err
}

func hashFile(fsys fs.FS, name string) (string, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// errUnsealed says that a run's directory has no SHA256SUMS: it is incomplete.
var errUnsealed = errors.New("no SHA256SUMS: the run is incomplete")

// verifySeal checks a run's directory against its SHA256SUMS and that against
// the digest in the ledger. Files listed in thinned may be absent.
func verifySeal(f files, want string, thinned map[string]bool) error {
	data, err := fs.ReadFile(f, sumsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return errUnsealed
	}
	if err != nil {
		return err
	}
	if got := digest(data); got != want {
		return fmt.Errorf("%s: digest %.12s, the ledger says %.12s: the file was changed after the run", f.path(sumsFile), got, want)
	}
	listed, err := parseSums(f.path(sumsFile), data)
	if err != nil {
		return err
	}
	found, err := hashTree(f)
	if err != nil {
		return err
	}
	return compareSums(f, listed, found, thinned)
}

func parseSums(file string, data []byte) (map[string]string, error) {
	listed := map[string]string{}
	for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		sum, name, ok := strings.Cut(line, "  ")
		if !ok || len(sum) != 2*sha256.Size || name == "" {
			return nil, fmt.Errorf("%s:%d: not a checksum line", file, i+1)
		}
		listed[name] = sum
	}
	return listed, nil
}

func compareSums(f files, listed, found map[string]string, thinned map[string]bool) error {
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		got, ok := found[name]
		switch {
		case !ok && thinned[name]:
		case !ok:
			return fmt.Errorf("%s: the file is missing", f.path(name))
		case got != listed[name]:
			return fmt.Errorf("%s: checksum %.12s, sealed as %.12s: the file was changed after the run", f.path(name), got, listed[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if _, ok := listed[name]; !ok {
			return fmt.Errorf("%s: the file was added after the run", f.path(name))
		}
	}
	return nil
}

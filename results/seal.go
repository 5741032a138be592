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
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Seal writes SHA256SUMS over every file of a run's directory, last: a run
// with this file is complete and never changes. It returns the digest of
// SHA256SUMS for the ledger.
func Seal(dir string) (string, error) {
	sums, err := hashTree(dir)
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

// hashTree hashes all regular files below dir except SHA256SUMS itself.
func hashTree(dir string) (map[string]string, error) {
	sums := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil || rel == sumsFile {
			return err
		}
		sums[filepath.ToSlash(rel)], err = hashFile(path)
		return err
	})
	return sums, err
}

func hashFile(path string) (string, error) {
	f, err := os.Open(path)
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
func verifySeal(dir, want string, thinned map[string]bool) error {
	data, err := os.ReadFile(filepath.Join(dir, sumsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return errUnsealed
	}
	if err != nil {
		return err
	}
	if got := digest(data); got != want {
		return fmt.Errorf("%s/%s: digest %.12s, the ledger says %.12s: the file was changed after the run", dir, sumsFile, got, want)
	}
	listed, err := parseSums(dir, data)
	if err != nil {
		return err
	}
	found, err := hashTree(dir)
	if err != nil {
		return err
	}
	return compareSums(dir, listed, found, thinned)
}

func parseSums(dir string, data []byte) (map[string]string, error) {
	listed := map[string]string{}
	for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		sum, name, ok := strings.Cut(line, "  ")
		if !ok || len(sum) != 2*sha256.Size || name == "" {
			return nil, fmt.Errorf("%s/%s:%d: not a checksum line", dir, sumsFile, i+1)
		}
		listed[name] = sum
	}
	return listed, nil
}

func compareSums(dir string, listed, found map[string]string, thinned map[string]bool) error {
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		got, ok := found[name]
		switch {
		case !ok && thinned[name]:
		case !ok:
			return fmt.Errorf("%s/%s: the file is missing", dir, name)
		case got != listed[name]:
			return fmt.Errorf("%s/%s: checksum %.12s, sealed as %.12s: the file was changed after the run", dir, name, got, listed[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if _, ok := listed[name]; !ok {
			return fmt.Errorf("%s/%s: the file was added after the run", dir, name)
		}
	}
	return nil
}

package harness

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// private replaces the paths of this machine in a text.
func (r *run) private(text string) string { return withoutPaths(text, r.dir, r.opt.Private) }

// withoutPaths replaces the run's folder in a text, then the paths, the longest first.
func withoutPaths(text, dir string, paths map[string]string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		text = strings.ReplaceAll(text, abs, scenarios.RunDirToken)
	}
	for _, p := range slices.SortedFunc(maps.Keys(paths), func(a, b string) int { return cmp.Compare(len(b), len(a)) }) {
		text = strings.ReplaceAll(text, p, paths[p])
	}
	return text
}

// hidePaths replaces the paths of this machine in what is recorded of the server.
func (r *run) hidePaths() {
	s := &r.record.Server
	s.Command = slices.Clone(s.Command)
	for i, arg := range s.Command {
		s.Command[i] = r.private(arg)
	}
	s.Env, s.Backends = maps.Clone(s.Env), maps.Clone(s.Backends)
	for _, facts := range []map[string]string{s.Env, s.Backends} {
		for k, v := range facts {
			facts[k] = r.private(v)
		}
	}
}

// keepLog stores the log of a run's server compressed, without paths of this machine.
func keepLog(dir string, paths map[string]string) error {
	path := filepath.Join(dir, results.ServerLogFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // an attached endpoint has none
	}
	if err != nil {
		return fmt.Errorf("keep the server's log: %w", err)
	}
	if err := os.WriteFile(path, []byte(withoutPaths(string(data), dir, paths)), 0o644); err != nil {
		return fmt.Errorf("keep the server's log: %w", err)
	}
	_, err = results.CompressFile(path)
	return err
}

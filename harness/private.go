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

// private replaces the paths of this machine in a text, the longest first.
func (r *run) private(text string) string {
	if abs, err := filepath.Abs(r.dir); err == nil {
		text = strings.ReplaceAll(text, abs, scenarios.RunDirToken)
	}
	paths := slices.SortedFunc(maps.Keys(r.opt.Private), func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, p := range paths {
		text = strings.ReplaceAll(text, p, r.opt.Private[p])
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

// keepLog stores the server's log compressed, without paths of this machine.
func (r *run) keepLog() error {
	path := filepath.Join(r.dir, results.ServerLogFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // an attached endpoint has none
	}
	if err != nil {
		return fmt.Errorf("keep the server's log: %w", err)
	}
	if err := os.WriteFile(path, []byte(r.private(string(data))), 0o644); err != nil {
		return fmt.Errorf("keep the server's log: %w", err)
	}
	_, err = results.CompressFile(path)
	return err
}

package scenarios

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed traces/*.csv traces/*.jsonl
var traces embed.FS

// A shippedTrace comes with the tool; traces/README.md says from where it is.
type shippedTrace struct{ file, format string }

var shippedTraces = map[string]shippedTrace{
	"azure-conv":    {"traces/azure-conv.csv", "azure"},
	"mooncake-conv": {"traces/mooncake-conv.jsonl", "mooncake"},
}

// Traces returns the names of the traces that ship with the tool, sorted.
func Traces() []string { return slices.Sorted(maps.Keys(shippedTraces)) }

// OpenTrace opens the trace of Source.Path: one that ships with the tool, or a
// file, relative to the working directory.
func OpenTrace(path string) (fs.File, error) {
	if t, ships := shippedTraces[path]; ships {
		return traces.Open(t.file)
	}
	in, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open trace: %w (traces that ship with the tool: %s)", err, strings.Join(Traces(), ", "))
	}
	return in, nil
}

// rebase turns paths of traces, which are relative to the scenario file, into
// paths from the working directory.
func rebase(file string, phases []Phase) {
	for i := range phases {
		path := &phases[i].Source.Path
		if _, ships := shippedTraces[*path]; ships || *path == "" || filepath.IsAbs(*path) {
			continue
		}
		*path = filepath.Join(filepath.Dir(file), *path)
		if _, ships := shippedTraces[*path]; ships {
			*path = "./" + *path // a file of that name was meant
		}
	}
}

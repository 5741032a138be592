package scenarios

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

//go:embed *.yaml
var bundled embed.FS

// Bundled returns the names of the scenarios that ship with the tool, sorted.
func Bundled() []string {
	// The pattern is constant and the tree embedded: this cannot fail.
	entries, _ := bundled.ReadDir(".")
	names := each(entries, func(e fs.DirEntry) string { return strings.TrimSuffix(e.Name(), ".yaml") })
	slices.Sort(names)
	return names
}

// Open returns the text of a bundled scenario.
func Open(name string) ([]byte, error) {
	text, err := bundled.ReadFile(name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("no bundled scenario %s%s", quote(name), suggest(name, Bundled()))
	}
	return text, nil
}

package bench

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aituner/opprof/patches"
	"github.com/aituner/opprof/scenarios"
)

// bindPatches is the flag that gives arms revisions which do not ship with
// opbench, such as the two of a pull request.
func bindPatches(c *cobra.Command, given *[]string) {
	c.Flags().StringArrayVar(given, "patch", nil, "ARM=FOLDER: run this arm with the patch revision in a folder, not with that of the scenario; once per arm")
}

// knownPatches are the revisions that ship with opbench and those that were
// given as ARM=FOLDER.
func knownPatches(given []string) (scenarios.Known, error) {
	known := scenarios.Known{Given: map[string]scenarios.Given{}}
	for _, r := range patches.List() {
		known.Patches = append(known.Patches, r.ID)
	}
	for _, text := range given {
		arm, dir, found := strings.Cut(text, "=")
		if _, twice := known.Given[arm]; !found || arm == "" || dir == "" || twice {
			return known, fmt.Errorf("--patch %q: want ARM=FOLDER, once per arm", text)
		}
		r, err := patches.Open(dir)
		if err != nil {
			return known, fmt.Errorf("--patch %s: %w", text, err)
		}
		known.Given[arm] = scenarios.Given{ID: r.ID, Dir: dir}
		known.Patches = append(known.Patches, r.ID)
	}
	return known, nil
}

// Package thinned judges the list of step files that publishing left out: it takes
// checks out of the report's hands, and is believed only where it can be so.
package thinned

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Run is a run of a campaign as far as files may be left out of it.
type Run struct {
	Folder  string          // below blocks/
	Arm     string          // name
	Steps   map[string]bool // files of its record, by path in Folder; true: its seal has them as well
	Counts  bool            // accepted, and no burn-in
	Damaged bool            // told by itself; Steps may be empty
}

// Problem says why a list ("0001/on/steps/…") cannot be what publishing left out, or
// "": every file of it was sealed with its run and is gone, and of each arm that
// recorded one run keeps all, one that counts if there is any. there reports whether
// a file is still in place.
func Problem(list map[string]bool, runs []Run, there func(name string) bool) string {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		switch {
		case there(name):
			return fmt.Sprintf("lists %s, which is there", name)
		case !slices.ContainsFunc(runs, func(r Run) bool { return r.had(name) }):
			return fmt.Sprintf("lists %s, which no run has among its sealed step files", name)
		}
	}
	if arm := stripped(list, runs); arm != "" {
		return fmt.Sprintf("leaves no run of arm %s its step files, and one keeps them", arm)
	}
	return ""
}

func (r Run) had(name string) bool {
	file, below := strings.CutPrefix(name, r.Folder+"/")
	return below && (r.Damaged || r.Steps[file])
}

// keeps reports whether nothing was left out of a run.
func (r Run) keeps(list map[string]bool) bool {
	for file := range r.Steps {
		if list[r.Folder+"/"+file] {
			return false
		}
	}
	return true
}

// stripped is an arm of whose runs none keeps its step files; "" if there is none.
func stripped(list map[string]bool, runs []Run) string {
	runs = slices.DeleteFunc(slices.Clone(runs), func(r Run) bool { return len(r.Steps) == 0 })
	counting, kept := map[string]bool{}, map[string]bool{}
	for _, r := range runs {
		counting[r.Arm] = counting[r.Arm] || r.Counts
	}
	for _, r := range runs {
		kept[r.Arm] = kept[r.Arm] || r.keeps(list) && (r.Counts || !counting[r.Arm])
	}
	for _, arm := range slices.Sorted(maps.Keys(kept)) {
		if !kept[arm] {
			return arm
		}
	}
	return ""
}

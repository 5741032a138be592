// Package patches holds what is tested: revisions of the step recorder as
// patches for vLLM, embedded as data, and what can be done with them without
// git: verify a tree, build a tree to serve from.
//
// A patch is a zero-context unified diff, so it contains no line of vLLM other
// than those it replaces. Where it goes and whether it fits is decided by git
// blob ids alone: there is no fuzz and no search for a place.
package patches

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// None names the untouched package. Find returns a revision without files for
// it, so that the baseline of a campaign goes through the same kind of tree.
const None = "none"

// ErrForeign is wrapped by errors about a tree that is neither pristine nor
// patched as expected.
var ErrForeign = errors.New("foreign tree")

//go:embed vllm/*/UPSTREAM.json vllm/*/*/meta.json vllm/*/*/series vllm/*/*/*.patch
var embedded embed.FS

// Revision is one version of the recorder for one upstream commit.
type Revision struct {
	ID     string
	Commit string // upstream commit, 40 hex digits
	VLLM   string // upstream version, as in "0.24.0"
	Parent string // the revision it was derived from, or None
	Status string // proposed, tested or gated
	// SchemaVersion is that of the step records it writes; 0 if it writes none.
	SchemaVersion int
	ExpectedCost  string   // foreground time per step, in words
	MeasuredCost  string   // the same, as BENCH.md has it; "" if not measured
	Changes       []string // in words
	Files         []File
	SHA256        string // of all patches, concatenated in series order

	patches  []patchFile
	required map[string]string // upstream files that it relies on: path to blob
}

// File is a file that a revision changes or adds.
type File struct {
	Path string // slash-separated, from the folder that contains vllm/
	Pre  string // git blob id before, "" for an added file
	Post string // git blob id after
}

// Series is the text of all patches in the order of application.
func (r Revision) Series() []byte {
	var all bytes.Buffer
	for _, p := range r.patches {
		all.Write(p.text)
	}
	return all.Bytes()
}

var revisions = sync.OnceValues(func() ([]Revision, error) { return load(embedded) })

// List returns all revisions in the order of their ids, without None.
func List() []Revision {
	all, err := revisions()
	if err != nil {
		panic(err) // the embedded data is checked by this package's tests
	}
	return slices.DeleteFunc(slices.Clone(all), func(r Revision) bool { return r.ID == None })
}

// Find returns the revision with this id; None is one.
func Find(id string) (Revision, error) {
	all, err := revisions()
	if err != nil {
		return Revision{}, err
	}
	var ids []string
	for _, r := range all {
		if r.ID == id {
			return r, nil
		}
		ids = append(ids, r.ID)
	}
	return Revision{}, fmt.Errorf("patch revision %q: unknown, use one of %v", id, ids)
}

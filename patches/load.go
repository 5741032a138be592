package patches

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// upstream is UPSTREAM.json: the commit that a folder of revisions is for.
type upstream struct {
	Repository string            `json:"repository"`
	Version    string            `json:"version"`
	Commit     string            `json:"commit"`
	Required   map[string]string `json:"required"`
}

// meta is meta.json of a revision.
type meta struct {
	ID           string   `json:"id"`
	Parent       string   `json:"parent"`
	Commit       string   `json:"commit"`
	Status       string   `json:"status"`
	Schema       int      `json:"schema"`
	ExpectedCost string   `json:"expected_cost"`
	MeasuredCost string   `json:"measured_cost"`
	Changes      []string `json:"changes"`
	Files        []struct {
		Path string `json:"path"`
		Pre  string `json:"pre"`
		Post string `json:"post"`
	} `json:"files"`
	Patches []struct {
		Name   string `json:"name"`
		SHA256 string `json:"sha256"`
	} `json:"patches"`
	SeriesSHA256 string `json:"series_sha256"`
}

// patchFile is one patch of a series.
type patchFile struct {
	name  string // path in the embedded file system, for errors
	text  []byte
	diffs []fileDiff
}

// load reads and checks all revisions below vllm/, None among them. What is
// wrong with the data is found here, before it touches any tree.
func load(fsys fs.FS) ([]Revision, error) {
	up, dir, err := findUpstream(fsys)
	if err != nil {
		return nil, err
	}
	metas, err := fs.Glob(fsys, dir+"/*/meta.json")
	if err != nil {
		return nil, fmt.Errorf("patches: %w", err)
	}
	all := []Revision{{ID: None, Commit: up.Commit, VLLM: up.Version, Status: "gated", required: up.Required}}
	for _, name := range metas {
		r, err := loadRevision(fsys, name, up)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, checkParents(all)
}

// findUpstream reads the one UPSTREAM.json below vllm/ and names its folder.
func findUpstream(fsys fs.FS) (upstream, string, error) {
	bases, err := fs.Glob(fsys, "vllm/*/UPSTREAM.json")
	if err != nil {
		return upstream{}, "", fmt.Errorf("patches: %w", err)
	}
	if len(bases) != 1 {
		return upstream{}, "", fmt.Errorf("patches: found %v, want one UPSTREAM.json", bases)
	}
	up, err := loadUpstream(fsys, bases[0])
	return up, path.Dir(bases[0]), err
}

func loadUpstream(fsys fs.FS, name string) (upstream, error) {
	var up upstream
	if err := readJSON(fsys, name, &up); err != nil {
		return up, err
	}
	if len(up.Commit) != 40 || !strings.HasPrefix(up.Commit, path.Base(path.Dir(name))) {
		return up, fmt.Errorf("%s: commit %q does not fit the folder", name, up.Commit)
	}
	if len(up.Required) == 0 {
		return up, fmt.Errorf("%s: no required files", name)
	}
	return up, nil
}

func loadRevision(fsys fs.FS, name string, up upstream) (Revision, error) {
	var m meta
	if err := readJSON(fsys, name, &m); err != nil {
		return Revision{}, err
	}
	dir := path.Dir(name)
	if m.ID != path.Base(dir) || m.ID == None {
		return Revision{}, fmt.Errorf("%s: id %q does not fit the folder", name, m.ID)
	}
	if m.Commit != up.Commit {
		return Revision{}, fmt.Errorf("%s: commit %q, UPSTREAM.json has %q", name, m.Commit, up.Commit)
	}
	patches, err := loadSeries(fsys, dir, m)
	if err != nil {
		return Revision{}, err
	}
	r := Revision{
		ID: m.ID, Commit: m.Commit, VLLM: up.Version, Parent: m.Parent, Status: m.Status,
		SchemaVersion: m.Schema, ExpectedCost: m.ExpectedCost, MeasuredCost: m.MeasuredCost, Changes: m.Changes,
		SHA256: m.SeriesSHA256, patches: patches, required: up.Required,
	}
	for _, f := range m.Files {
		r.Files = append(r.Files, File{f.Path, strings.TrimPrefix(f.Pre, absentBlob), f.Post})
	}
	if got := hexSHA256(r.Series()); got != m.SeriesSHA256 {
		return r, fmt.Errorf("%s: series has SHA-256 %s, want %s", dir, got, m.SeriesSHA256)
	}
	return r, checkFiles(name, r)
}

// loadSeries reads the patches in the order of the series file, which must be
// that of meta.json.
func loadSeries(fsys fs.FS, dir string, m meta) ([]patchFile, error) {
	series, err := fs.ReadFile(fsys, dir+"/series")
	if err != nil {
		return nil, fmt.Errorf("patches: %w", err)
	}
	var names strings.Builder
	var patches []patchFile
	for _, p := range m.Patches {
		names.WriteString(p.Name + "\n")
		name := dir + "/" + p.Name
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("patches: %w", err)
		}
		if got := hexSHA256(text); got != p.SHA256 {
			return nil, fmt.Errorf("%s: SHA-256 is %s, meta.json has %s", name, got, p.SHA256)
		}
		diffs, err := parseDiffs(name, text)
		if err != nil {
			return nil, err
		}
		patches = append(patches, patchFile{name, text, diffs})
	}
	if names.String() != string(series) {
		return nil, fmt.Errorf("%s/series: lists %q, meta.json has %q", dir, series, names.String())
	}
	return patches, nil
}

// checkFiles compares the files of the patches with those of meta.json and
// UPSTREAM.json. An added file is complete in its patch, so its blob is too.
func checkFiles(name string, r Revision) error {
	listed := map[string]File{}
	for _, f := range r.Files {
		listed[f.Path] = f
	}
	for _, p := range r.patches {
		for _, d := range p.diffs {
			f, ok := listed[d.path]
			if !ok {
				return fmt.Errorf("%s:%d: %s is not, or no longer, a file of meta.json", p.name, d.line, d.path)
			}
			delete(listed, d.path)
			if err := checkFile(f, d, r.required); err != nil {
				return fmt.Errorf("%s:%d: %s: %w", p.name, d.line, d.path, err)
			}
		}
	}
	if len(listed) > 0 {
		return fmt.Errorf("%s: no patch for %v", name, slices.Sorted(maps.Keys(listed)))
	}
	return nil
}

func checkFile(f File, d fileDiff, required map[string]string) error {
	switch {
	case f.Pre != d.pre || f.Post != d.post:
		return fmt.Errorf("blobs %s..%s, meta.json has %s..%s", d.pre, d.post, f.Pre, f.Post)
	case f.Pre != required[f.Path]:
		return fmt.Errorf("starts from blob %q, UPSTREAM.json has %q", f.Pre, required[f.Path])
	case f.Pre != "":
		return nil
	}
	added, err := d.apply(nil)
	if err != nil {
		return err
	}
	if got := blobID(added); got != f.Post {
		return fmt.Errorf("adds blob %s, want %s", got, f.Post)
	}
	return nil
}

func checkParents(all []Revision) error {
	for _, r := range all[1:] {
		if !slices.ContainsFunc(all, func(p Revision) bool { return p.ID == r.Parent && p.ID != r.ID }) {
			return fmt.Errorf("patch revision %s: parent %q is no other revision", r.ID, r.Parent)
		}
	}
	return nil
}

func readJSON(fsys fs.FS, name string, v any) error {
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return fmt.Errorf("patches: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if dec.More() {
		return fmt.Errorf("%s: %w", name, errors.New("more than one JSON value"))
	}
	return nil
}

func hexSHA256(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

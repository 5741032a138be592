// Package house measures the packages of this project: how long each is, and how
// many of its files can only be read together.
package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Package is one package of a module, without its tests.
type Package struct {
	Path    string // below the module's path; "." for the module's root
	Lines   int    // of Go source, comments and blank lines included
	Files   int
	InCycle int // files of the largest reference cycle; 0: no file refers back to another
}

// Share is the part of the files that the largest reference cycle holds, 0 to 1.
func (p Package) Share() float64 { return float64(p.InCycle) / float64(p.Files) }

// Table writes packages as lines of text under a heading.
func Table(all []Package) string {
	var b strings.Builder
	fmt.Fprintln(&b, "lines  files  in cycle  share  package")
	for _, p := range all {
		fmt.Fprintf(&b, "%5d  %5d  %8d  %4.0f%%  %s\n", p.Lines, p.Files, p.InCycle, 100*p.Share(), p.Path)
	}
	return b.String()
}

// source is what go list says about a package.
type source struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	Module                  *struct {
		Path string
		Main bool
	}
}

// Measure measures every package of the module in dir, sorted by path, as go list
// and the compiler of this machine see it. A file refers to another of its package
// if it uses a constant, variable, type, function or method that is declared there;
// a cycle is a strongly connected part of that graph.
func Measure(dir string) ([]Package, error) {
	list, err := goList(dir)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, s := range list {
		exports[s.ImportPath] = s.Export
	}
	fset := token.NewFileSet()
	imp := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var all []Package
	for _, s := range list {
		if s.Module == nil || !s.Module.Main || len(s.GoFiles) == 0 {
			continue
		}
		p, err := s.measure(fset, imp)
		if err != nil {
			return nil, fmt.Errorf("measure %s: %w", s.ImportPath, err)
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b Package) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

func goList(dir string) ([]source, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Module", "./...")
	var stderr bytes.Buffer
	cmd.Dir, cmd.Stderr = dir, &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages in %s: %w: %s", dir, err, bytes.TrimSpace(stderr.Bytes()))
	}
	var list []source
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var s source
		if err := dec.Decode(&s); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, fmt.Errorf("read what go list says: %w", err)
		}
		list = append(list, s)
	}
}

func (s source) measure(fset *token.FileSet, imp types.Importer) (Package, error) {
	p := Package{Path: ".", Files: len(s.GoFiles)}
	if below, found := strings.CutPrefix(s.ImportPath, s.Module.Path+"/"); found {
		p.Path = below
	}
	var files []*ast.File
	for _, name := range s.GoFiles {
		text, err := os.ReadFile(filepath.Join(s.Dir, name))
		if err != nil {
			return p, err
		}
		p.Lines += bytes.Count(text, []byte("\n"))
		f, err := parser.ParseFile(fset, filepath.Join(s.Dir, name), text, parser.SkipObjectResolution)
		if err != nil {
			return p, err
		}
		files = append(files, f)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	pkg, err := (&types.Config{Importer: imp}).Check(s.ImportPath, fset, files, info)
	if err != nil {
		return p, err
	}
	p.InCycle = largestCycle(references(fset, pkg, info))
	return p, nil
}

// graph has for each file the others that it refers to.
type graph map[string]map[string]bool

func references(fset *token.FileSet, pkg *types.Package, info *types.Info) graph {
	g := graph{}
	for id, object := range info.Uses {
		if object.Pkg() != pkg || object.Parent() != pkg.Scope() && !isMethod(object) {
			continue
		}
		from, to := fset.File(id.Pos()).Name(), fset.File(object.Pos()).Name()
		if g[from] == nil {
			g[from] = map[string]bool{}
		}
		if from != to {
			g[from][to] = true
		}
	}
	return g
}

func isMethod(object types.Object) bool {
	f, ok := object.(*types.Func)
	return ok && f.Signature().Recv() != nil
}

// largestCycle counts the files of the largest strongly connected part of two or
// more.
func largestCycle(g graph) int {
	reach := map[string]map[string]bool{}
	for file := range g {
		reach[file] = map[string]bool{}
		g.visit(file, reach[file])
	}
	largest := 0
	for file := range g {
		n := 0
		for other := range reach[file] {
			if reach[other][file] {
				n++
			}
		}
		largest = max(largest, n)
	}
	return largest
}

// visit adds to seen what can be reached from a file by one reference or more.
func (g graph) visit(file string, seen map[string]bool) {
	for other := range g[file] {
		if !seen[other] {
			seen[other] = true
			g.visit(other, seen)
		}
	}
}

package bench

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// declared says where the project declares what, by name as documents write it:
// judge.Build, load.answer.chunk, view.Metric.Primary, TestGolden.
type declared map[string][]string

// declarations parses every Go file below a folder.
func declarations(t *testing.T, root string) declared {
	t.Helper()
	all := declared{}
	require.NoError(t, fs.WalkDir(os.DirFS(root), ".", func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && len(d.Name()) > 1 && (d.Name()[0] == '.' || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if err != nil || path.Ext(file) != ".go" {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.SkipObjectResolution)
		if err == nil {
			all.add(file, parsed)
		}
		return err
	}))
	return all
}

func (all declared) add(file string, f *ast.File) {
	note := func(name string) {
		if !strings.HasPrefix(name, "Test") {
			name = strings.TrimSuffix(f.Name.Name, "_test") + "." + name
		}
		all[name] = append(all[name], file)
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			note(receiver(d) + d.Name.Name)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				for _, name := range namesOf(s) {
					note(name)
				}
			}
		}
	}
}

// receiver is the type of a method with a dot, "" for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if name, ok := typ.(*ast.Ident); ok {
		return name.Name + "."
	}
	return "?."
}

func namesOf(s ast.Spec) (names []string) {
	switch s := s.(type) {
	case *ast.TypeSpec:
		return []string{s.Name.Name}
	case *ast.ValueSpec:
		for _, n := range s.Names {
			names = append(names, n.Name)
		}
	}
	return names
}

// guide is a document whose words between backticks name parts of the project.
type guide struct {
	root     string
	declared declared
	makefile string
	app      *app
}

var (
	codeWord   = regexp.MustCompile("`([^`\n]+)`")
	identifier = regexp.MustCompile(`^(Test\w+|[a-z]\w*(\.\w+)+)$`)
	// inFile is a row of a table: `function` | `file`.
	inFile = regexp.MustCompile("`([^`\n]+)` \\| `([^`\n]+\\.go)`")
)

// wrong are the words of a text between backticks that name nothing: paths from
// the root, identifiers, commands and make targets. What begins with go or git is
// a command of others. A function with a file beside it is in that file.
func (g *guide) wrong(text string) (list []string) {
	for _, m := range codeWord.FindAllStringSubmatch(text, -1) {
		if why := g.unknown(m[1]); why != "" {
			list = append(list, m[1]+": "+why)
		}
	}
	for _, m := range inFile.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(g.declared[m[1]], m[2]) {
			list = append(list, fmt.Sprintf("%s: is not in %s", m[1], m[2]))
		}
	}
	return list
}

// unknown says what is wrong with one word, "" if nothing is.
func (g *guide) unknown(word string) string {
	tool, rest, _ := strings.Cut(word, " ")
	exists := func(path string) bool {
		_, err := os.Stat(filepath.Join(g.root, path))
		return err == nil
	}
	switch {
	case tool == "go" || tool == "git":
		return ""
	case tool == "make":
		if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(rest) + `:`).MatchString(g.makefile) {
			return "no such target"
		}
	case tool == "opbench":
		if c, _, err := g.app.root().Find(strings.Fields(rest)); err != nil || !c.HasParent() {
			return "no such command"
		}
	case exists(word):
	case !identifier.MatchString(word):
		return "no such path"
	case g.declared[word] == nil:
		return "not declared"
	}
	return ""
}

func newGuide(t *testing.T) *guide {
	t.Helper()
	makefile, err := os.ReadFile("../Makefile")
	require.NoError(t, err)
	return &guide{root: "..", declared: declarations(t, ".."), makefile: string(makefile), app: &app{}}
}

// Whoever follows the guide for contributors finds what it names.
func TestContributing(t *testing.T) {
	text, err := os.ReadFile("../.github/CONTRIBUTING.md")
	require.NoError(t, err)
	require.Greater(t, len(codeWord.FindAllString(string(text), -1)), 60)
	require.Greater(t, len(inFile.FindAllString(string(text), -1)), 20)
	assert.Empty(t, newGuide(t).wrong(string(text)))
	assert.Less(t, len(strings.Fields(string(text))), 1500, "a reviewer reads it in ten minutes")
}

func TestContributingCatches(t *testing.T) {
	g := newGuide(t)
	good := "`bench/main.go`, `.ci/run`, `judge.Build`, `load.answer.chunk`, `bench.exportFormats`, `TestContributing`, " +
		"`make test`, `opbench patch tree`, `go test ./...`, `git log --grep x`, `bench.app.main` | `bench/main.go` |"
	assert.Empty(t, g.wrong(good))
	for bad, why := range map[string]string{
		"`bench/gone.go`": "no such path", "`verdict`": "no such path", "`judge.Biuld`": "not declared",
		"`load.answer.chnk`": "not declared", "`TestNobody`": "not declared", "`make coffee`": "no such target",
		"`opbench brew`": "no such command", "`opbench`": "no such command",
		"`bench.app.main` | `bench/run.go` |": "is not in bench/run.go",
	} {
		list := g.wrong(bad)
		require.Len(t, list, 1, bad)
		assert.Contains(t, list[0], why)
	}
}

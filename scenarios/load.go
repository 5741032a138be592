package scenarios

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// maxSize bounds a scenario file, in bytes: the largest useful one has a few
// thousand.
const maxSize = 1 << 20

// Known is what only other packages know about the world of a scenario.
type Known struct {
	// Patches are the patch revisions that an arm may name besides "none".
	Patches []string
	// Given are patches that take the place of those in the file, by arm. Their
	// ids are in Patches, too.
	Given map[string]Given
}

// Given is a patch revision that an arm gets from outside its file.
type Given struct {
	ID  string
	Dir string // its folder, from the working directory
}

// Read loads the scenario file at path and returns its text beside it, as the
// plan keeps the text. The error is Errors unless the file cannot be read.
func Read(path string, known Known) (*Scenario, []byte, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("read scenario: %w", err)
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxSize+1))
	if err != nil {
		return nil, nil, fmt.Errorf("read scenario %s: %w", path, err)
	}
	s, err := Load(path, text, known)
	return s, text, err
}

// Load reads a scenario from its YAML text, fills in every default and checks
// every rule. The name stands before each problem's position. The error is of
// type Errors and lists all problems of the text.
func Load(name string, text []byte, known Known) (*Scenario, error) {
	f := &file{name: name, at: map[string]*yaml.Node{}}
	root := f.parse(text)
	if root == nil {
		return nil, f.errs.sorted()
	}
	s := defaults()
	object(value{file: f, node: root}, scenarioFields, &s)
	f.shapes = len(f.errs)
	givePatches(f, &s, known)
	complete(f, &s)
	validate(f, &s, known)
	if len(f.errs) > 0 {
		return nil, f.errs.sorted()
	}
	rebase(name, s.Phases)
	return &s, nil
}

// parse returns the root of the only document, or nil after reporting why the
// text cannot be walked.
func (f *file) parse(text []byte) *yaml.Node {
	if len(text) > maxSize {
		f.problem(1, 1, "", "larger than 1 MiB: this is no scenario")
		return nil
	}
	if !utf8.Valid(text) {
		line, column := firstInvalid(text)
		f.problem(line, column, "", "not UTF-8: save the file in UTF-8")
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document yaml.Node
	if err := decoder.Decode(&document); err != nil {
		f.syntax(err, text)
		return nil
	}
	f.refuseSecond(decoder, text)
	root := document.Content[0]
	f.refuseIndirect(root, "")
	if root.Kind != yaml.MappingNode && len(f.errs) == 0 {
		value{file: f, node: root}.bad("want a mapping of keys such as scenario and engine")
	}
	if len(f.errs) > 0 {
		return nil
	}
	return root
}

// firstInvalid returns the line and column of the first byte that is no UTF-8;
// there must be one.
func firstInvalid(text []byte) (line, column int) {
	line, column = 1, 1
	for {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && size <= 1:
			return line, column
		case r == '\n':
			line, column = line+1, 1
		default:
			column++
		}
		text = text[size:]
	}
}

var (
	syntaxLine = regexp.MustCompile(`^line (\d+): `)
	// The parser of yaml.v3 counts lines from 0, its scanner from 1; these
	// messages come from the parser.
	fromParser = regexp.MustCompile(`^did not find expected (',' or|node content|key|'-' indicator|<)`)
)

// syntax reports what the YAML parser says; it knows only a line.
func (f *file) syntax(err error, text []byte) {
	if errors.Is(err, io.EOF) {
		f.problem(1, 1, "", "the file is empty: a scenario needs at least scenario, engine, arms, phases and design")
		return
	}
	message, line := strings.TrimPrefix(err.Error(), "yaml: "), 1
	if m := syntaxLine.FindStringSubmatch(message); m != nil {
		line, _ = strconv.Atoi(m[1])
		message = message[len(m[0]):]
		if fromParser.MatchString(message) {
			line++
		}
	}
	last := 1 + bytes.Count(bytes.TrimRight(text, "\n"), []byte("\n"))
	f.problem(max(1, min(line, last)), 1, "", "not YAML: %s", message)
}

// refuseSecond reports what follows the first document: a decoder would
// silently leave it out.
func (f *file) refuseSecond(decoder *yaml.Decoder, text []byte) {
	var second yaml.Node
	err := decoder.Decode(&second)
	switch {
	case err == nil:
		f.problem(second.Line, second.Column, "", "a second document: a file holds one scenario")
	case !errors.Is(err, io.EOF):
		f.syntax(err, text)
	}
}

// refuseIndirect reports anchors, aliases, merge keys and explicit tags: with
// them a value would not be where the reader of the file sees it.
func (f *file) refuseIndirect(node *yaml.Node, path string) {
	switch {
	case node.Kind == yaml.AliasNode:
		f.add(node, path, "aliases are not allowed: write the value out")
	case node.Anchor != "":
		f.add(node, path, "anchors are not allowed: write the value out where it is needed")
	case node.Tag == "!!merge":
		f.add(node, path, "merge keys are not allowed: write the keys out")
	case node.Style&yaml.TaggedStyle != 0:
		f.add(node, path, "tags are not allowed: write the plain value")
	}
	for _, child := range node.Content {
		f.refuseIndirect(child, path)
	}
}

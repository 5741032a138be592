package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// file is a scenario file while it is walked: its problems and where each key
// of it stands. Structs are filled by hand instead of by yaml.v3, which knows
// no columns, skips strictness inside nested nodes and stops too early.
type file struct {
	name   string
	at     map[string]*yaml.Node // value by path
	errs   Errors
	shapes int // the first so many problems are of single values, not of rules
}

func (f *file) problem(line, column int, path, format string, args ...any) {
	if len(f.errs) == maxErrors {
		return
	}
	message := fmt.Sprintf(format, args...)
	f.errs = append(f.errs, &Error{f.name, line, column, path, message})
}

func (f *file) add(node *yaml.Node, path, format string, args ...any) {
	f.problem(node.Line, node.Column, path, format, args...)
}

// has reports whether the file gives the key of that path.
func (f *file) has(path string) bool { return f.at[path] != nil }

// rule reports that the value at path breaks a rule. A defaulted value is
// reported at the nearest key that stands in the file. A value that could not
// even be read has been reported and says nothing more.
func (f *file) rule(path, format string, args ...any) {
	for _, e := range f.errs[:f.shapes] {
		if e.Path == path || under(e.Path, path) || under(path, e.Path) {
			return
		}
	}
	near := path
	for near != "" && !f.has(near) {
		near = parent(near)
	}
	f.add(f.at[near], path, format, args...)
}

// wrong reports whether the value at path could not be read.
func (f *file) wrong(path string) bool {
	return slices.ContainsFunc(f.errs[:f.shapes], func(e *Error) bool { return e.Path == path })
}

// under reports whether path lies below top.
func under(path, top string) bool {
	return top != "" && len(path) > len(top) && strings.HasPrefix(path, top) &&
		(path[len(top)] == '.' || path[len(top)] == '[')
}

func parent(path string) string {
	if i := strings.LastIndexAny(path, ".["); i >= 0 {
		return path[:i]
	}
	return ""
}

// value is a node of the file and its path.
type value struct {
	file *file
	path string
	node *yaml.Node
}

func (v value) bad(format string, args ...any) { v.file.add(v.node, v.path, format, args...) }

func (v value) child(key string) string {
	if v.path == "" {
		return key
	}
	return v.path + "." + key
}

// later reports a key or value of the schema that this version cannot run.
func (v value) later(what string) { v.bad("not supported yet: %s", what) }

// got says in words what stands in the file.
func (v value) got() string {
	switch v.node.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch v.node.ShortTag() {
	case "!!null":
		return "nothing"
	case "!!str":
		return "text " + quote(v.node.Value)
	}
	return short(v.node.Value)
}

// entry is a key of a mapping with its value.
type entry struct {
	key  string
	name *yaml.Node
	value
}

// entries returns the keys of a mapping in the file's order, each once.
func (v value) entries() []entry {
	v.file.at[v.path] = v.node
	if v.node.Kind != yaml.MappingNode {
		v.bad("want a mapping, got %s", v.got())
		return nil
	}
	var all []entry
	first := map[string]int{}
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		name, node := v.node.Content[i], v.node.Content[i+1]
		path := v.child(name.Value)
		switch line, twice := first[name.Value]; {
		case name.Kind != yaml.ScalarNode || name.ShortTag() != "!!str":
			v.file.add(name, v.path, "a key must be text: quote it")
		case twice:
			v.file.add(name, path, "duplicate key: it stands on line %d already", line)
		default:
			first[name.Value] = name.Line
			v.file.at[path] = node
			all = append(all, entry{name.Value, name, value{v.file, path, node}})
		}
	}
	return all
}

// items returns the values of a list.
func (v value) items() []value {
	if v.node.Kind != yaml.SequenceNode {
		v.bad("want a list, got %s", v.got())
		return nil
	}
	all := make([]value, len(v.node.Content))
	for i, node := range v.node.Content {
		path := fmt.Sprintf("%s[%d]", v.path, i)
		v.file.at[path] = node
		all[i] = value{v.file, path, node}
	}
	return all
}

// field is one key of an object: how it is read, and whether it must be there.
type field[T any] struct {
	key  string
	need bool
	read func(v value, to *T)
}

// object reads a mapping whose keys are fixed.
func object[T any](v value, fields []field[T], to *T) {
	entries := v.entries()
	for _, e := range entries {
		i := slices.IndexFunc(fields, func(f field[T]) bool { return f.key == e.key })
		if i < 0 {
			v.file.add(e.name, e.path, "unknown key%s", suggest(e.key, each(fields, func(f field[T]) string { return f.key })))
			continue
		}
		fields[i].read(e.value, to)
	}
	if v.node.Kind != yaml.MappingNode {
		return
	}
	for _, f := range fields {
		if f.need && !v.file.has(v.child(f.key)) {
			v.file.add(v.node, v.child(f.key), "missing: this key has no default")
		}
	}
}

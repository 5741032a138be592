package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxErrors bounds the list that one file can produce.
const maxErrors = 100

// Error is one problem of a scenario file.
type Error struct {
	File    string
	Line    int    // from 1
	Column  int    // from 1, in characters
	Path    string // the key, such as phases[0].source.seed; empty for the file
	Message string // what is wrong and what to do
}

// Error prints file:line:column: path: message.
func (e *Error) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s: %s", e.File, e.Line, e.Column, e.Path, e.Message)
}

// Errors is every problem of a scenario file, in the file's order; at most
// 100, since a broken file can have any number.
type Errors []*Error

// Error prints one problem per line.
func (es Errors) Error() string {
	lines := each(es, (*Error).Error)
	if len(es) == maxErrors {
		lines = append(lines, "there may be more: correct these first")
	}
	return strings.Join(lines, "\n")
}

// sorted brings problems into the order of the file; two at one place keep the
// order in which they were found.
func (es Errors) sorted() Errors {
	slices.SortStableFunc(es, func(a, b *Error) int {
		return cmp.Or(a.Line-b.Line, a.Column-b.Column)
	})
	return es
}

package report

import (
	"fmt"
	"slices"
	"strings"
)

// Reason is why something is INVALID or has failed.
type Reason struct {
	Name   string   `json:"name"`
	Detail string   `json:"detail"`
	Where  []string `json:"where,omitempty"` // runs, as block/arm
}

// claim is the line without a name that the verdict already carries.
func (r Reason) claim() string {
	if r.Name == "identity" {
		return "the outputs differ: " + strings.TrimPrefix(r.String(), r.Name+": ")
	}
	return strings.TrimPrefix(r.String(), r.Name+": ")
}

// mostNamed is how many runs a reason names before it counts the others.
const mostNamed = 6

// String is one line: the name, what was seen and where.
func (r Reason) String() string {
	s := r.Name + ": " + r.Detail
	if len(r.Where) == 0 {
		return s
	}
	named := r.Where[:min(len(r.Where), mostNamed)]
	s += " (" + strings.Join(named, ", ")
	if more := len(r.Where) - len(named); more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s + ")"
}

// merge adds a reason, or the place to an equal one.
func merge(list []Reason, r Reason) []Reason {
	i := slices.IndexFunc(list, func(x Reason) bool { return x.Name == r.Name && x.Detail == r.Detail })
	if i < 0 {
		return append(list, r)
	}
	list[i].Where = append(slices.Clone(list[i].Where), r.Where...)
	return list
}

// invalid adds a reason for which no metric of the comparison has a verdict.
func (c *Comparison) invalid(name, format string, args ...any) {
	c.Invalid = merge(c.Invalid, Reason{Name: name, Detail: fmt.Sprintf(format, args...)})
}

// invalid adds a reason that holds for every comparison.
func (b *builder) invalid(name, format string, args ...any) {
	b.general = merge(b.general, Reason{Name: name, Detail: fmt.Sprintf(format, args...)})
}

package view

import (
	"fmt"
	"slices"
	"strings"
)

// Finding is why something is INVALID or has failed.
type Finding struct {
	Name   Reason   `json:"name"`
	Detail string   `json:"detail"`
	Where  []string `json:"where,omitempty"` // runs, as block/arm
	// Told: the sentence of the campaign says it, so that no list repeats it.
	Told bool `json:"told,omitempty"`
}

// NewFinding makes one without a place.
func NewFinding(name Reason, format string, args ...any) Finding {
	return Finding{Name: name, Detail: fmt.Sprintf(format, args...)}
}

// mostNamed is how many runs a reason names before it counts the others.
const mostNamed = 6

// String is one line: the name, what was seen and where.
func (r Finding) String() string {
	s := string(r.Name) + ": " + r.Detail
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

// Untold are the findings that the sentence of the campaign does not say.
func Untold(list []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(list), func(f Finding) bool { return f.Told })
}

// Ranked puts the findings first that outrank others, and leaves these in their order.
func Ranked(list []Finding) []Finding {
	return slices.SortedStableFunc(slices.Values(list), func(x, y Finding) int { return x.Name.rank() - y.Name.rank() })
}

// Merge adds a reason, or the place to an equal one.
func Merge(list []Finding, r Finding) []Finding {
	i := slices.IndexFunc(list, func(x Finding) bool { return x.Name == r.Name && x.Detail == r.Detail })
	if i < 0 {
		return append(list, r)
	}
	list[i].Where = append(slices.Clone(list[i].Where), r.Where...)
	return list
}

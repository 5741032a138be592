package scenarios

import (
	"fmt"
	"slices"
	"strings"
)

// minBlocks is the smallest number of blocks with an interval of the level that
// the gate states.
const minBlocks = 6

// defaultBlocksManyArms is a multiple of the rows of three and of four arms.
const defaultBlocksManyArms = 12

// Rows is the number of blocks after which the orders of the arms are balanced:
// every pair of arms has then run in either order equally often. Two arms run in
// two orders; three and four in the rows of Williams' designs (Australian Journal
// of Scientific Research A 2, 1949).
func (s *Scenario) Rows() int { return RowsOf(len(s.Arms)) }

// RowsOf is Rows for a number of arms.
func RowsOf(arms int) int {
	switch arms {
	case 3:
		return 6
	case 4:
		return 4
	}
	return 2
}

// usualBlocks is the number of blocks of a scenario that does not say it.
func (s *Scenario) usualBlocks() int {
	looks := s.Design.Looks
	switch {
	case s.Purpose == Correctness:
		return 1
	case len(looks) > 0 && looks[len(looks)-1] > 0:
		return looks[len(looks)-1]
	case len(s.Arms) > 2:
		return defaultBlocksManyArms
	}
	return defaultBlocks
}

// checkRows holds the blocks of three and four arms to whole sets of rows.
func checkRows(f *file, s *Scenario, path string) {
	n, rows := s.Design.Blocks, s.Rows()
	if n >= minBlocks && n%rows == 0 {
		return
	}
	least := (minBlocks + rows - 1) / rows * rows
	f.rule(path, "%d arms run in the %d orders of a Williams design, and only whole sets of them balance every pair: "+
		"possible are %d, %d, %d and so on, got %d", len(s.Arms), rows, least, least+rows, least+2*rows, n)
}

// allLookSets are the planned analyses whose error rate is known.
var allLookSets = [][]int{
	{6, 10}, {6, 12}, {8, 16}, {10, 20}, {10, 15, 20}, {6, 10, 14, 20}, {8, 12, 16, 20},
}

func knownLooks(looks []int) bool {
	return slices.ContainsFunc(allLookSets, func(set []int) bool { return slices.Equal(set, looks) })
}

// lookSets are those at which the orders of the arms balance: with two arms all,
// with more those that look after whole sets of rows only.
func (s *Scenario) lookSets() [][]int {
	if len(s.Arms) <= 2 {
		return allLookSets
	}
	return slices.DeleteFunc(slices.Clone(allLookSets), func(set []int) bool {
		return slices.ContainsFunc(set, func(look int) bool { return look%s.Rows() != 0 })
	})
}

func looksText(sets [][]int) string {
	return oneOf(each(sets, func(set []int) string { return strings.ReplaceAll(fmt.Sprint(set), " ", ", ") }))
}

// Repeats reports whether two arms are equal on purpose: one says same_as the
// other, or both go back to the same arm.
func (s *Scenario) Repeats(a, b Arm) bool {
	return a.SameAs == b.Name || b.SameAs == a.Name || s.origin(a) == s.origin(b)
}

// origin follows same_as; a circle of them ends after as many steps as there are
// arms.
func (s *Scenario) origin(a Arm) string {
	for range s.Arms {
		next, found := s.Arm(a.SameAs)
		if a.SameAs == "" || !found {
			break
		}
		a = next
	}
	return a.Name
}

package view

import (
	"fmt"
)

// PracticalBlocks is the longest campaign that anyone is told to run; MostBlocks
// is where a number of blocks stops meaning anything.
const (
	PracticalBlocks = 100
	MostBlocks      = 1000
)

// BlocksRange gives the blocks at the observed spread and at the 80 % upper
// limit of it.
func BlocksRange(n, upper int) string {
	switch {
	case n == 0 || upper == 0 || n > MostBlocks:
		return fmt.Sprintf("more than %d blocks", MostBlocks)
	case upper > MostBlocks:
		return fmt.Sprintf("%d to more than %d blocks", n, MostBlocks)
	case n == upper:
		return fmt.Sprintf("%d blocks", n)
	}
	return fmt.Sprintf("%d to %d blocks", n, upper)
}

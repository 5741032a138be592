package page

import (
	"fmt"

	"github.com/aituner/opprof/report/stat"
)

// share writes a place on an axis as a percentage of the plot's width: plots
// stretch with the page while their text keeps its size.
func share(x float64) string { return fmt.Sprintf("%.2f%%", 100*x) }

// tick is a labelled line of an axis. Anchor keeps its label inside the image.
type tick struct{ At, Label, Anchor string }

// guide is a named horizontal line.
type guide struct{ Y, Name string }

// pen is the command of a path's point: move to the first, draw to the others.
func pen(k int) string {
	if k == 0 {
		return "M"
	}
	return "L"
}

type place struct{ X, Y string }

type piece struct{ From, To place }

// markers give every verdict a shape of its own, and a metric that a control did
// not reach.
var markers = map[stat.Verdict]string{
	stat.Pass:         "M-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0z",                       // circle
	stat.Fail:         "M-5,-5h10v10h-10z",                                           // square
	stat.Inconclusive: "M0,-6.5L6.5,0L0,6.5L-6.5,0z",                                 // diamond
	"":                "M0,-5.5L6,5H-6z",                                             // triangle
	stat.Invalid:      "M-5,-3L-3,-5L0,-2L3,-5L5,-3L2,0L5,3L3,5L0,2L-3,5L-5,3L-2,0z", // cross
}

// field is the part of a plot that a path is stretched over. Plots stretch with
// the page while their text keeps its size, and a path knows no percentages: it
// lies on a field of 1000 units by its height in pixels.
type field struct {
	X, Width  string
	Y, Height int
}

// newField leaves a gutter on the left, a share of the width.
func newField(gutter float64, top, height int) field {
	return field{share(gutter), share(1 - gutter), top, height}
}

// anchor keeps a label at a place from 0 to 1 inside the image.
func anchor(at float64) string {
	switch {
	case at < 0.05:
		return "start"
	case at > 0.92:
		return "end"
	}
	return "middle"
}

package report

import "github.com/aituner/opprof/report/stat"

// armStyle is how an arm looks in all pictures that show several arms: the class
// gives line and colour, the marker is the path of its shape.
type armStyle struct{ Name, Class, Marker string }

// armShapes are those of the arms in the scenario's order.
var armShapes = []stat.Verdict{stat.Pass, stat.Inconclusive, stat.Fail, stat.Invalid}

func (b *builder) armStyles() (styles []armStyle) {
	for i, a := range b.s.Arms {
		k := i % len(armShapes)
		styles = append(styles, armStyle{a.Name, armClasses[k], markers[armShapes[k]]})
	}
	return styles
}

var armClasses = []string{"arm-0", "arm-1", "arm-2", "arm-3"}

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

package page

import (
	"slices"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
)

// armStyle is how an arm looks in all pictures that show several arms: the class
// gives line and colour, the marker is the path of its shape.
type armStyle struct{ Name, Class, Marker string }

// armShapes are those of the arms in the scenario's order.
var armShapes = []stat.Verdict{stat.Pass, stat.Inconclusive, stat.Fail, stat.Invalid}

func armStyles(arms []view.Arm) (styles []armStyle) {
	for i, a := range arms {
		k := i % len(armShapes)
		styles = append(styles, armStyle{a.Name, armClasses[k], markers[armShapes[k]]})
	}
	return styles
}

// styleOf is that of an arm by its name.
func styleOf(styles []armStyle, name string) armStyle {
	i := slices.IndexFunc(styles, func(s armStyle) bool { return s.Name == name })
	if i < 0 {
		return armStyle{Name: name}
	}
	return styles[i]
}

var armClasses = []string{"arm-0", "arm-1", "arm-2", "arm-3"}

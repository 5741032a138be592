package page

import (
	"unicode/utf8"
)

// labelRow is a row of labels along an axis, from left to right. It leaves out
// those that would touch the one before on the narrowest plot.
type labelRow struct{ free float64 }

// Shares of the width of a plot on a phone: of a character, and of the gap that
// keeps labels apart.
const (
	characterWidth = 0.025
	labelGap       = 0.025
)

// add returns the tick of a place from 0 to 1, with its label if that fits.
func (r *labelRow) add(at float64, label, anchor string) tick {
	t := tick{At: share(at), Anchor: anchor}
	left, width := at, characterWidth*float64(utf8.RuneCountInString(label))
	switch anchor {
	case "middle":
		left -= width / 2
	case "end":
		left -= width
	}
	if left >= r.free {
		t.Label, r.free = label, left+width+labelGap
	}
	return t
}

package page

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLabelsOfTicksDoNotTouch(t *testing.T) {
	labels := ""
	for _, tick := range blockTicks([]int{6, 8, 10, 12, 16, 20, 30, 40, 60, 100}) {
		labels += tick.Label + " "
	}
	assert.Equal(t, "6 8 10  16 20 30 40 60 100 ", labels)
}

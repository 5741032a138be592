package render

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPercentsAreNotRoundedUp(t *testing.T) {
	for p, want := range map[float64]string{0.8999: "89", 0.9: "90", 0.29: "29", 0.57: "57", 1: "100", 0.99999: "99", 0: "0"} {
		assert.Equal(t, want, wholePercent(p), p)
	}
}

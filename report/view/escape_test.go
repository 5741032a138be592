package view

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func FuzzPercent(f *testing.F) {
	f.Add(2.9999999, 3.0)
	f.Add(3.0000001, 3.0)
	f.Add(-1e-9, 1.0)
	f.Add(math.Nextafter(3, 4), 3.0)
	f.Fuzz(func(t *testing.T, x, margin float64) {
		if math.IsNaN(x) || math.Abs(x) > 1e6 || !(margin > 1e-3 && margin < 100) || math.Abs(x-margin) < 1e-12 {
			return
		}
		shown, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(Percent(x, margin)), " %"), 64)
		assert.NoError(t, err)
		assert.Equal(t, sideOf(x, margin), sideOf(shown, margin), "%v is shown as %v at margin %v", x, shown, margin)
	})
}

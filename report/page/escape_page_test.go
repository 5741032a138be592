package page

import (
	"math"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// channel and luminance follow WCAG 2.2, relative luminance.
func channel(c int64) float64 {
	x := float64(c) / 255
	if x <= 0.04045 {
		return x / 12.92
	}
	return math.Pow((x+0.055)/1.055, 2.4)
}

func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	if len(hex) == 3 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	n, err := strconv.ParseInt(hex, 16, 64)
	require.NoError(t, err)
	return 0.2126*channel(n>>16&255) + 0.7152*channel(n>>8&255) + 0.0722*channel(n&255)
}

func TestTextContrast(t *testing.T) {
	themes := regexp.MustCompile(`(?s):root\{.*?\}`).FindAllString(pageStyle, -1)
	require.Len(t, themes, 3, "light, dark, print")
	for _, theme := range themes {
		colour := map[string]float64{}
		for _, m := range regexp.MustCompile(`--(\w+):#([0-9a-f]{3,6})`).FindAllStringSubmatch(theme, -1) {
			colour[m[1]] = luminance(t, m[2])
		}
		for _, text := range []string{"ink", "soft", "pass", "fail", "inconclusive", "invalid", "none", "accent", "arm0", "arm1", "arm2", "arm3"} {
			for _, ground := range []string{"bg", "card"} {
				require.Contains(t, colour, text)
				light, dark := max(colour[text], colour[ground]), min(colour[text], colour[ground])
				assert.GreaterOrEqual(t, (light+0.05)/(dark+0.05), 4.5, "%s on %s", text, ground)
			}
		}
	}
}

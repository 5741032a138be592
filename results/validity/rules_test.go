package validity

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The table of README.md, the list and the code know the same rules: exports
// make a test case of each.
func TestRulesAreThoseOfTheReadme(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	var names []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([a-z, -]+) \| (run|pair|comparison) \|`).FindAllStringSubmatch(string(readme), -1) {
		names = append(names, strings.Split(row[1], ", ")...)
	}
	assert.Equal(t, names, Rules())
}

func TestRulesAreThoseOfTheCode(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	rule := regexp.MustCompile(`(?:finding\(|Rule: +)"([a-z-]+)"`)
	found := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, m := range rule.FindAllStringSubmatch(string(text), -1) {
			found++
			if m[1] != "reliability" { // decides FAIL, not INVALID
				assert.Contains(t, Rules(), m[1], name)
			}
		}
	}
	assert.Greater(t, found, 30)
	for _, rule := range ruleOfCheck {
		assert.Contains(t, Rules(), rule)
	}
}

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
	var names []Rule
	for _, row := range regexp.MustCompile(`(?m)^\| ([a-z, -]+) \| (run|pair|comparison) \|`).FindAllStringSubmatch(string(readme), -1) {
		for name := range strings.SplitSeq(row[1], ", ") {
			names = append(names, Rule(name))
		}
	}
	assert.Equal(t, names, Rules())
}

// Every rule has one constant, which is in the list, and whose name some check gives
// to its findings: a name that was typed again would be a rule of its own.
func TestRulesAreThoseOfTheCode(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var code strings.Builder
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || name == "rules.go" {
			continue
		}
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		code.Write(text)
	}
	assert.NotRegexp(t, `(finding\(|logLine\(|Rule: +|rule :?= )"`, code.String())
	list, err := os.ReadFile("rules.go")
	require.NoError(t, err)
	constants := regexp.MustCompile(`(?m)^\t?(?:const )?([rR]ule\w+) +Rule += "([a-z-]+)"$`).FindAllStringSubmatch(string(list), -1)
	require.Len(t, constants, len(Rules())+1)
	for _, c := range constants {
		assert.Regexp(t, `\b`+c[1]+`\b`, code.String(), "no check gives it")
		if Rule(c[2]) != RuleReliability {
			assert.Contains(t, Rules(), Rule(c[2]))
		}
	}
}

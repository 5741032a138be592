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
	for _, row := range regexp.MustCompile(`(?m)^\| ([a-z, -]+) \| (run|pair|comparison) \| [a-z, ]+ \| (yes|no|–) \|`).FindAllStringSubmatch(string(readme), -1) {
		for name := range strings.SplitSeq(row[1], ", ") {
			names = append(names, Rule(name))
			assert.Equal(t, row[3] == "yes", Rule(name).PutBack(), "put back: %s", name)
			assert.Equal(t, row[2] != "run", row[3] == "–", "only rules of one run void an attempt: %s", name)
		}
	}
	assert.Equal(t, names, Rules())
}

// Void under these rules an attempt is still the work of its servers; no other rule may
// give back what it took away, and no name that is none of the rules.
func TestRulesThatArePutBack(t *testing.T) {
	var back []Rule
	for _, r := range Rules() {
		if r.PutBack() {
			back = append(back, r)
		}
	}
	assert.Equal(t, []Rule{ruleProbeLag, ruleSendLate, ruleConcurrency, ruleIdleArm, ruleDroppedRecords}, back)
	assert.False(t, RuleReliability.PutBack())
}

// By hand: 792 are the ways in which 7 faults fall on 12 runs, 924 those of 6.
func TestFisher(t *testing.T) {
	assert.InDelta(t, 6.0/792, fisher(6, 6, 1, 6), 1e-12)
	assert.InDelta(t, (15.0*15+6*6+1)/924, fisher(4, 6, 2, 6), 1e-12)
	assert.InDelta(t, 1, fisher(0, 6, 3, 6), 1e-12)
	assert.InDelta(t, 1.0/924, fisher(6, 6, 0, 6), 1e-12)
	assert.InDelta(t, 1, fisher(6, 6, 6, 6), 1e-12)
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

package sizing

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
)

// The table of opbench aa in report/doc.go has every statement, and each outranks
// those below it.
func TestTableOfStatementsIsInOrder(t *testing.T) {
	doc, err := os.ReadFile("../doc.go")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(doc), "# Results of opbench aa\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n// # ")
	var ranks []int
	stated := map[stat.Verdict]bool{}
	for _, m := range regexp.MustCompile(`(?m)^//\t([A-Z]+) `).FindAllStringSubmatch(table, -1) {
		v := stat.Verdict(m[1])
		if v == view.Unfinished {
			continue
		}
		assert.Contains(t, equalExits, v)
		ranks, stated[v] = append(ranks, equalRank(view.NewResult(v, ""))), true
	}
	assert.Len(t, stated, len(equalExits))
	assert.True(t, slices.IsSortedFunc(ranks, func(a, b int) int { return b - a }), "%v", ranks)
}

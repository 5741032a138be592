package post

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/view"
)

// Earlier steps of a job have written there, too.
func TestSummaryIsAppended(t *testing.T) {
	path := filepath.Join(t.TempDir(), "summary.md")
	require.NoError(t, os.WriteFile(path, []byte("before\n"), 0o644))
	r := result(t, "fail")
	require.NoError(t, r.Summary(path))
	r.View.Sentence = strings.Repeat(hostile, 5000/len(hostile))
	for range 300 {
		r.View.Aborted = append(r.View.Aborted, view.Aborted{Why: r.View.Sentence})
	}
	require.NoError(t, r.Summary(path))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(data), "before\n> [!CAUTION]"))
	assert.Less(t, len(data), 1<<20)
	require.ErrorContains(t, r.Summary(t.TempDir()), "is a directory")
}

func TestOutput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "output")
	r := result(t, "fail")
	r.View.Result = view.NewResult("FAIL", "a\nexit_code=0")
	require.NoError(t, r.Output(path))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "verdict=FAIL\nresult=FAIL(a exit_code=0)\nexit_code=10\nplan="+r.View.Subject.PlanHash+"\n", string(data))
}

func annotations(t *testing.T, r Result) []string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, r.Annotate(&out))
	return strings.FieldsFunc(out.String(), func(c rune) bool { return c == '\n' })
}

func TestAnnotations(t *testing.T) {
	lines := annotations(t, result(t, "fail"))
	require.Len(t, lines, 3)
	assert.Regexp(t, `^::error title=opbench%3A TPOT p50%2C single::on against off costs more than 3 %25: \+5\.\d\d %25, at least \+5\.\d\d %25$`, lines[0])
	assert.Empty(t, annotations(t, result(t, "pass")))
	lines = annotations(t, result(t, "invalid"))
	require.Len(t, lines, 1)
	assert.True(t, strings.HasPrefix(lines[0], "::error title=opbench%3A INVALID(request failed)::"))
	lenient := result(t, "inconclusive")
	assert.Len(t, annotations(t, lenient), 1)
	lenient.Lenient = true
	assert.Empty(t, annotations(t, lenient))
}

// A name can't begin a workflow command, and a hundred metrics are ten lines.
func TestHostileAnnotations(t *testing.T) {
	r := result(t, "fail")
	c := r.View.Comparisons[0]
	c.Candidate = hostile
	c.Phases[0].Name = hostile
	r.View.Comparisons = nil
	for range 40 {
		r.View.Comparisons = append(r.View.Comparisons, c)
	}
	lines := annotations(t, r)
	require.Len(t, lines, mostAnnotations)
	for _, line := range lines {
		assert.True(t, strings.HasPrefix(line, "::error title=opbench"), line)
		title, _, found := strings.Cut(strings.TrimPrefix(line, "::error title="), "::")
		assert.True(t, found)
		assert.NotContains(t, title, ",")
	}
	assert.Contains(t, lines[9], "111 more metrics failed")
}

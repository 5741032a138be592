package render

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/report/judge"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
)

// The sections are the comment, in order, and the verdict is the one that always
// stays.
func TestSectionsAreTheReport(t *testing.T) {
	t.Parallel()
	v := built(t, trial.Hostile(t).Write(t.TempDir()))
	var all strings.Builder
	always := 0
	for i, s := range Sections(v) {
		all.WriteString(s.Text)
		assert.NotEmpty(t, s.Title)
		assert.Equal(t, strings.Count(s.Text, "<details>"), strings.Count(s.Text, "</details>"), s.Title)
		assert.Zero(t, strings.Count(s.Text, "```")%2, s.Title)
		if s.Keep == 0 {
			always++
			assert.Zero(t, i)
		}
	}
	assert.Equal(t, 1, always)
	var whole strings.Builder
	require.NoError(t, WriteMarkdown(&whole, v))
	assert.Equal(t, whole.String(), all.String())
}

// No single text of a run fills a comment, and none is cut inside an escape.
func TestLongTextIsShortened(t *testing.T) {
	t.Parallel()
	for _, c := range []string{"a", "&", "@", "é", "\U0001F600", "`", "\\"} {
		long := md(strings.Repeat(c, 300_000))
		assert.LessOrEqual(t, len(long), 5*longest+40, c)
		assert.True(t, strings.HasSuffix(long, " … (296 000 more characters)"), c)
		require.True(t, strings.HasPrefix(long, md(c)+md(c)), c)
		assert.LessOrEqual(t, len(code(strings.Repeat(c, 300_000))), 4*longest+50, c)
	}
	assert.Equal(t, strings.Repeat("é", longest), md(strings.Repeat("é", longest)))
}

// built loads and judges a run directory.
func built(t *testing.T, dir string) *view.View {
	t.Helper()
	c, err := results.Load(dir)
	require.NoError(t, err)
	v, err := judge.Build(c, "v0.1.0")
	require.NoError(t, err)
	return v
}

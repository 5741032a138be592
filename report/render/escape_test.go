package render

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/aituner/opprof/report/internal/trial"
)

func FuzzMarkdown(f *testing.F) {
	f.Add(trial.HostileText)
	f.Add("plain")
	f.Fuzz(func(t *testing.T, s string) {
		for name, out := range map[string]string{"text": md(s), "code": code(s)} {
			assert.NotContains(t, out, "\n", name)
			assert.NotContains(t, strings.ReplaceAll(out, `\|`, ""), "|", name)
		}
		assert.NotRegexp(t, `<|>|@[0-9A-Za-z]|#[0-9]`, md(s))
	})
}

func TestWrapKeepsEveryWord(t *testing.T) {
	long := strings.Repeat("x", 250) + " a b"
	lines := wrap(long, 92, 90)
	assert.Equal(t, strings.ReplaceAll(long, " ", ""), strings.ReplaceAll(strings.Join(lines, ""), " ", ""))
	for _, line := range lines {
		assert.LessOrEqual(t, len(line), 92)
	}
}

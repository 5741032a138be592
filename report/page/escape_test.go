package page_test

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/internal/forms"
	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/report/page"
	"github.com/aituner/opprof/report/render"
	"github.com/aituner/opprof/report/view"
)

func TestHostileNamesAreEscaped(t *testing.T) {
	v := forms.Build(t, trial.Hostile(t).Write(t.TempDir()))

	html := forms.Render(t, v, page.Write)
	assert.NotContains(t, html, "<script")
	assert.NotContains(t, html, "</title></svg>")
	assert.NotContains(t, html, `" onload="`)
	assert.Equal(t, 1, strings.Count(html, "<style"))

	markdown := forms.Render(t, v, render.WriteMarkdown)
	outside := regexp.MustCompile("(?s)```text\n.*?\n```\n").ReplaceAllString(markdown, "")
	again := regexp.MustCompile(`(?m)^\*\*Again:\*\* .*$`)
	assert.Equal(t, 2, strings.Count(again.FindString(markdown), "`"), "one code span, where nothing is markup")
	outside = again.ReplaceAllString(outside, "")
	for _, bad := range []string{"<script", "@someone", " #12", "[x](", "![i]", "**b**", "<!--", "\x1b", "\u202e", "\n# head"} {
		assert.NotContains(t, outside, bad)
	}
	assert.Zero(t, strings.Count(markdown, "```")%2, "code blocks are closed")
	for _, line := range strings.Split(markdown, "\n") {
		if strings.HasPrefix(line, "| p0") {
			assert.Equal(t, 8, strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"), line)
		}
	}

	for _, form := range []string{forms.Render(t, v, render.WriteText), markdown, html} {
		assert.NotContains(t, form, "\x1b")
		assert.NotContains(t, form, "\u202e")
		assert.NotContains(t, form, "\r")
	}
}

func TestPercentNeverCrossesTheMargin(t *testing.T) {
	assert.Equal(t, "+1.9 %", view.Percent(1.9, 3))
	assert.Equal(t, "+2.99 %", view.Percent(2.99, 3))
	assert.Equal(t, "+3.0003 %", view.Percent(3.0003, 3))
	assert.Equal(t, "+2.99999 %", view.Percent(2.99999, 3))
	assert.Equal(t, "+3.0 %", view.Percent(3, 3))
	assert.Equal(t, "0.0 %", view.Percent(-0.01, 3))
	assert.Equal(t, " 0.0 %", view.Aligned(view.Finite(-0.01), 3), "in a column")
	assert.Equal(t, "-0.4 %", view.Percent(-0.4, 3))
}

func TestQuantities(t *testing.T) {
	for want, x := range map[string]float64{"80.50 ms": 0.0805, "1.234 s": 1.2341, "512.0 µs": 0.000512, "0 s": 0} {
		assert.Equal(t, want, view.Amount(&x, "s"))
	}
	big, small := 12345.6, 63.41
	assert.Equal(t, "12 346 tok/s", view.Amount(&big, "tok/s"))
	assert.Equal(t, "63.41 tok/s", view.Amount(&small, "tok/s"))
	assert.Equal(t, "-", view.Amount(nil, "s"))
	assert.Equal(t, "3", view.Plain(3.0000000000000004))
	assert.Equal(t, "0", view.Plain(math.Copysign(0, -1)))
}

func TestPageAsksForNothing(t *testing.T) {
	for _, c := range trial.Cases {
		data, err := os.ReadFile(filepath.Join("testdata", c.Name+".html"))
		require.NoError(t, err)
		page := string(data)
		assert.Contains(t, page, "default-src 'none'")
		assert.NotRegexp(t, `(?i)(src|href|action|data|poster|xlink:href)="[^"d]`, page)
		assert.NotContains(t, page, "url(")
		assert.NotContains(t, page, "http://")
		assert.NotContains(t, page, "https://")
		assert.NotContains(t, page, "<script")
		assert.NotContains(t, page, "ZgotmplZ", "the template refused a value")
		assert.Equal(t, strings.Count(page, `role="img"`), strings.Count(page, "<desc id="), "every plot is described")
	}
}

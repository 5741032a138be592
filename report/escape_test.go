package report

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/scenarios"
)

const hostile = "a|b`c`<script>alert(1)</script> @someone #12 [x](javascript:y) ![i](u) **b** <!-- --> \x1b[31m\u202e\r\n# head\n```\n</title></svg>\" onload=\"x"

func hostileTrial(t *testing.T) *trial {
	tr := newTrial(t, 6)
	s := &tr.scenario
	s.About, tr.file = hostile, hostile
	s.Engine.Model = "/m/" + strings.ReplaceAll(hostile, "/", "_")
	s.Arms[0].Name, s.Arms[1].Name = "off"+strings.ReplaceAll(hostile, "/", "_")[:30], "on"
	s.Compare[0].Baseline = s.Arms[0].Name
	for i := range s.Phases {
		s.Phases[i].Name = "p" + strconv.Itoa(i) + hostile
	}
	s.Engine.Kind = scenarios.EngineVLLM
	tr.edit = func(r *recorded) {
		r.env.CPUModel = hostile
		r.run.Server.Versions["vllm"] = hostile
		r.requests[2].Error = ""
		if r.run.Key.Block == "0002" {
			r.requests[2].Error = hostile
		}
	}
	tr.void = map[string]string{"0003": hostile}
	return tr
}

func TestHostileNamesAreEscaped(t *testing.T) {
	v := build(t, hostileTrial(t).write(t.TempDir()))

	html := render(t, v, WriteHTML)
	assert.NotContains(t, html, "<script")
	assert.NotContains(t, html, "</title></svg>")
	assert.NotContains(t, html, `" onload="`)
	assert.Equal(t, 1, strings.Count(html, "<style"))

	markdown := render(t, v, WriteMarkdown)
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

	for _, form := range []string{render(t, v, WriteText), markdown, html} {
		assert.NotContains(t, form, "\x1b")
		assert.NotContains(t, form, "\u202e")
		assert.NotContains(t, form, "\r")
	}
}

func TestPercentNeverCrossesTheMargin(t *testing.T) {
	assert.Equal(t, "+1.9 %", percent(1.9, 3))
	assert.Equal(t, "+2.99 %", percent(2.99, 3))
	assert.Equal(t, "+3.0003 %", percent(3.0003, 3))
	assert.Equal(t, "+2.99999 %", percent(2.99999, 3))
	assert.Equal(t, "+3.0 %", percent(3, 3))
	assert.Equal(t, " 0.0 %", percent(-0.01, 3))
	assert.Equal(t, "-0.4 %", percent(-0.4, 3))
}

func FuzzPercent(f *testing.F) {
	f.Add(2.9999999, 3.0)
	f.Add(3.0000001, 3.0)
	f.Add(-1e-9, 1.0)
	f.Add(math.Nextafter(3, 4), 3.0)
	f.Fuzz(func(t *testing.T, x, margin float64) {
		if math.IsNaN(x) || math.Abs(x) > 1e6 || !(margin > 1e-3 && margin < 100) || math.Abs(x-margin) < 1e-12 {
			return
		}
		shown, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(percent(x, margin)), " %"), 64)
		assert.NoError(t, err)
		assert.Equal(t, sideOf(x, margin), sideOf(shown, margin), "%v is shown as %v at margin %v", x, shown, margin)
	})
}

func FuzzMarkdown(f *testing.F) {
	f.Add(hostile)
	f.Add("plain")
	f.Fuzz(func(t *testing.T, s string) {
		for name, out := range map[string]string{"text": md(s), "code": code(s)} {
			assert.NotContains(t, out, "\n", name)
			assert.NotContains(t, strings.ReplaceAll(out, `\|`, ""), "|", name)
		}
		assert.NotRegexp(t, `<|>|@[0-9A-Za-z]|#[0-9]`, md(s))
	})
}

func TestQuantities(t *testing.T) {
	for want, x := range map[string]float64{"80.50 ms": 0.0805, "1.234 s": 1.2341, "512.0 µs": 0.000512, "0 s": 0} {
		assert.Equal(t, want, quantity(&x, "s"))
	}
	big, small := 12345.6, 63.41
	assert.Equal(t, "12 346 tok/s", quantity(&big, "tok/s"))
	assert.Equal(t, "63.41 tok/s", quantity(&small, "tok/s"))
	assert.Equal(t, "-", quantity(nil, "s"))
	assert.Equal(t, "3", plainNumber(3.0000000000000004))
	assert.Equal(t, "0", plainNumber(math.Copysign(0, -1)))
}

func TestWrapKeepsEveryWord(t *testing.T) {
	long := strings.Repeat("x", 250) + " a b"
	lines := wrap(long, 92, 90)
	assert.Equal(t, strings.ReplaceAll(long, " ", ""), strings.ReplaceAll(strings.Join(lines, ""), " ", ""))
	for _, line := range lines {
		assert.LessOrEqual(t, len(line), 92)
	}
}

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

func TestPageAsksForNothing(t *testing.T) {
	for _, c := range cases {
		data, err := os.ReadFile(filepath.Join("testdata", c.name+".html"))
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

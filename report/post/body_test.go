package post

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/render"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
)

func TestCommentHasEverything(t *testing.T) {
	r := result(t, "fail")
	body := r.Comment(target)
	for _, want := range []string{"> [!CAUTION]\n> **FAIL**", "TPOT p50", "Pairs in run order", "Environment", "measured at `111111111111`", "ended 2026-12-04 12:00 UTC", "[job](https://ci.example/runs/10)"} {
		assert.Contains(t, body, want)
	}
	assert.NotContains(t, body, "Left out")
	m, ok := readMark(body)
	require.True(t, ok)
	assert.Equal(t, "paired", m.Key)
	assert.Equal(t, r.Order.String(), m.Order.String())
	assert.Equal(t, head, m.SHA)
	assert.Equal(t, r.View.Subject.PlanHash, m.Plan)
}

// The mark is the last line and nothing else: a report may quote one.
func TestMark(t *testing.T) {
	sealed := "text" + mark{Key: "k<-->", Order: Order{noon, 1, 2}}.seal("text")
	m, ok := readMark(sealed)
	require.True(t, ok)
	assert.Equal(t, "k<-->", m.Key)
	_, ok = readMark(strings.ReplaceAll(sealed, "\n", "\r\n") + "  \r\n")
	assert.True(t, ok, "GitHub may change line ends")
	for _, bad := range []string{"", "text", sealed + "more", "> " + strings.TrimSpace(sealed[4:]), "<!-- opprof-bench:v1 {} -->", "<!-- opprof-bench:v1 [] -->", sealed[:len(sealed)-9]} {
		_, ok := readMark(bad)
		assert.False(t, ok, bad)
	}
	assert.NotEqual(t, mark{Key: "k"}.seal("a"), mark{Key: "k"}.seal("b"))
	assert.Less(t, len(mark{Key: strings.Repeat("<", 100), SHA: strings.Repeat("a", 64), Plan: strings.Repeat("a", 64)}.seal("")), markRoom)
}

func FuzzReadMark(f *testing.F) {
	f.Add(mark{Key: "k", Order: Order{noon, 1, 2}}.seal("text"))
	f.Add("<!-- opprof-bench:v1 {\"key\":1} -->")
	f.Fuzz(func(t *testing.T, text string) {
		if m, ok := readMark(text); ok {
			assert.NotEmpty(t, m.Key)
		}
	})
}

// A huge run costs whole sections, the least important first, and never the
// verdict; what is gone is named.
func TestBudget(t *testing.T) {
	log := strings.Repeat(hostile, 300_000/len(hostile)+1)
	r := result(t, "fail")
	for i := range 30 {
		r.View.Aborted = append(r.View.Aborted, view.Aborted{Block: "0001", Attempt: i + 1, Arm: "on", Why: log[:5000]})
	}
	r.View.Aborted[0].Why = log
	body := r.Comment(target)
	assert.LessOrEqual(t, len(body), CommentBudget)
	assert.Contains(t, body, "> **FAIL**")
	assert.Contains(t, body, "| TPOT p50 |")
	assert.Regexp(t, `_Left out to keep this short: .*Environment; Pairs in run order; .*Validity and runs\. The whole report: \[the job\]`, body)
	wellFormed(t, body)

	r.View.Sentence, r.View.Result = log, view.NewResult(stat.Invalid, view.Reason(log))
	r.View.Notes = slices.Repeat([]string{log}, 10)
	body = r.Comment(target)
	assert.LessOrEqual(t, len(body), CommentBudget)
	assert.True(t, strings.HasPrefix(body, "> [!IMPORTANT]\n> **INVALID("))
	assert.Contains(t, body, "; notes. The whole report")
	wellFormed(t, body)
	wellFormed(t, r.comment(target, CommentBudget/4))
}

// wellFormed requires that no section is cut in its middle.
func wellFormed(t *testing.T, body string) {
	t.Helper()
	assert.True(t, utf8.ValidString(body))
	assert.Equal(t, strings.Count(body, "<details>"), strings.Count(body, "</details>"))
	assert.Zero(t, strings.Count(body, "```")%2)
	_, ok := readMark(body)
	assert.True(t, ok)
}

func TestFitDropsByRank(t *testing.T) {
	var all []render.Section
	for i, keep := range []int{0, 9, 2, 2, 5} {
		all = append(all, render.Section{Title: fmt.Sprint("s", i), Text: strings.Repeat(fmt.Sprint(i), 100) + "\n", Keep: keep})
	}
	assert.NotContains(t, fit(all, "", 505), "Left out")
	assert.Contains(t, fit(all, "", 504), "short: s3. The")
	assert.Contains(t, fit(all, "", 400), "short: s3; s2. The")
	assert.Contains(t, fit(all, "", 1), "short: s3; s2; s4; s1. The")
	assert.Contains(t, fit(all, "", 1), strings.Repeat("0", 100), "the verdict stays")
}

// Text of a run can't write a mark, a mention, markup or a workflow command.
func TestHostileRun(t *testing.T) {
	r := result(t, "fail")
	r.Key = hostile[:90]
	r.Link = "https://x.example/" + hostile
	c := &r.View.Comparisons[0]
	c.Baseline, c.Candidate = hostile, hostile
	c.Phases[0].Name = hostile
	r.View.Sentence, r.View.Subject.Campaign, r.View.Subject.Model = hostile, hostile, hostile
	body := r.Comment(target)
	wellFormed(t, body)
	shown := body[:strings.LastIndex(body, markBegin)]
	for _, bad := range []string{"<script", "@someone", " #12", "[x](", "![i]", "**b**", "\x1b", "\u202e", "\n# head", "\n::error"} {
		assert.NotContains(t, outsideCode(shown), bad)
	}
	m, ok := readMark(body)
	require.True(t, ok)
	assert.Equal(t, r.Key, m.Key)
	assert.Equal(t, 1, strings.Count(body, "\n"+markBegin))
}

// outsideCode leaves out code blocks, where nothing is markup.
func outsideCode(body string) string {
	parts := strings.Split(body, "```")
	var out strings.Builder
	for i := 0; i < len(parts); i += 2 {
		out.WriteString(parts[i])
	}
	return out.String()
}

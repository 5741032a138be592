package post

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/post/fakegithub"
)

// What a required check lets through: PASS, and INCONCLUSIVE only where the
// caller said so. Never neutral or skipped, which count as passed.
func TestConclusions(t *testing.T) {
	titles := map[string]string{
		"pass": "PASS", "fail": "FAIL", "inconclusive": "INCONCLUSIVE", "unfinished": "UNFINISHED",
		"invalid": "INVALID(request failed): 1 of 13 requests of phase single failed, the first is request 5: connection reset by peer; " +
			"no request may fail: look at the server's log (0002/on); and 1 more reason below. 6 blocks, outputs identical 4/4.",
		"identity": "FAIL(identity): the outputs differ: 0003/on against 0001/off: prompt 2 differs first at position 5: token 7, not 179; " +
			"the outputs of 3 of 4 prompts are equal in all 12 runs. 6 blocks, outputs differ, identical 3/4.",
	}
	for _, c := range []struct{ name, conclusion, state string }{
		{"pass", "success", "success"}, {"fail", "failure", "failure"}, {"inconclusive", "failure", "failure"},
		{"invalid", "failure", "error"}, {"identity", "failure", "failure"}, {"unfinished", "cancelled", "error"},
	} {
		w := newWorld(t)
		g, r := w.poster(t, "bot"), result(t, c.name)
		_, err := g.Check(t.Context(), target, r)
		require.NoError(t, err)
		_, err = g.Status(t.Context(), target, r)
		require.NoError(t, err)
		require.Len(t, w.State().Checks, 1)
		check := w.State().Checks[0]
		assert.Equal(t, c.conclusion, check.Conclusion, c.name)
		assert.Equal(t, "completed", check.Status)
		assert.Equal(t, head, check.HeadSHA)
		assert.Equal(t, "opbench / paired", check.Name)
		assert.Equal(t, titles[c.name], check.Output.Title)
		assert.Contains(t, check.Output.Summary, "> [!")
		assert.Equal(t, c.state, w.State().Statuses[0].State, c.name)
	}
	lenient := result(t, "inconclusive")
	lenient.Lenient = true
	assert.Equal(t, "success", lenient.conclusion())
	assert.Equal(t, "INCONCLUSIVE (counts as passed)", lenient.title())
	lenient.View = saved(t, "invalid")
	assert.Equal(t, "failure", lenient.conclusion())
}

func TestCheckIsUpdated(t *testing.T) {
	w := newWorld(t)
	g := w.poster(t, "bot")
	_, err := g.Check(t.Context(), target, result(t, "fail"))
	require.NoError(t, err)
	newer := result(t, "pass")
	newer.Order.Attempt = 2
	out, err := g.Check(t.Context(), target, newer)
	require.NoError(t, err)
	assert.Equal(t, "updated", out.Did)
	out, err = g.Check(t.Context(), target, newer)
	require.NoError(t, err)
	assert.Equal(t, "unchanged", out.Did)
	out, err = g.Check(t.Context(), target, result(t, "fail"))
	require.NoError(t, err)
	assert.Equal(t, "left alone: it shows a newer run", out.Did)
	require.Len(t, w.State().Checks, 1)
	assert.Equal(t, "success", w.State().Checks[0].Conclusion)
}

// A lost answer to a new check run does not make a second one.
func TestCheckAfterALostAnswer(t *testing.T) {
	w := newWorld(t)
	w.Inject(fakegithub.Fault{On: `^POST .*/check-runs$`, Times: 1, After: true, Drop: true})
	_, err := w.poster(t, "bot").Check(t.Context(), target, result(t, "fail"))
	require.NoError(t, err)
	assert.Len(t, w.State().Checks, 1)
}

// Without the right to check runs the error says so, and a status is possible.
func TestStatusIsTheWayWithoutChecks(t *testing.T) {
	w := newWorld(t, "no-checks")
	g := w.poster(t, "bot")
	_, err := g.Check(t.Context(), target, result(t, "fail"))
	require.ErrorIs(t, err, ErrNoCheckRuns)
	out, err := g.Status(t.Context(), target, result(t, "fail"))
	require.NoError(t, err)
	assert.Equal(t, "created", out.Did)
	out, err = g.Status(t.Context(), target, result(t, "fail"))
	require.NoError(t, err)
	assert.Equal(t, "unchanged", out.Did)
	older := result(t, "pass")
	older.Order.End = noon.Add(-time.Hour)
	out, err = g.Status(t.Context(), target, older)
	require.NoError(t, err)
	assert.Equal(t, "left alone: it shows a newer run", out.Did)
	require.Len(t, w.State().Statuses, 1)
	assert.Equal(t, "failure", w.State().Statuses[0].State)
	assert.Equal(t, "opbench / paired", w.State().Statuses[0].Context)
}

// A limit is not a missing right: it is waited for.
func TestCheckLimit(t *testing.T) {
	w := newWorld(t)
	f, err := fakegithub.Named("secondary-said")
	require.NoError(t, err)
	f.On = `check-runs$`
	w.Inject(f)
	_, err = w.poster(t, "bot").Check(t.Context(), target, result(t, "fail"))
	require.NoError(t, err)
	assert.Equal(t, []time.Duration{11 * time.Second}, w.longWaits())
}

func TestDescriptionFits(t *testing.T) {
	r := result(t, "fail")
	for _, sentence := range []string{"", "short", strings.Repeat("é", 1000), hostile + hostile, "\xff\xfe" + strings.Repeat("x ", 500)} {
		r.View.Sentence = sentence
		text := r.description()
		assert.True(t, utf8.ValidString(text))
		assert.LessOrEqual(t, utf8.RuneCountInString(text), longestDescription)
		assert.NotContains(t, text, "\n")
		o, ok := parseOrder(text[strings.LastIndexByte(text, ' ')+1:])
		assert.True(t, ok, text)
		assert.Equal(t, r.Order.String(), o.String())
	}
}

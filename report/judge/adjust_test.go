package judge_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/export"
	"github.com/aituner/opprof/report/internal/forms"
	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/report/judge"
	"github.com/aituner/opprof/report/post"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
)

// barely is a campaign of five primary metrics of which two fail by their own bounds
// with p = 0.02, what 5 % allow for a single metric and not for five.
func barely(t *testing.T) *trial.Trial {
	tr := trial.New(t, 6)
	tr.Effect["ttft"] = 0.045
	return tr
}

// A FAIL is a union of many tests: what one of five shows at its own level is no FAIL
// of the campaign, in any form.
func TestUnadjustedFailIsInconclusive(t *testing.T) {
	t.Parallel()
	v := forms.Build(t, barely(t).Write(t.TempDir()))
	assert.Equal(t, "INCONCLUSIVE(unadjusted)", v.Headline())
	assert.Equal(t, view.ExitInconclusive, v.ExitCode)
	m := v.Comparisons[0].Find("arrivals", "ttft_p50")
	assert.Equal(t, "FAIL(unadjusted)", m.Text)
	assert.Greater(t, m.Detail.L, m.Detail.Margin)
	assert.Equal(t, 5, m.Detail.Tests)
	assert.InDelta(t, 5**m.Detail.PAbove, *m.Detail.PAdjusted, 1e-12)
	assert.Equal(t, stat.Inconclusive, m.Tone(), "amber")
	assert.Contains(t, v.Sentence, "Taken singly, 2 of 5 primary metrics cost more than 3 %")
	assert.Contains(t, v.Sentence, "p 0.02, times 5 metrics 0.1")
	require.NotEmpty(t, v.Next)
	assert.Contains(t, v.Next[0], "more blocks would show the cost or exclude it")
	for _, form := range forms.Forms {
		text := forms.Render(t, v, form.Write)
		assert.Contains(t, text, "FAIL(unadjusted)", form.Extension)
		assert.NotContains(t, text, `"word fail"`, form.Extension)
	}
	for _, lenient := range []bool{false, true} {
		var junit bytes.Buffer
		require.NoError(t, export.JUnit(&junit, v, lenient))
		assert.Equal(t, map[bool]int{false: 1, true: 0}[lenient], strings.Count(junit.String(), "<failure"), "that of the campaign")
		assert.Contains(t, junit.String(), `<skipped message="FAIL(unadjusted), p 0.1 for all 5 metrics together: effect`)
	}
	var actions bytes.Buffer
	require.NoError(t, post.Result{View: v}.Annotate(&actions))
	assert.Equal(t, 1, strings.Count(actions.String(), "::error"))
	assert.Contains(t, actions.String(), "INCONCLUSIVE(unadjusted)")
}

// The same effects are a FAIL where fewer questions are asked, and a stronger one is
// a FAIL among five.
func TestFailIsAdjustedForWhatIsAsked(t *testing.T) {
	t.Parallel()
	tr := barely(t)
	tr.Scenario.Phases[0].Primary, tr.Scenario.Phases[1].Primary = nil, []string{"ttft_p50"}
	v := forms.Build(t, tr.Write(t.TempDir()))
	assert.Equal(t, "FAIL", v.Headline())
	assert.Equal(t, "If blocks are independent and their noise symmetric, a campaign in which nothing costs more than the margin FAILs in at most 5 % of campaigns", v.ErrorRate)

	tr = barely(t)
	tr.Effect["ttft"] = 0.055
	v = forms.Build(t, tr.Write(t.TempDir()))
	assert.Equal(t, "FAIL", v.Headline())
	assert.Contains(t, v.Sentence, "on 2 of 5 primary metrics")
}

// A metric that fails only singly does not stand beside one that fails among all.
func TestFailCountsTheAdjustedOnly(t *testing.T) {
	t.Parallel()
	tr := barely(t)
	tr.Effect["tpot"] = 0.2
	v := forms.Build(t, tr.Write(t.TempDir()))
	assert.Equal(t, "FAIL", v.Headline())
	assert.Contains(t, v.Sentence, "more than 3 % on 3 of 5 primary metrics")
	assert.Equal(t, "FAIL(unadjusted)", v.Comparisons[0].Find("arrivals", "ttft_p50").Text)
	var junit bytes.Buffer
	require.NoError(t, export.JUnit(&junit, v, false))
	assert.Equal(t, 4, strings.Count(junit.String(), "<failure"), "three metrics and the verdict")
}

// All comparisons of a campaign are one family: each of the second and third makes
// the first one's FAIL harder.
func TestComparisonsAreOneFamily(t *testing.T) {
	t.Parallel()
	tr := trial.ThreeArms(t)
	tr.Effect["ttft"] = 0.045
	tr.Scale = map[string]float64{"r1": 0.1, "r2": 1}
	v := forms.Build(t, tr.Write(t.TempDir()))
	seen := 0
	for i := range v.Comparisons {
		for _, p := range v.Comparisons[i].Primaries() {
			if p.Detail.PAbove != nil {
				assert.Equal(t, 15, p.Detail.Tests)
				assert.Equal(t, *p.Detail.PAdjusted > .05, p.Unadjusted(), p)
				seen++
			}
		}
	}
	assert.NotZero(t, seen)
}

// What is not shown among all metrics does not end a campaign at an early look, and
// one that shows it does. A campaign that older rules ended there is no broken one.
func TestUnadjustedFailAtALook(t *testing.T) {
	t.Parallel()
	looks := func(effect float64) *trial.Trial {
		tr := barely(t)
		tr.Scenario.Design = trial.New(t, 10).Scenario.Design
		tr.Scenario.Design.Looks, tr.Effect["ttft"] = []int{6, 10}, effect
		return tr
	}
	for effect, want := range map[float64]string{0.048: "INCONCLUSIVE(unadjusted)", 0.07: "FAIL"} {
		c, err := results.Load(looks(effect).Write(t.TempDir()))
		require.NoError(t, err)
		v, err := judge.Look(c, 6, "test")
		require.NoError(t, err)
		assert.Equal(t, want, v.Headline(), effect)
		assert.Equal(t, want == "FAIL", v.ExitCode == view.ExitFail)
	}
	tr := looks(0.048)
	tr.Stop = 6
	tr.After = func(dir string) { trial.LedgerEntry(t, dir, results.Entry{Event: results.EventComplete}) }
	tr.Rules = "2"
	assert.Equal(t, "INCONCLUSIVE(unadjusted)", forms.Build(t, tr.Write(t.TempDir())).Headline())
}

package judge_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/internal/forms"
	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/render"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/metrics"
)

// withGaps gives a run the histograms that a client keeps, and what they give.
func withGaps(r *trial.Recorded) {
	byPhase := accept.RequestsByPhase(&results.Attempt{Requests: r.Requests})
	for i := range r.Run.Phases {
		p := &r.Run.Phases[i]
		for _, q := range byPhase[p.Name] {
			if !q.Warmup {
				p.Gaps.Add(q.GapMaxNS, 2*q.GapMedianNS-q.GapMaxNS)
				p.Gaps.Add(slices.Repeat([]int64{q.GapMedianNS}, q.Chunks-3)...)
			}
		}
		p.Metrics, p.Undefined = metrics.Compute(metrics.Phase{Requests: byPhase[p.Name], Gaps: p.Gaps})
	}
}

func writtenBoth(t *testing.T, v *view.View) string {
	var text, markdown bytes.Buffer
	require.NoError(t, render.WriteText(&text, v))
	require.NoError(t, render.WriteMarkdown(&markdown, v))
	return text.String() + markdown.String()
}

// A metric more decides nothing: where runs have it, it is shown beside the
// others; where they were made before it, nothing is said of it.
func TestSecondaryMetricIsShownWhereRunsHaveIt(t *testing.T) {
	t.Parallel()
	v := forms.Build(t, trial.New(t, 6).Write(t.TempDir()))
	assert.NotContains(t, writtenBoth(t, v), "ITL")
	tr := trial.New(t, 6)
	tr.Edit = withGaps
	with := forms.Build(t, tr.Write(t.TempDir()))
	assert.Equal(t, v.Result, with.Result)
	for i, p := range with.Comparisons[0].Phases {
		at := slices.IndexFunc(p.Metrics, func(m view.Metric) bool { return m.Name == "itl_p99" })
		require.GreaterOrEqual(t, at, 0, p.Name)
		m := p.Metrics[at]
		assert.False(t, m.Primary)
		assert.Empty(t, m.Verdict)
		assert.NotNil(t, m.Effect)
		others := slices.Delete(slices.Clone(p.Metrics), at, at+1)
		assert.Equal(t, v.Comparisons[0].Phases[i].Metrics, others, "the others stay as they were")
	}
	text := writtenBoth(t, with)
	assert.Contains(t, text, "· ITL p99 ")
	assert.Contains(t, text, "\n| ITL p99 | ")
}

// The histogram can't be computed again from requests, but they hold it to its
// number of gaps, their sum and the largest.
func TestHistogramOfOtherGapsIsInvalid(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 6)
	tr.Edit = func(r *trial.Recorded) {
		withGaps(r)
		if r.Run.Key.String() == "0003/on" {
			p := &r.Run.Phases[0]
			p.Gaps.Add(r.Requests[len(r.Requests)-1].GapMedianNS)
			p.Metrics["itl_p99"] = p.Gaps.Quantile(0.99) / 1e9
		}
	}
	v := forms.Build(t, tr.Write(t.TempDir()))
	assert.Equal(t, "INVALID(recomputation differs)", v.Headline())
	why := v.Comparisons[0].Invalid[0].Detail
	assert.Regexp(t, `itl_p99 is 0\.\d+ in run\.json, the requests give [a-z]`, why, "not a number")
}

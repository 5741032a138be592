package judge_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/internal/forms"
	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/report/judge"
	"github.com/aituner/opprof/report/page"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/metrics"
	"github.com/aituner/opprof/scenarios"
)

func TestControlIsNoticed(t *testing.T) {
	t.Parallel()
	v := forms.Build(t, trial.Control(t).Write(t.TempDir()))
	assert.Equal(t, "PASS(control)", v.Headline())
	assert.Equal(t, stat.Pass, v.Verdict)
	assert.Equal(t, view.ExitPass, v.ExitCode)
	assert.Equal(t, map[string]view.Outcome{"TPOT p50, single": view.Caught, "TPOT p95, single": view.Caught, "output throughput, single": view.Caught,
		"TTFT p50, arrivals": view.Caught, "TTFT p95, arrivals": view.Caught}, forms.Outcomes(v))
	assert.Equal(t, stat.Fail, v.Comparisons[0].Phases[0].Metrics[0].Verdict, "the gate's own verdict stays")
	assert.Contains(t, v.Sentence, "none of 5 primary metrics that it reached passes (5 caught, 0 not passed)")
	assert.Empty(t, v.Next)
	assert.Equal(t, "opbench control scenarios/positive-control.yaml", v.Reproduce)
}

func TestControlThatAMetricMisses(t *testing.T) {
	t.Parallel()
	v := forms.Build(t, trial.Missed(t).Write(t.TempDir()))
	assert.Equal(t, stat.Fail, v.Verdict)
	assert.Equal(t, view.NotSensitive, forms.Outcomes(v)["TTFT p50, arrivals"])
	assert.Equal(t, view.NotReached, forms.Outcomes(v)["TTFT p95, arrivals"])
	assert.Equal(t, view.Caught, forms.Outcomes(v)["TPOT p50, single"])
	assert.Contains(t, v.Sentence, "Not sensitive here: TTFT p50, arrivals (pilot +5.9 %); 1 of 4 primary metrics")
	assert.Contains(t, v.Sentence, "control not applied to TTFT p95, arrivals (pilot +3.97 %)", "never rounded up to what would count")
	require.Len(t, v.Next, 1)
	assert.Contains(t, v.Next[0], "take these metrics out of primary")
	for _, r := range forms.Forms {
		text := forms.Render(t, v, r.Write)
		assert.Contains(t, text, view.NotSensitive, r.Extension)
		assert.Contains(t, text, view.NotReached, r.Extension)
		assert.Contains(t, text, "0.071", r.Extension)
	}
}

// A metric that the slowdown hardly reached decides nothing.
func TestControlThatIsNotApplied(t *testing.T) {
	t.Parallel()
	tr := trial.Control(t)
	tr.Effect["ttft"] = 0.002
	trial.Spare(tr, "ttft_p50", "ttft_p95")
	v := forms.Build(t, tr.Write(t.TempDir()))
	assert.Equal(t, "INCONCLUSIVE(control)", v.Headline(), "nothing was asked of the gate in this phase")
	assert.Contains(t, v.Sentence, "caught on no primary metric of arrivals (3 caught, 0 not passed)")
	assert.Contains(t, v.Sentence, "control not applied to TTFT p50, arrivals")

	tr.Scenario.Phases[1].Primary, tr.Scenario.Gate.RequireAllFive = nil, false
	v = forms.Build(t, tr.Write(t.TempDir()))
	assert.Equal(t, "PASS(control)", v.Headline(), "a phase without a primary metric is not asked")
	assert.Contains(t, v.Sentence, "none of 3 primary metrics")
	tr = trial.Control(t)
	trial.Spare(tr, "ttft_p50", "ttft_p95")

	trial.Spare(tr, "tpot_p50", "tpot_p95", "output_throughput")
	v = forms.Build(t, tr.Write(t.TempDir()))
	assert.Equal(t, "INVALID(control not applied)", v.Headline())
	assert.Equal(t, view.ExitInvalid, v.ExitCode)
	assert.Equal(t, "INVALID(control not applied)", v.Comparisons[0].Phases[0].Metrics[0].Text)
}

// Noise leaves a control open: nothing passes, and nothing is shown, so it is not
// shown that the gate can fail. It was a PASS once.
func TestControlInNoise(t *testing.T) {
	t.Parallel()
	tr := trial.Control(t)
	tr.Noise = 0.3
	v := forms.Build(t, tr.Write(t.TempDir()))
	assert.Equal(t, "INCONCLUSIVE(control)", v.Headline())
	assert.Equal(t, view.ExitInconclusive, v.ExitCode)
	assert.Equal(t, view.NotPassed, forms.Outcomes(v)["TPOT p50, single"])
	assert.Contains(t, v.Sentence, "It is not shown that this gate can fail here: the slowdown is caught on no primary metric of single, arrivals (0 caught, 5 not passed)")
	assert.Empty(t, v.Needs)
	assert.Empty(t, v.ErrorRate)
	require.Len(t, v.Next, 1)
	assert.Contains(t, v.Next[0], "make the slowdown stand out")
	assert.Contains(t, forms.Render(t, v, page.Write), `<header class="verdict inconclusive">`, "amber")
}

// One phase that catches it does not speak for another one.
func TestControlThatOnePhaseMisses(t *testing.T) {
	t.Parallel()
	tr := trial.Control(t)
	tr.Effect["ttft"] = 0.03
	v := forms.Build(t, tr.Write(t.TempDir()))
	require.Equal(t, view.NotPassed, forms.Outcomes(v)["TTFT p50, arrivals"])
	require.Equal(t, view.NotPassed, forms.Outcomes(v)["TTFT p95, arrivals"])
	assert.Equal(t, "INCONCLUSIVE(control)", v.Headline())
	assert.Contains(t, v.Sentence, "caught on no primary metric of arrivals (3 caught, 2 not passed)")
}

func TestControlWithoutAPilot(t *testing.T) {
	t.Parallel()
	tr := trial.Control(t)
	tr.Pilot, tr.Effect["ttft"] = nil, 0.002
	v := forms.Build(t, tr.Write(t.TempDir()))
	assert.Equal(t, "FAIL(not sensitive)", v.Headline())
	assert.Contains(t, v.Sentence, "Not sensitive here: TTFT p50, arrivals, TTFT p95, arrivals; 2 of 5")
	assert.Contains(t, v.Notes, "no pilot: the slowdown is that of the scenario, and is taken to reach every metric")
	assert.Contains(t, v.Reproduce, "opbench run")
}

func TestPilotThatMissedItsAim(t *testing.T) {
	t.Parallel()
	tr := trial.Control(t)
	tr.Pilot.Steps[0].Values[0].RisePct, tr.Pilot.Steps[0].Values[1].RisePct = 3.2, 9.1
	v := forms.Build(t, tr.Write(t.TempDir()))
	assert.Contains(t, v.Notes, "the pilot aimed at a rise of TPOT p50 by 5 to 6 % and came to +4.7 %")
	assert.Contains(t, v.Notes, "the pilot aimed at a rise of TTFT p50 by 5 to 6 % and came to +8.0 %")
}

// What makes any campaign INVALID or a FAIL of its own holds for a control too.
func TestControlIsAlsoACampaign(t *testing.T) {
	t.Parallel()
	tr := trial.Control(t)
	tr.Edit = trial.OnRun("0002/slowed", func(r *trial.Recorded) { r.Requests[5].Error = "connection reset by peer" })
	v := forms.Build(t, tr.Write(t.TempDir()))
	assert.Equal(t, "INVALID(request failed)", v.Headline())
	assert.Empty(t, forms.Outcomes(v))

	tr = trial.Control(t)
	tr.Edit = trial.OnRun("0003/slowed", func(r *trial.Recorded) { r.Outputs.Tokens[2][5] = 7 })
	v = forms.Build(t, tr.Write(t.TempDir()))
	assert.Equal(t, "FAIL(identity)", v.Headline())
	assert.Equal(t, view.ExitFail, v.ExitCode)
}

// withPilotRuns measures the pilot's two steps too, and puts what they gave into
// the plan.
func withPilotRuns(t *testing.T, parent string) *trial.Trial {
	tr := trial.Control(t)
	runs := filepath.Join(parent, "measured")
	for i := range tr.Pilot.Steps {
		step := &tr.Pilot.Steps[i]
		one := trial.Control(t)
		one.Pilot, one.Scenario.Design = nil, scenarios.Design{Blocks: 1, Looks: []int{1}}
		one.Scenario.Arms[1].Env = map[string]string{scenarios.SpinVariable: step.Values[0].Text, scenarios.SpinPrefillVariable: step.Values[1].Text}
		one.Start = one.Start.Add(time.Duration(i) * time.Hour)
		dir := one.Write(filepath.Join(runs, "at"))
		require.NoError(t, os.Rename(dir, filepath.Join(runs, fmt.Sprint(i+1))))
		c, err := results.Load(filepath.Join(runs, fmt.Sprint(i+1)))
		require.NoError(t, err)
		for k := range step.Metrics {
			m := &step.Metrics[k]
			m.Baseline, m.Candidate = measuredIn(&c.Attempts[0], m), measuredIn(&c.Attempts[1], m)
			m.RisePct = 100 * (m.Candidate/m.Baseline - 1)
			if m.Metric == "output_throughput" {
				m.RisePct = 100 * (1 - m.Candidate/m.Baseline)
			}
		}
	}
	tr.After = func(dir string) { require.NoError(t, os.Rename(runs, filepath.Join(dir, "pilot"))) }
	return tr
}

// measuredIn is a metric of a run.
func measuredIn(a *results.Attempt, m *results.PilotMetric) float64 {
	var of []results.Request
	for _, r := range a.Requests {
		if r.Phase == m.Phase {
			of = append(of, r)
		}
	}
	values, _ := metrics.Compute(metrics.Phase{Requests: of})
	return values[m.Metric]
}

func TestPilotIsComputedAgain(t *testing.T) {
	t.Parallel()
	const absent = "the runs of the pilot are not in this run directory: its numbers are those of the plan"
	v := forms.Build(t, trial.Control(t).Write(t.TempDir()))
	assert.Contains(t, v.Notes, absent)
	parent := t.TempDir()
	v = forms.Build(t, withPilotRuns(t, parent).Write(parent))
	assert.Equal(t, "PASS(control)", v.Headline(), v.Sentence)
	assert.NotContains(t, v.Notes, absent)
}

func TestPilotThatDiffers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit func(*results.Pilot)
		want string
	}{
		"a number":       {func(p *results.Pilot) { p.Steps[1].Metrics[0].Candidate *= 1.01 }, "step 2: tpot_p50 in phase single is "},
		"a rise":         {func(p *results.Pilot) { p.Steps[0].Metrics[3].RisePct++ }, "step 1: ttft_p50 in phase arrivals rose by "},
		"a value":        {func(p *results.Pilot) { p.Steps[1].Values[0].Text = "0.05" }, "step 2: the runs did not have VLLM_OPPROF_SPIN=0.05"},
		"another metric": {func(p *results.Pilot) { p.Steps[1].Metrics[0].Phase = "arrivals" }, "step 2: tpot_p50 in phase arrivals is "},
	} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			tr := withPilotRuns(t, parent)
			c.edit(tr.Pilot)
			v := forms.Build(t, tr.Write(parent))
			assert.Equal(t, "INVALID(pilot differs)", v.Headline())
			assert.Contains(t, v.Sentence, c.want)
		})
	}
	parent := t.TempDir()
	tr := withPilotRuns(t, parent)
	dir := tr.Write(parent)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pilot", "1", "blocks", "0001", "plain", "run.json"), []byte("{}"), 0o644))
	assert.Equal(t, "INVALID(pilot differs)", forms.Build(t, dir).Headline())
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "pilot", "2")))
	c, err := results.Load(dir)
	require.NoError(t, err)
	_, err = judge.Build(c, "test")
	assert.ErrorContains(t, err, "read the pilot")
}

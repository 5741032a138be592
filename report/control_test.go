package report

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// controlTrial is a campaign whose candidate is slowed down by 5.5 %, as its
// pilot says.
func controlTrial(t *testing.T) *trial {
	tr := newTrial(t, 6)
	tr.scenario.Name, tr.scenario.Purpose = "positive-control", scenarios.Control
	tr.file = "positive-control.yaml"
	tr.scenario.Arms = []scenarios.Arm{
		{Name: "plain", Patch: scenarios.PatchControl},
		{Name: "slowed", Patch: scenarios.PatchControl, Env: map[string]string{scenarios.SpinVariable: "0.071", scenarios.SpinPrefillVariable: "0.12"}},
	}
	tr.scenario.Compare = []scenarios.Comparison{{Baseline: "plain", Candidate: "slowed"}}
	tr.effect["tpot"], tr.effect["ttft"] = 0.055, 0.056
	tr.pilot = &results.Pilot{LowPct: 5, HighPct: 6, Chosen: 2, Steps: []results.PilotStep{
		pilotStep("0.06", 4.2, "0.1", 4.9), pilotStep("0.071", 5.4, "0.12", 5.9),
	}}
	return tr
}

func pilotStep(spin string, tpot float64, prefill string, ttft float64) results.PilotStep {
	number := func(phase, metric string, pct float64) results.PilotMetric {
		return results.PilotMetric{Phase: phase, Metric: metric, Baseline: 1, Candidate: 1 + pct/100, RisePct: pct}
	}
	return results.PilotStep{
		Values: []results.PilotValue{{Name: scenarios.SpinVariable, Text: spin, Metric: "tpot_p50", RisePct: tpot},
			{Name: scenarios.SpinPrefillVariable, Text: prefill, Metric: "ttft_p50", RisePct: ttft}},
		Metrics: []results.PilotMetric{
			number("single", "tpot_p50", tpot), number("single", "tpot_p95", tpot+0.1), number("single", "output_throughput", tpot-0.2),
			number("arrivals", "ttft_p50", ttft), number("arrivals", "ttft_p95", ttft-0.5),
		},
	}
}

// spare makes the rise of TTFT metrics in the pilot too small to be noticed.
func spare(tr *trial, metrics ...string) {
	aim := tr.pilot.Steps[tr.pilot.Chosen-1].Values[1].Number()
	for _, step := range tr.pilot.Steps {
		for i := range step.Metrics {
			if slices.Contains(metrics, step.Metrics[i].Metric) {
				step.Metrics[i].RisePct = 3.97 * step.Values[1].Number() / aim
			}
		}
	}
}

// missedTrial has one metric of each kind: TPOT is caught, of TTFT the median
// is not sensitive and the slowdown did not reach p95.
func missedTrial(t *testing.T) *trial {
	tr := controlTrial(t)
	tr.effect["ttft"] = 0.002
	spare(tr, "ttft_p95")
	return tr
}

func outcomes(v *View) map[string]string {
	found := map[string]string{}
	for i := range v.Comparisons {
		for _, p := range v.Comparisons[i].primaries() {
			if p.Control != nil {
				found[p.String()] = p.Control.Outcome
			}
		}
	}
	return found
}

func TestControlIsNoticed(t *testing.T) {
	t.Parallel()
	v := build(t, controlTrial(t).write(t.TempDir()))
	assert.Equal(t, "PASS(control)", v.Result)
	assert.Equal(t, stat.Pass, v.Verdict)
	assert.Equal(t, ExitPass, v.ExitCode)
	assert.Equal(t, map[string]string{"TPOT p50, single": caught, "TPOT p95, single": caught, "output throughput, single": caught,
		"TTFT p50, arrivals": caught, "TTFT p95, arrivals": caught}, outcomes(v))
	assert.Equal(t, stat.Fail, v.Comparisons[0].Phases[0].Metrics[0].Verdict, "the gate's own verdict stays")
	assert.Contains(t, v.Sentence, "none of 5 primary metrics that it reached passes (5 caught, 0 not passed)")
	assert.Empty(t, v.Next)
	assert.Equal(t, "opbench control scenarios/positive-control.yaml", v.Reproduce)
}

func TestControlThatAMetricMisses(t *testing.T) {
	t.Parallel()
	v := build(t, missedTrial(t).write(t.TempDir()))
	assert.Equal(t, stat.Fail, v.Verdict)
	assert.Equal(t, notSensitive, outcomes(v)["TTFT p50, arrivals"])
	assert.Equal(t, notReached, outcomes(v)["TTFT p95, arrivals"])
	assert.Equal(t, caught, outcomes(v)["TPOT p50, single"])
	assert.Contains(t, v.Sentence, "Not sensitive here: TTFT p50, arrivals (pilot +5.9 %); 1 of 4 primary metrics")
	assert.Contains(t, v.Sentence, "control not applied to TTFT p95, arrivals (pilot +3.97 %)", "never rounded up to what would count")
	require.Len(t, v.Next, 1)
	assert.Contains(t, v.Next[0], "take these metrics out of primary")
	for _, r := range renderings {
		text := render(t, v, r.write)
		assert.Contains(t, text, notSensitive, r.extension)
		assert.Contains(t, text, notReached, r.extension)
		assert.Contains(t, text, "0.071", r.extension)
	}
}

// verdictWords are those of the gate, as a word of its own.
var verdictWords = regexp.MustCompile(`\b(PASS|FAIL|INCONCLUSIVE)\b`)

// In a control no table and no plot shows the gate's own word beside the
// control's: FAIL would read as bad where it is what is wanted.
func TestControlSpeaksOneLanguage(t *testing.T) {
	t.Parallel()
	for _, tr := range []*trial{controlTrial(t), missedTrial(t)} {
		v := build(t, tr.write(t.TempDir()))
		c := &v.Comparisons[0]
		rows := append(asciiForest(c), phaseTable(v, c, c.Phases[0], true), phaseTable(v, c, c.Phases[1], true))
		for _, mark := range newForestPlot(c, 0).Rows {
			rows = append(rows, mark.Word, mark.Text)
			assert.NotEmpty(t, mark.Marker, mark.Word)
		}
		assert.Empty(t, verdictWords.FindAllString(strings.Join(rows, "\n"), -1))
		for _, outcome := range outcomes(v) {
			assert.Contains(t, strings.Join(asciiForest(c), "\n"), outcome)
		}
	}
}

// A metric that the slowdown hardly reached decides nothing.
func TestControlThatIsNotApplied(t *testing.T) {
	t.Parallel()
	tr := controlTrial(t)
	tr.effect["ttft"] = 0.002
	spare(tr, "ttft_p50", "ttft_p95")
	v := build(t, tr.write(t.TempDir()))
	assert.Equal(t, "PASS(control)", v.Result)
	assert.Contains(t, v.Sentence, "none of 3 primary metrics")
	assert.Contains(t, v.Sentence, "control not applied to TTFT p50, arrivals")

	spare(tr, "tpot_p50", "tpot_p95", "output_throughput")
	v = build(t, tr.write(t.TempDir()))
	assert.Equal(t, "INVALID(control not applied)", v.Result)
	assert.Equal(t, ExitInvalid, v.ExitCode)
	assert.Equal(t, "INVALID(control not applied)", v.Comparisons[0].Phases[0].Metrics[0].Result)
}

// Noise leaves a control open: nothing passes, and nothing is shown.
func TestControlInNoise(t *testing.T) {
	t.Parallel()
	tr := controlTrial(t)
	tr.noise = 0.3
	v := build(t, tr.write(t.TempDir()))
	assert.Equal(t, "PASS(control)", v.Result)
	assert.Equal(t, notPassed, outcomes(v)["TPOT p50, single"])
	assert.Contains(t, v.Sentence, "The slowdown passes on none of 5 primary metrics that it reached, and is shown on none (0 caught, 5 not passed): the noise hides it")
	assert.Empty(t, v.Needs)
}

func TestControlWithoutAPilot(t *testing.T) {
	t.Parallel()
	tr := controlTrial(t)
	tr.pilot, tr.effect["ttft"] = nil, 0.002
	v := build(t, tr.write(t.TempDir()))
	assert.Equal(t, "FAIL(not sensitive)", v.Result)
	assert.Contains(t, v.Sentence, "Not sensitive here: TTFT p50, arrivals, TTFT p95, arrivals; 2 of 5")
	assert.Contains(t, v.Notes, "no pilot: the slowdown is that of the scenario, and is taken to reach every metric")
	assert.Contains(t, v.Reproduce, "opbench run")
}

func TestPilotThatMissedItsAim(t *testing.T) {
	t.Parallel()
	tr := controlTrial(t)
	tr.pilot.Steps[0].Values[0].RisePct, tr.pilot.Steps[0].Values[1].RisePct = 3.2, 9.1
	v := build(t, tr.write(t.TempDir()))
	assert.Contains(t, v.Notes, "the pilot aimed at a rise of TPOT p50 by 5 to 6 % and came to +4.7 %")
	assert.Contains(t, v.Notes, "the pilot aimed at a rise of TTFT p50 by 5 to 6 % and came to +8.0 %")
}

// What makes any campaign INVALID or a FAIL of its own holds for a control too.
func TestControlIsAlsoACampaign(t *testing.T) {
	t.Parallel()
	tr := controlTrial(t)
	tr.edit = onRun("0002/slowed", func(r *recorded) { r.requests[5].Error = "connection reset by peer" })
	v := build(t, tr.write(t.TempDir()))
	assert.Equal(t, "INVALID(request failed)", v.Result)
	assert.Empty(t, outcomes(v))

	tr = controlTrial(t)
	tr.edit = onRun("0003/slowed", func(r *recorded) { r.outputs.Tokens[2][5] = 7 })
	v = build(t, tr.write(t.TempDir()))
	assert.Equal(t, "FAIL(identity)", v.Result)
	assert.Equal(t, ExitFail, v.ExitCode)
}

// withPilotRuns measures the pilot's two steps too, and puts what they gave into
// the plan.
func withPilotRuns(t *testing.T, parent string) *trial {
	tr := controlTrial(t)
	runs := filepath.Join(parent, "measured")
	for i := range tr.pilot.Steps {
		step := &tr.pilot.Steps[i]
		one := controlTrial(t)
		one.pilot, one.scenario.Design = nil, scenarios.Design{Blocks: 1, Looks: []int{1}}
		one.scenario.Arms[1].Env = map[string]string{scenarios.SpinVariable: step.Values[0].Text, scenarios.SpinPrefillVariable: step.Values[1].Text}
		one.start = one.start.Add(time.Duration(i) * time.Hour)
		dir := one.write(filepath.Join(runs, "at"))
		require.NoError(t, os.Rename(dir, filepath.Join(runs, fmt.Sprint(i+1))))
		c, err := results.Load(filepath.Join(runs, fmt.Sprint(i+1)))
		require.NoError(t, err)
		for k := range step.Metrics {
			m := &step.Metrics[k]
			m.Baseline = phaseValues(&c.Attempts[0], nil)[m.Phase][m.Metric]
			m.Candidate = phaseValues(&c.Attempts[1], nil)[m.Phase][m.Metric]
			m.RisePct = riseOf(*m)
		}
	}
	tr.after = func(dir string) { require.NoError(t, os.Rename(runs, filepath.Join(dir, "pilot"))) }
	return tr
}

func TestPilotIsComputedAgain(t *testing.T) {
	t.Parallel()
	const absent = "the runs of the pilot are not in this run directory: its numbers are those of the plan"
	v := build(t, controlTrial(t).write(t.TempDir()))
	assert.Contains(t, v.Notes, absent)
	parent := t.TempDir()
	v = build(t, withPilotRuns(t, parent).write(parent))
	assert.Equal(t, "PASS(control)", v.Result, v.Sentence)
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
			c.edit(tr.pilot)
			v := build(t, tr.write(parent))
			assert.Equal(t, "INVALID(pilot differs)", v.Result)
			assert.Contains(t, v.Sentence, c.want)
		})
	}
	parent := t.TempDir()
	tr := withPilotRuns(t, parent)
	dir := tr.write(parent)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pilot", "1", "blocks", "0001", "plain", "run.json"), []byte("{}"), 0o644))
	assert.Equal(t, "INVALID(pilot differs)", build(t, dir).Result)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "pilot", "2")))
	c, err := results.Load(dir)
	require.NoError(t, err)
	_, err = Build(c, "test")
	assert.ErrorContains(t, err, "read the pilot")
}

// A rise of a metric that the table does not have is no number: it differs from
// whatever the plan says.
func TestRiseOfAnUnknownMetric(t *testing.T) {
	m := results.PilotMetric{Metric: "tpot_p50", Baseline: 1, Candidate: 1.05}
	assert.InDelta(t, 5, riseOf(m), 1e-9)
	m.Metric = "output_throughput"
	assert.InDelta(t, -5, riseOf(m), 1e-9)
	m.Metric = "tpot_p99"
	assert.True(t, math.IsNaN(riseOf(m)))
}

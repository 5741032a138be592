package judge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/internal/forms"
	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/results"
)

// Half the time is no "worst bound −0.9 %" only.
func TestFasterIsSaid(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 6)
	tr.Effect["ttft"] = -0.64
	v := forms.Build(t, tr.Write(t.TempDir()))
	require.Equal(t, "PASS", v.Headline())
	assert.Regexp(t, `; faster by 4\d\.\d to 4\d\.\d % \(TTFT p(50|95), arrivals\) and better on 2 more\. 6 blocks`, v.Sentence)

	tr = trial.New(t, 6)
	tr.Effect["tpot"], tr.Scenario.Phases[0].Primary = -0.2, []string{"output_throughput"}
	v = forms.Build(t, tr.Write(t.TempDir()))
	assert.Regexp(t, `; higher by \d+\.\d to \d+\.\d % \(output throughput, single\)\.`, v.Sentence)
}

// What lies on the better side by little, or by chance among many, is not called faster.
func TestFasterIsNotSaidOfNoise(t *testing.T) {
	t.Parallel()
	for effect, noise := range map[float64]float64{-0.0012: 0.0001, -0.012: 0.012} {
		tr := trial.New(t, 6)
		tr.Effect["ttft"], tr.Noise = effect, noise
		assert.NotContains(t, forms.Build(t, tr.Write(t.TempDir())).Sentence, "faster", effect)
	}
}

// A certain loss of a metric that nobody gates stands in the first lines of every form.
func TestLossOutsideThePrimaries(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 6)
	tr.Effect["tpot"], tr.Scenario.Phases[0].Primary = 0.08, nil
	v := forms.Build(t, tr.Write(t.TempDir()))
	require.Equal(t, "PASS", v.Headline())
	at := strings.Index(strings.Join(v.Notes, "\n"), "lost more than the margin, not gated: ")
	require.GreaterOrEqual(t, at, 0, v.Notes)
	assert.Regexp(t, `lost more than the margin, not gated: TPOT p50, single, at least \+8\.\d %; .*; and 11 more`, strings.Join(v.Notes, "\n"))
	for _, form := range forms.Forms {
		assert.Contains(t, trial.OneLine(forms.Render(t, v, form.Write)), "lost more than the margin, not gated", form.Extension)
	}
	tr.Effect["tpot"] = 0.003
	assert.NotContains(t, strings.Join(forms.Build(t, tr.Write(t.TempDir())).Notes, "\n"), "lost more")
}

// Arms on a host of two speeds: the baseline at two thirds of the clock, throttled.
func TestHostThatIsSlowerForOneArm(t *testing.T) {
	t.Parallel()
	slowed := func(arm string, clock float64, reason string, hits func(block string) int) func(*trial.Recorded) {
		return func(r *trial.Recorded) {
			trial.Telemetry(r)
			for i := range r.Run.Phases {
				for k := range r.Run.Phases[i].GPU {
					g := &r.Run.Phases[i].GPU[k]
					if r.Run.Key.Arm == arm {
						g.Ranges["sm_clock_mhz"] = results.Range{Min: clock, Mean: clock, Max: clock}
						g.Throttle = map[string]int{reason: hits(r.Run.Key.Block)}
					}
				}
			}
		}
	}
	note := func(edit func(*trial.Recorded)) string {
		tr := trial.New(t, 6)
		tr.Edit = edit
		v := forms.Build(t, tr.Write(t.TempDir()))
		require.Equal(t, "PASS", v.Headline(), "it decides nothing")
		for _, n := range v.Notes {
			if strings.HasPrefix(n, "the host ran at another speed under on than under off") {
				return n
			}
		}
		return ""
	}
	most := func(block string) int { return map[string]int{"0001": 15, "0002": 18}[block] + 1 }
	all := func(string) int { return 18 }
	n := note(slowed("off", 1300, "sw_thermal_slowdown", all))
	assert.Contains(t, n, "GPU SM clock in single: 1300 MHz under off, 1980 MHz under on")
	assert.Contains(t, n, "throttled: sw_thermal_slowdown in arrivals: 90 % of samples under off, 0 % of samples under on")
	assert.Contains(t, n, "so an effect may be the host's")
	assert.Empty(t, note(trial.Telemetry), "one bad run of twelve is no difference of arms")
	assert.Empty(t, note(slowed("on", 1979, "gpu_idle", all)), "a GPU that waits is not throttled")
	assert.Empty(t, note(slowed("on", 1980, "sw_power_cap", most)), "two blocks of six")
	assert.Empty(t, note(nil), "a host without telemetry")
}

// A PASS says in one line what it rests on beside its bound, and per metric in the
// details; no other verdict does.
func TestRobustnessBesideAPass(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 6)
	v := forms.Build(t, tr.Write(t.TempDir()))
	require.Equal(t, "PASS", v.Headline())
	assert.Regexp(t, `^6 blocks do not exclude that up to 46 % of starts are bad ones; sign-flip p at the margin at most 0\.016; `+
		`lag-1 r of neighbouring blocks at most [+-]0\.\d\d \(with an r of 0\.3 / 0\.5 a cost of the margin passes in \d+\.\d / \d+\.\d % of campaigns of 6 blocks\)$`, v.Notes[len(v.Notes)-1])
	for _, p := range v.Comparisons[0].Primaries() {
		assert.InDelta(t, 1./64, *p.Detail.SignFlipP, 1e-12, p)
		assert.InDelta(t, 45.93, *p.Detail.BadStartsPct, .01)
		require.NotNil(t, p.Detail.Lag1)
	}
	for _, form := range forms.Forms[1:] {
		if form.Extension != "json" {
			assert.Equal(t, 5, strings.Count(forms.Render(t, v, form.Write), "≤ 46 %"), "%s: one for each primary metric", form.Extension)
		}
	}
	tr = trial.New(t, 6)
	tr.Effect["tpot"] = 0.055
	v = forms.Build(t, tr.Write(t.TempDir()))
	require.Equal(t, "FAIL", v.Headline())
	assert.NotContains(t, strings.Join(v.Notes, "\n"), "bad ones")
	assert.Nil(t, v.Comparisons[0].Find("single", "tpot_p50").Detail.SignFlipP)

	tr = trial.New(t, 8)
	tr.Scenario.Design.AdjustOrder = true
	v = forms.Build(t, tr.Write(t.TempDir()))
	require.Equal(t, "PASS", v.Headline())
	assert.NotContains(t, strings.Join(v.Notes, "\n"), "sign-flip", "orders shift the centre")
	assert.Contains(t, strings.Join(v.Notes, "\n"), "up to 37 % of starts")
	assert.Nil(t, v.Comparisons[0].Primaries()[0].Detail.SignFlipP)
}

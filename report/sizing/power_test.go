package sizing

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/report/page"
	"github.com/aituner/opprof/report/render"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
)

var someBlocks = []int{6, 8, 10, 12, 16, 20, 30}

func askedPower() PowerPlan { return PowerPlan{Power: 0.9, Blocks: someBlocks} }

// How often the gate passes in per cent, by both of its bounds, simulated by another
// program (3 000 campaigns and more); the margin is 3 % of a time. The t bound alone has
// 96.7, 94.5, and 91.3 %, and once promised 90 % of a campaign.
func TestPowerAtKnownSpreads(t *testing.T) {
	for _, c := range []struct {
		sd, effect float64
		want       map[int]float64
	}{
		{0.015, 0, map[int]float64{6: 85.2}},
		{0.02, 0, map[int]float64{8: 87}},
		{0.025, 0, map[int]float64{10: 85.5}},
		{0.02, 0.03, map[int]float64{10: 1.9, 20: 2.1}},
	} {
		plan := askedPower()
		plan.Effects = []float64{c.effect}
		table, err := PowerAt([]float64{c.sd}, plan, "v0.1.0")
		require.NoError(t, err)
		require.Len(t, table.Groups, 4)
		require.Equal(t, "a time", table.Groups[0].Label)
		for i, n := range table.Blocks {
			if want, ok := c.want[n]; ok {
				assert.InDelta(t, want, 100*table.Groups[0].Curves[0].Power[i], 1.5, "SD %g, effect %g, n %d", c.sd, c.effect, n)
			}
		}
	}
}

// Required blocks, rounded up to even plans of at least six.
func TestPowerNeeds(t *testing.T) {
	for cv, want := range map[float64]int{0.003: 6, 0.01: 10, 0.015: 16, 0.02: 26, 0.03: 54, 0.05: 140} {
		plan := askedPower()
		plan.Effects = []float64{0.01}
		table, err := PowerAt([]float64{SDFromCV(cv)}, plan, "v0.1.0")
		require.NoError(t, err)
		assert.Equal(t, want, table.Groups[0].Curves[0].Needed, "CV %g", cv)
	}
	plan := askedPower()
	plan.Effects, plan.Arms = []float64{0.01, 0.03}, 3
	table, err := PowerAt([]float64{SDFromCV(0.01)}, plan, "v0.1.0")
	require.NoError(t, err)
	assert.Equal(t, 12, table.Groups[0].Curves[0].Needed, "three arms: a multiple of six")
	assert.Zero(t, table.Groups[0].Curves[1].Needed, "no number of blocks shows that a loss of the margin is less")
}

// ENOUGH or UNDERPOWERED is about the most blocks of the table, at the spread and
// the effects that were asked for, and about the whole campaign: eight blocks at 2 %
// were ENOUGH once, where 87 % of single metrics pass and 33 to 47 % of campaigns.
func TestPowerSaysWhetherItIsEnough(t *testing.T) {
	for _, c := range []struct {
		sd, effect float64
		metrics    int
		blocks     []int
		want, says string
		exit       int
	}{
		{0.02, 0, 0, []int{8}, "UNDERPOWERED", "8 blocks do not have a power of 90 % that all metrics pass: they have 34 % with an SD of 2.00 %, if metrics have nothing in common.", view.ExitUnderpowered},
		{0.015, 0, 0, []int{6, 10}, "ENOUGH", "A plan of 10 blocks passes on all metrics with a power of 90 %.", view.ExitPass},
		{0.02, 0, 1, []int{8}, "UNDERPOWERED", "8 blocks do not have a power of 90 % that all metrics pass: they have 87 % on a time with an SD of 2.00 %.", view.ExitUnderpowered},
		{0.02, 0, 1, []int{6, 10}, "ENOUGH", "A plan of 10 blocks passes on all metrics", view.ExitPass},
		{0.015, 0, 1, []int{4, 6}, "UNDERPOWERED", "6 blocks do not have", view.ExitUnderpowered},
		{0.0001, 0, 1, []int{4}, "UNDERPOWERED", "4 blocks do not have", view.ExitUnderpowered},
		{0.02, 0.01, 8, []int{10}, "UNDERPOWERED", "10 blocks do not have", view.ExitUnderpowered},
		{0.001, 0.03, 2, []int{100}, "UNDERPOWERED", "100 blocks do not have", view.ExitUnderpowered},
	} {
		plan := askedPower()
		plan.Effects, plan.Blocks, plan.Metrics = []float64{c.effect}, c.blocks, c.metrics
		table, err := PowerAt([]float64{c.sd}, plan, "v0.1.0")
		require.NoError(t, err)
		assert.Equal(t, c.want, string(table.Result))
		assert.Equal(t, c.exit, table.ExitCode)
		assert.Contains(t, table.Sentence, c.says)
		assert.Contains(t, powerHTML(t, table), "Power: "+c.want)
		var text strings.Builder
		require.NoError(t, render.WritePower(&text, table))
		assert.True(t, strings.HasPrefix(text.String(), c.want+"  "), text.String())
		for _, g := range table.Groups {
			assert.NotEmpty(t, g.Label)
		}
	}
}

// The upper spread and the observed mean of an A/A are shown and do not decide.
func TestObservedSpreadDecidesAboutPower(t *testing.T) {
	t.Parallel()
	plan := askedPower()
	table, err := PowerFromAA(trial.Loaded(t, trial.Equal(t, 6).Write(t.TempDir())), plan, "v0.1.0")
	require.NoError(t, err)
	require.Equal(t, view.Enough, table.Result, table.Sentence)
	last := len(table.Blocks) - 1
	for i := range table.Groups {
		for k := range table.Groups[i].Curves {
			if c := &table.Groups[i].Curves[k]; c.Seen || c.Spread == "upper" {
				c.Power[last] = 0
			}
		}
	}
	concludePower(table)
	assert.Equal(t, view.Enough, table.Result)
	table.Groups[0].Curves[0].Power[last] = 0.5
	concludePower(table)
	assert.Equal(t, view.Enough, table.Result, "the campaign's row decides")
	whole := &table.Groups[len(table.Groups)-1]
	require.True(t, whole.Whole)
	assert.Equal(t, "all 5 metrics", whole.Label)
	whole.Curves[0].Power[last] = 0.5
	concludePower(table)
	assert.Equal(t, view.Underpowered, table.Result)
	assert.Contains(t, table.Sentence, "that all metrics pass: they have 50 %.")
}

func TestSDFromCV(t *testing.T) {
	assert.InDelta(t, math.Sqrt2*0.01, SDFromCV(0.01), 1e-6)
	assert.InDelta(t, math.Sqrt(2*math.Log(1.25)), SDFromCV(0.5), 1e-15)
}

func TestPowerFromAA(t *testing.T) {
	t.Parallel()
	c := trial.Published(t, "vllm-cpu-second-aa")
	table, err := PowerFromAA(c, askedPower(), "v0.1.0")
	require.NoError(t, err)
	e, err := JudgeAA(c, "v0.1.0")
	require.NoError(t, err)
	require.Len(t, table.Groups, 9)
	whole := table.Groups[8]
	assert.True(t, whole.Whole)
	assert.Equal(t, "all 8 metrics", whole.Label)
	for i, g := range table.Groups[:8] {
		m := e.Comparisons[0].Metrics[i]
		require.Equal(t, m.Name+m.Phase, g.Name+g.Phase)
		require.Len(t, g.Curves, 4)
		observed, upper, seen := g.Curves[0], g.Curves[1], g.Curves[2]
		assert.Equal(t, m.Gate.Observed, observed.Needed, "opbench aa says the same")
		assert.Equal(t, m.Gate.Upper, upper.Needed)
		assert.GreaterOrEqual(t, upper.SD, m.SD*stat.SDUpperFactor(6), "an earlier campaign of the host lies beside it")
		assert.True(t, seen.Seen)
		assert.InDelta(t, *m.Effect, seen.Effect, 1e-9)
		for k := range observed.Power {
			assert.Less(t, upper.Power[k], observed.Power[k], "more noise, less power")
			assert.True(t, k == 0 || observed.Power[k] > observed.Power[k-1], "more blocks, more power")
			for c := range g.Curves {
				assert.LessOrEqual(t, whole.Curves[c].Power[k], g.Curves[c].Power[k], "the campaign passes only if this metric does")
			}
		}
		assert.GreaterOrEqual(t, whole.Curves[0].Needed, g.Curves[0].Needed)
	}
	assert.Equal(t, "vllm-cpu-second-aa", table.Subject.Campaign)
}

func TestPowerTakesWhatIsAsked(t *testing.T) {
	t.Parallel()
	plan := PowerPlan{Margin: 0.05, Confidence: 0.9, Power: 0.8, Effects: []float64{0.01}, Blocks: []int{6}, Arms: 4}
	table, err := PowerFromAA(trial.Published(t, "vllm-cpu-aa"), plan, "v0.1.0")
	require.NoError(t, err)
	assert.InDelta(t, 90, table.ConfidencePct, 1e-9)
	assert.Equal(t, 4, table.Arms)
	g := table.Groups[0]
	require.Len(t, g.Curves, 2, "the observed mean only where no effect is assumed")
	want, err := stat.GatePower(6, g.Curves[0].SD, math.Log1p(0.05), math.Log1p(0.01), stat.Rule{Alpha: 0.05})
	require.NoError(t, err)
	assert.InDelta(t, want, g.Curves[0].Power[0], 1e-9)
}

func TestPowerWithoutSpreadsIsRefused(t *testing.T) {
	t.Parallel()
	_, err := PowerFromAA(trial.Published(t, "vllm-cpu-r1"), askedPower(), "v0.1.0")
	require.ErrorIs(t, err, ErrNoEqualArms)

	tr := trial.Equal(t, 6)
	tr.Stop = 4
	_, err = PowerFromAA(trial.Loaded(t, tr.Write(t.TempDir())), askedPower(), "v0.1.0")
	require.ErrorIs(t, err, ErrUnfinished)
	assert.ErrorContains(t, err, "block 4 of 6")

	tr = trial.Equal(t, 6)
	tr.Edit = trial.OnRun("0002/on", func(r *trial.Recorded) { r.Requests[5].Error = "connection reset by peer" })
	_, err = PowerFromAA(trial.Loaded(t, tr.Write(t.TempDir())), askedPower(), "v0.1.0")
	require.ErrorIs(t, err, ErrUnusable)
	assert.ErrorContains(t, err, "request failed")

	tr = trial.Equal(t, 6)
	tr.Effect = map[string]float64{"ttft": 0.012, "tpot": 0.012}
	_, err = PowerFromAA(trial.Loaded(t, tr.Write(t.TempDir())), askedPower(), "v0.1.0")
	assert.NoError(t, err, "bias does not touch the spread")
}

func TestPowerPlanIsChecked(t *testing.T) {
	for want, change := range map[string]func(*PowerPlan){
		"margin 100 %":     func(p *PowerPlan) { p.Margin = 1 },
		"margin -1 %":      func(p *PowerPlan) { p.Margin = -0.01 },
		"confidence 100 %": func(p *PowerPlan) { p.Confidence = 1 },
		"power 0 %":        func(p *PowerPlan) { p.Power = 0 },
		"one-sided error":  func(p *PowerPlan) { p.Power, p.Confidence = 0.02, 0.95 },
		"101 metrics":      func(p *PowerPlan) { p.Metrics = 101 },
		"5 arms":           func(p *PowerPlan) { p.Arms = 5 },
		"1 arms":           func(p *PowerPlan) { p.Arms = 1 },
		"blocks []":        func(p *PowerPlan) { p.Blocks = nil },
		"blocks [8 6]":     func(p *PowerPlan) { p.Blocks = []int{8, 6} },
		"blocks [1]":       func(p *PowerPlan) { p.Blocks = []int{1} },
		"room for 10":      func(p *PowerPlan) { p.Blocks = []int{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12} },
		"effect 100 %":     func(p *PowerPlan) { p.Effects = []float64{1} },
		"effect NaN %":     func(p *PowerPlan) { p.Effects = []float64{math.NaN()} },
		"effect -100 %":    func(p *PowerPlan) { p.Effects = []float64{-1} },
		"confidence -5 %":  func(p *PowerPlan) { p.Confidence = -0.05 },
	} {
		plan := askedPower()
		change(&plan)
		assert.ErrorContains(t, plan.Check(), want)
	}
	for sd, want := range map[float64]string{0: "spread 0 %", -0.01: "must be above zero", math.Inf(1): "must be finite"} {
		_, err := PowerAt([]float64{sd}, askedPower(), "v0.1.0")
		assert.ErrorContains(t, err, want)
	}
}

func TestPowerText(t *testing.T) {
	t.Parallel()
	table, err := PowerFromAA(alone(t, "vllm-cpu-second-aa"), askedPower(), "v0.1.0")
	require.NoError(t, err)
	var b strings.Builder
	require.NoError(t, render.WritePower(&b, table))
	for _, line := range strings.Split(b.String(), "\n") {
		assert.LessOrEqual(t, len([]rune(line)), 100, line)
	}
	assert.Regexp(t, `TPOT p50 +3\.02 % +0\.0 % +16 +3\d +5\d +7\d +8\d +9\d +9\d +99`, b.String())
	assert.Regexp(t, `≤ 4\.41 % +-1\.0 % \* +1[68] `, b.String())
	assert.Regexp(t, `all 8 metrics +theirs +0\.0 % +226 +0 `, b.String())
	text := strings.Join(strings.Fields(b.String()), " ")
	assert.Contains(t, text, "this is how often the gate passes, by both of its bounds")
	assert.Contains(t, text, "if the host stays as quiet")
}

func TestPowerPage(t *testing.T) {
	t.Parallel()
	table, err := PowerFromAA(trial.Published(t, "vllm-cpu-second-aa"), askedPower(), "v0.1.0")
	require.NoError(t, err)
	text := powerHTML(t, table)
	assert.Equal(t, 9, strings.Count(text, `role="img"`))
	assert.Equal(t, 9, strings.Count(text, "<desc id="), "every plot is described")
	assert.Equal(t, 9*4*len(someBlocks), len(regexp.MustCompile(`<svg x="[\d.]+%" y="[\d.]+" overflow`).FindAllString(text, -1)), "a mark for every number")
	assert.Equal(t, 9*4+1, strings.Count(text, "<tr>"), "the numbers are in a table too")
	style := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(text)
	require.Len(t, style, 2)
	sum := sha256.Sum256([]byte(style[1]))
	hash := base64.StdEncoding.EncodeToString(sum[:])
	assert.True(t, strings.Contains(html.UnescapeString(text), "style-src 'sha256-"+hash+"'"), "else a browser would not use the style")
	assert.NotRegexp(t, `(?i)(src|href|action|data|poster|xlink:href)="[^"d]`, text)
	for _, bad := range []string{"url(", "http://", "https://", "<script", "ZgotmplZ", "NaN"} {
		assert.NotContains(t, text, bad)
	}
	given, err := PowerAt([]float64{0.012, 0.02}, askedPower(), "v0.1.0")
	require.NoError(t, err)
	assert.Equal(t, 8, strings.Count(powerHTML(t, given), `role="img"`))
}

func powerHTML(t *testing.T, table *view.PowerTable) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, page.WritePower(&b, table))
	return b.String()
}

// One number of blocks has no axis to lie on, and still a place.
func TestPowerPageOfOneNumber(t *testing.T) {
	t.Parallel()
	plan := askedPower()
	plan.Blocks = []int{10}
	table, err := PowerAt([]float64{0.01}, plan, "v0.1.0")
	require.NoError(t, err)
	assert.NotContains(t, powerHTML(t, table), "NaN")
}

func TestHostileNamesInNewForms(t *testing.T) {
	t.Parallel()
	tr := trial.Hostile(t)
	trial.MakeAA(tr)
	tr.Edit = func(r *trial.Recorded) { r.Env.CPUModel = trial.HostileText }
	tr.Noise = 0.04
	c := trial.Loaded(t, tr.Write(t.TempDir()))
	e, err := JudgeAA(c, "v0.1.0")
	require.NoError(t, err)
	table, err := PowerFromAA(c, askedPower(), "v0.1.0")
	require.NoError(t, err)
	var aa, power strings.Builder
	require.NoError(t, render.WriteAA(&aa, e))
	require.NoError(t, render.WritePower(&power, table))
	html := powerHTML(t, table)
	assert.NotContains(t, html, "<script")
	assert.NotContains(t, html, "</title></svg>")
	for _, form := range []string{aa.String(), power.String(), html} {
		for _, bad := range []string{"\x1b", "\u202e", "\r"} {
			assert.NotContains(t, form, bad)
		}
	}
}

func TestNewDocumentsAreValidJSON(t *testing.T) {
	t.Parallel()
	c := trial.Published(t, "vllm-cpu-aa")
	e, err := JudgeAA(c, "v0.1.0")
	require.NoError(t, err)
	table, err := PowerFromAA(c, askedPower(), "v0.1.0")
	require.NoError(t, err)
	for kind, document := range map[string]any{"aa": e, "power": table} {
		var b strings.Builder
		require.NoError(t, view.WriteJSON(&b, document))
		var back map[string]any
		require.NoError(t, json.Unmarshal([]byte(b.String()), &back))
		assert.Equal(t, kind, back["kind"])
		assert.InDelta(t, 1, back["schema"], 0)
		assert.Equal(t, "v0.1.0", back["tool"])
	}
}

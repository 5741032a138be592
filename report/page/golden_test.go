package page_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/internal/forms"
	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/report/page"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
)

func TestGolden(t *testing.T) {
	for _, c := range trial.Cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			v := forms.Build(t, c.Make(t).Write(t.TempDir()))
			assert.Equal(t, c.Result, v.Headline())
			assert.Equal(t, c.Exit, v.ExitCode)
			for _, r := range forms.Forms {
				trial.Golden(t, c.Name+"."+r.Extension, forms.Render(t, v, r.Write))
			}
		})
	}
}

func TestEveryTextLineFits(t *testing.T) {
	t.Parallel()
	for _, c := range trial.Cases {
		want, err := os.ReadFile(filepath.Join("testdata", c.Name+".txt"))
		require.NoError(t, err)
		for _, line := range strings.Split(string(want), "\n") {
			assert.LessOrEqual(t, len([]rune(line)), 100, "%s: %s", c.Name, line)
		}
	}
}

func TestSameDirectorySameBytes(t *testing.T) {
	t.Parallel()
	dir := trial.New(t, 6).Write(t.TempDir())
	first := forms.Build(t, dir)
	require.NoError(t, page.Save(dir, first))
	second := forms.Build(t, dir)
	for _, r := range forms.Forms {
		assert.Equal(t, forms.Render(t, first, r.Write), forms.Render(t, second, r.Write), r.Extension)
	}
	saved, err := os.ReadFile(filepath.Join(dir, results.VerdictFile))
	require.NoError(t, err)
	assert.Equal(t, forms.Render(t, second, view.WriteJSON[*view.View]), string(saved))
	assert.FileExists(t, filepath.Join(dir, results.ReportFile))
	assert.FileExists(t, filepath.Join(dir, results.PageFile))
}

func TestJSONCarriesTheVerdict(t *testing.T) {
	t.Parallel()
	v := forms.Build(t, trial.New(t, 6).Write(t.TempDir()))
	var back view.View
	require.NoError(t, json.Unmarshal([]byte(forms.Render(t, v, view.WriteJSON[*view.View])), &back))
	assert.Equal(t, view.VerdictSchema, back.Schema)
	assert.Equal(t, "verdict", back.Kind)
	assert.Equal(t, stat.Pass, back.Verdict)
	assert.Equal(t, "v0.1.0", back.Tool)
	m := back.Comparisons[0].Phases[0].Metrics[0]
	assert.Less(t, *m.Upper, m.MarginPct)
	assert.Len(t, m.Pairs, 6)
}

func TestNothingClaimsThatThereIsNoRegression(t *testing.T) {
	t.Parallel()
	for _, c := range trial.Cases {
		for _, r := range forms.Forms {
			text, err := os.ReadFile(filepath.Join("testdata", c.Name+"."+r.Extension))
			require.NoError(t, err)
			assert.NotContains(t, strings.ToLower(string(text)), "no regression", c.Name)
		}
	}
}

func TestSimulatedIsSaidEverywhere(t *testing.T) {
	t.Parallel()
	for _, r := range forms.Forms {
		text, err := os.ReadFile(filepath.Join("testdata", "simulated."+r.Extension))
		require.NoError(t, err)
		assert.Contains(t, string(text), "Simulated engine, not vLLM", r.Extension)
		assert.Contains(t, string(text), "SIMULATED ENGINE", r.Extension)
	}
	text, err := os.ReadFile(filepath.Join("testdata", "simulated.txt"))
	require.NoError(t, err)
	assert.Contains(t, string(text), "single, 1 stream (simulated engine)")
}

func TestUnfinishedShowsNoEffect(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 6)
	tr.Stop = 4
	v := forms.Build(t, tr.Write(t.TempDir()))
	assert.Empty(t, v.Verdict)
	assert.Contains(t, v.Sentence, "block 4 of 6")
	require.Len(t, v.Comparisons, 1)
	assert.Empty(t, v.Comparisons[0].Phases)
	assert.Empty(t, v.Comparisons[0].CPU)
	for _, r := range forms.Forms {
		text := forms.Render(t, v, r.Write)
		assert.NotContains(t, text, "interval", r.Extension)
		assert.NotContains(t, text, "effect_pct", r.Extension)
	}
}

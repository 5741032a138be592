package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

var update = flag.Bool("update", false, "write the golden files again")

// renderings are all forms of a view.
var renderings = []struct {
	extension string
	write     func(io.Writer, *View) error
}{{"txt", WriteText}, {"md", WriteMarkdown}, {"json", writeJSONOfOneRun}, {"html", WriteHTML}}

func render(t *testing.T, v *View, write func(io.Writer, *View) error) string {
	t.Helper()
	var buf bytes.Buffer
	require.NoError(t, write(&buf, v))
	return buf.String()
}

// cases are campaigns of every verdict.
var cases = []struct {
	name   string
	result string
	exit   int
	make   func(*testing.T) *trial
}{
	{"pass", "PASS", ExitPass, func(t *testing.T) *trial {
		tr := newTrial(t, 10)
		tr.edit = telemetry
		return tr
	}},
	{"fail", "FAIL", ExitFail, func(t *testing.T) *trial {
		tr := newTrial(t, 6)
		tr.effect["tpot"] = 0.055
		return tr
	}},
	{"inconclusive", "INCONCLUSIVE", ExitInconclusive, func(t *testing.T) *trial {
		tr := newTrial(t, 6)
		tr.noise, tr.effect["ttft"] = 0.012, 0.022
		return tr
	}},
	{"invalid", "INVALID(request failed)", ExitInvalid, func(t *testing.T) *trial {
		tr := newTrial(t, 6)
		tr.void = map[string]string{"0004": "0004/on: request failed"}
		tr.edit = onRun("0002/on", func(r *recorded) { r.requests[5].Error = "connection reset by peer" })
		return tr
	}},
	{"identity", "FAIL(identity)", ExitFail, func(t *testing.T) *trial {
		tr := newTrial(t, 6)
		tr.edit = onRun("0003/on", func(r *recorded) { r.outputs.Tokens[2][5] = 7 })
		return tr
	}},
	{"checks", "PASS(checks)", ExitPass, correctnessTrial},
	{"unfinished", "UNFINISHED", ExitUnfinished, func(t *testing.T) *trial {
		tr := newTrial(t, 6)
		tr.stop = 4
		return tr
	}},
	{"arms", "PASS", ExitPass, threeArmTrial},
	{"looks", "PASS", ExitPass, func(t *testing.T) *trial {
		tr := newTrial(t, 10)
		tr.scenario.Design.Looks = []int{6, 10}
		tr.noise, tr.effect["ttft"] = 0.012, 0.017
		return tr
	}},
	{"hosts", "PASS", ExitPass, func(t *testing.T) *trial {
		tr := newTrial(t, 10)
		tr.edit = func(r *recorded) {
			switch block := r.run.Key.Block; {
			case block == "0010":
				r.env.Host = "node9"
			case block > "0006" && block < "a":
				r.env.Host, r.env.Cores = "node8", 48
			}
		}
		return tr
	}},
	{"control", "FAIL(not sensitive)", ExitFail, missedTrial},
	{"simulated", "PASS", ExitPass, func(t *testing.T) *trial {
		tr := newTrial(t, 6)
		tr.scenario.Engine = scenarios.Engine{Kind: scenarios.EngineSim, Model: "sim"}
		return tr
	}},
}

// onRun edits one run only.
func onRun(key string, edit func(*recorded)) func(*recorded) {
	return func(r *recorded) {
		if r.run.Key.String() == key {
			edit(r)
		}
	}
}

func correctnessTrial(t *testing.T) *trial {
	tr := newTrial(t, 1)
	tr.scenario.Purpose = scenarios.Correctness
	tr.scenario.Design.BurnInBlocks = 0
	for i := range tr.scenario.Phases {
		tr.scenario.Phases[i].Primary = nil
	}
	return tr
}

func TestGolden(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v := build(t, c.make(t).write(t.TempDir()))
			assert.Equal(t, c.result, v.Result)
			assert.Equal(t, c.exit, v.ExitCode)
			for _, r := range renderings {
				golden(t, c.name+"."+r.extension, render(t, v, r.write))
			}
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got, "%s: look at the difference, then run the test with -update", name)
}

func TestEveryTextLineFits(t *testing.T) {
	t.Parallel()
	for _, c := range cases {
		want, err := os.ReadFile(filepath.Join("testdata", c.name+".txt"))
		require.NoError(t, err)
		for _, line := range strings.Split(string(want), "\n") {
			assert.LessOrEqual(t, len([]rune(line)), textWidth, "%s: %s", c.name, line)
		}
	}
}

func TestSameDirectorySameBytes(t *testing.T) {
	t.Parallel()
	dir := newTrial(t, 6).write(t.TempDir())
	first := build(t, dir)
	require.NoError(t, Save(dir, first))
	second := build(t, dir)
	for _, r := range renderings {
		assert.Equal(t, render(t, first, r.write), render(t, second, r.write), r.extension)
	}
	saved, err := os.ReadFile(filepath.Join(dir, verdictFile))
	require.NoError(t, err)
	assert.Equal(t, render(t, second, WriteJSON), string(saved))
	assert.FileExists(t, filepath.Join(dir, markdownFile))
	assert.FileExists(t, filepath.Join(dir, htmlFile))
}

func TestJSONCarriesTheVerdict(t *testing.T) {
	t.Parallel()
	v := build(t, newTrial(t, 6).write(t.TempDir()))
	var back View
	require.NoError(t, json.Unmarshal([]byte(render(t, v, WriteJSON)), &back))
	assert.Equal(t, results.Schema, back.Schema)
	assert.Equal(t, "verdict", back.Kind)
	assert.Equal(t, stat.Pass, back.Verdict)
	assert.Equal(t, "v0.1.0", back.Tool)
	m := back.Comparisons[0].Phases[0].Metrics[0]
	assert.Less(t, *m.Upper, m.MarginPct)
	assert.Len(t, m.Pairs, 6)
}

func TestNothingClaimsThatThereIsNoRegression(t *testing.T) {
	t.Parallel()
	for _, c := range cases {
		for _, r := range renderings {
			text, err := os.ReadFile(filepath.Join("testdata", c.name+"."+r.extension))
			require.NoError(t, err)
			assert.NotContains(t, strings.ToLower(string(text)), "no regression", c.name)
		}
	}
}

func TestSimulatedIsSaidEverywhere(t *testing.T) {
	t.Parallel()
	for _, r := range renderings {
		text, err := os.ReadFile(filepath.Join("testdata", "simulated."+r.extension))
		require.NoError(t, err)
		assert.Contains(t, string(text), "Simulated engine, not vLLM", r.extension)
		assert.Contains(t, string(text), "SIMULATED ENGINE", r.extension)
	}
	text, err := os.ReadFile(filepath.Join("testdata", "simulated.txt"))
	require.NoError(t, err)
	assert.Contains(t, string(text), "single, 1 stream (simulated engine)")
}

func TestUnfinishedShowsNoEffect(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 6)
	tr.stop = 4
	v := build(t, tr.write(t.TempDir()))
	assert.Empty(t, v.Verdict)
	assert.Contains(t, v.Sentence, "block 4 of 6")
	require.Len(t, v.Comparisons, 1)
	assert.Empty(t, v.Comparisons[0].Phases)
	assert.Empty(t, v.Comparisons[0].CPU)
	for _, r := range renderings {
		text := render(t, v, r.write)
		assert.NotContains(t, text, "interval", r.extension)
		assert.NotContains(t, text, "effect_pct", r.extension)
	}
}

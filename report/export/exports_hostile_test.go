package export_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/export"
	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
)

// A damaged run has no rows, a step file that is left out or cut is named.
func TestParquetNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	dir := trial.WriteCase(t, "fail")
	j := judgeCase(t, dir)
	for i := range j.c.Attempts {
		a := &j.c.Attempts[i]
		if a.Key.String() == "0001/on" {
			name := filepath.Join(results.RunPath(dir, a.Key), a.Run.Steps.Files[0].Name)
			data, err := os.ReadFile(name)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(name, append(data[:len(data)/2], "garbage\n"...), 0o644))
		}
		if a.Key.String() == "0002/on" {
			j.c.Thinned = map[string]bool{"0002/on/" + a.Run.Steps.Files[0].Name: true}
		}
		if a.Key.String() == "0003/on" {
			a.Run.Steps.Files[0].Name = "../../0003/on/" + a.Run.Steps.Files[0].Name
		}
	}
	out := t.TempDir()
	notes, err := export.Parquet(out, j.c, j.v)
	require.NoError(t, err)
	require.Len(t, notes, 3)
	assert.Regexp(t, `^0001/on/steps/.*: nothing from line \d+ on: `, notes[0])
	assert.Regexp(t, `^0002/on/steps/.*: not in the run directory$`, notes[1])
	assert.Contains(t, notes[2], "not in the run directory")
	assert.NotEmpty(t, readTable[stepRow](t, out, "steps.parquet"))
}

func TestExportsTwiceTheSameBytes(t *testing.T) {
	t.Parallel()
	dir := trial.WriteCase(t, "fail")
	first, second := judgeCase(t, dir), judgeCase(t, dir)
	assert.Equal(t, first.hud(), second.hud())
	assert.Equal(t, first.junit(false), second.junit(false))
	assert.Equal(t, first.benchfmt(), second.benchfmt())
	var tables [2][]byte
	for i, j := range []judged{first, second} {
		out := t.TempDir()
		_, err := export.Parquet(out, j.c, j.v)
		require.NoError(t, err)
		tables[i], err = os.ReadFile(filepath.Join(out, "steps.parquet"))
		require.NoError(t, err)
	}
	assert.True(t, bytes.Equal(tables[0], tables[1]))
}

// Names that break formats, in every format: it stays well-formed, and nothing
// that comes from the run begins a line of its own.
func TestExportsOfHostileNames(t *testing.T) {
	t.Parallel()
	j := judgeCase(t, trial.WriteHostile(t))
	xmlText := j.junit(false)
	doc := readJUnit(t, xmlText)
	assert.Positive(t, doc.Errors)
	bench := j.benchfmt()
	assert.Len(t, benchLines(t, bench), len(values(j.v)), "different names stay different")
	for _, row := range strings.Split(bench, "\n") {
		assert.Regexp(t, `^($|# |[a-z]+: |Unit [a-z/]+ better=|BenchmarkServe/phase=[\w.%~-]+/metric=\w+ 1 )`, row)
		assert.Less(t, len(row), 60_000, "benchfmt's reader takes 64 KB")
	}
	assert.NotContains(t, xmlText, "<script")
	for name, text := range map[string]string{"junit": xmlText, "benchfmt": bench} {
		assert.True(t, utf8.ValidString(text), name)
		assert.NotRegexp(t, "[\x00-\x08\x0b-\x1f\u202e]", text, name)
		assert.Less(t, len(text), 500_000, "%s: logs are cut", name)
	}

	j.v.Result = view.NewResult(stat.Fail, view.ReasonIdentity) // the databases refuse an INVALID one
	j.isTheSameReadBack(t)
	var rows []hudRow
	require.NoError(t, json.Unmarshal([]byte(j.hud()), &rows))
	assert.NotEmpty(t, rows)
	assert.NotContains(t, j.hud(), "\u202e")
	dir := t.TempDir()
	require.NoError(t, export.LLMD(dir, j.v))
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, files, 2*(len(j.c.Attempts)-4), "two phases, without the burn-in and the void block")
	for _, f := range files {
		assert.Regexp(t, `^[\w.%~-]+\.json$`, f.Name())
	}
	_, err = export.Parquet(dir, j.c, j.v)
	require.NoError(t, err)
	longest := 0
	for _, r := range readTable[requestRow](t, dir, "requests.parquet") {
		assert.True(t, utf8.ValidString(r.Error+r.Phase+r.Arm))
		longest = max(longest, len(r.Error))
	}
	assert.Greater(t, longest, 300_000, "Parquet is data and keeps it whole")
}

// failing is a full disk.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestExportsReportAFullDisk(t *testing.T) {
	t.Parallel()
	j := judgeCase(t, trial.WriteCase(t, "fail"))
	assert.ErrorContains(t, export.JUnit(failing{}, j.v, false), "no space")
	assert.ErrorContains(t, export.Benchfmt(failing{}, j.v), "no space")
	assert.ErrorContains(t, export.HUD(failing{}, j.v), "no space")
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	_, err := export.Parquet(file, j.c, j.v)
	assert.ErrorContains(t, err, "file")
	assert.ErrorContains(t, export.LLMD(file, j.v), "file")
}

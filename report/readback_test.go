package report_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report"
	"github.com/aituner/opprof/report/export"
)

// readBack is the view of a verdict.json: nothing else is left of the campaign.
func readBack(t *testing.T, v *report.View) judged {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, report.WriteJSON(&b, v))
	var back report.View
	require.NoError(t, json.Unmarshal(b.Bytes(), &back))
	return judged{v: &back}
}

// llmdFiles are all reports of llm-d by name, or why there are none.
func (j judged) llmdFiles(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	if err := export.LLMD(dir, j.v); err != nil {
		return map[string]string{"refused": err.Error()}
	}
	found := map[string]string{}
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		require.NoError(t, err)
		found[f.Name()] = string(data)
	}
	return found
}

// Whoever has verdict.json and no longer the campaign gets the same bytes in
// every format that is made of a view.
func (j judged) isTheSameReadBack(t *testing.T) {
	back := readBack(t, j.v)
	assert.Equal(t, j.hud(), back.hud())
	assert.Equal(t, j.llmdFiles(t), back.llmdFiles(t))
	assert.Equal(t, j.benchfmt(), back.benchfmt())
	assert.Equal(t, j.junit(false), back.junit(false))
	assert.Equal(t, j.junit(true), back.junit(true))
}

// A verdict.json that was written before runs were part of it has nothing for a
// database, and says how to get it.
func TestExportsOfAVerdictWithoutRuns(t *testing.T) {
	t.Parallel()
	back := readBack(t, judge(t, report.WriteCase(t, "fail")).v)
	back.v.Measured = nil
	dir := filepath.Join(t.TempDir(), "out")
	for _, err := range []error{export.HUD(io.Discard, back.v), export.LLMD(dir, back.v)} {
		assert.ErrorContains(t, err, "opbench report --save")
	}
	assert.NoDirExists(t, dir)
	assert.Contains(t, back.benchfmt(), "BenchmarkServe/")
}

package export_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/export"
	"github.com/aituner/opprof/report/internal/forms"
	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/report/view"
)

// readBack is the view of a verdict.json: nothing else is left of the campaign.
func readBack(t *testing.T, v *view.View) judged {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, view.WriteJSON(&b, v))
	back, err := view.Read(&b)
	require.NoError(t, err)
	return judged{v: back}
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
	for _, f := range forms.Forms {
		assert.Equal(t, forms.Render(t, j.v, f.Write), forms.Render(t, back.v, f.Write), f.Extension)
	}
	assert.Equal(t, forms.Render(t, j.v, view.WriteJSON[*view.View]), forms.Render(t, back.v, view.WriteJSON[*view.View]))
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
	back := readBack(t, judgeCase(t, trial.WriteCase(t, "fail")).v)
	back.v.Measured = nil
	dir := filepath.Join(t.TempDir(), "out")
	for _, err := range []error{export.HUD(io.Discard, back.v), export.LLMD(dir, back.v)} {
		assert.ErrorContains(t, err, "opbench report --save")
	}
	assert.NoDirExists(t, dir)
	assert.Contains(t, back.benchfmt(), "BenchmarkServe/")
}

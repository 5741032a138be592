package evidence

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
)

// Earlier campaigns have a verdict.json of the first schema, with the reason in the
// text only, or of this one; what is neither says so and is no verdict.
func TestSavedVerdicts(t *testing.T) {
	for text, want := range map[string]Said{
		`{"kind":"verdict","schema":1,"verdict":"FAIL","result":"FAIL(identity)"}`: {Result: view.Result{Verdict: stat.Fail, Text: "FAIL(identity)"}},
		`{"kind":"verdict","schema":1,"result":"UNFINISHED"}`:                      {Result: view.Result{Text: "UNFINISHED"}},
		`{"kind":"verdict","schema":2,"finished":true,"verdict":"FAIL","reason":"identity","result":"PASS"}`: {
			Result: view.NewResult(stat.Fail, view.ReasonIdentity)},
		`{"kind":"verdict","schema":2,"finished":false,"result":"UNFINISHED"}`: {Problem: "UNFINISHED"},
		`{"kind":"verdict","schema":3,"verdict":"PASS","result":"PASS"}`:       {Problem: "verdict.json is not readable"},
		`{"kind":"aa","schema":1,"result":"EQUAL"}`:                            {Problem: "verdict.json is not readable"},
		`{"kind":"verdict","schema":1}`:                                        {Problem: "verdict.json is not readable"},
		`{"kind":`:                                                             {Problem: "verdict.json is not readable"},
	} {
		path := filepath.Join(t.TempDir(), "verdict.json")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		assert.Equal(t, want, Saved(path), text)
	}
	none := Saved(filepath.Join(t.TempDir(), "verdict.json"))
	assert.Equal(t, "no verdict saved", none.String())
	assert.Equal(t, "FAIL(identity)", Said{Result: view.Result{Verdict: stat.Fail, Text: "FAIL(identity)"}}.String())
}

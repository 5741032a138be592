package view_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
)

func golden(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../page/testdata/" + name + ".json")
	require.NoError(t, err)
	return string(text)
}

// Who changes the text of a result changes nothing: verdict and reason are what
// every rendering is made of.
func TestReadIgnoresTheTextOfResults(t *testing.T) {
	text := golden(t, "identity")
	require.Contains(t, text, `"result": "FAIL(identity)"`)
	v, err := view.Read(strings.NewReader(strings.ReplaceAll(text, `"result": "FAIL(identity)"`, `"result": "PASS"`)))
	require.NoError(t, err)
	assert.Equal(t, view.NewResult(stat.Fail, view.ReasonIdentity), v.Result)
	assert.Equal(t, "FAIL(identity)", v.Headline())
	assert.Equal(t, "FAIL(identity)", v.Comparisons[0].Text)
	var back bytes.Buffer
	require.NoError(t, view.WriteJSON(&back, v))
	assert.Equal(t, text, back.String())
}

// What is no verdict of this version is refused in one line.
func TestReadRefuses(t *testing.T) {
	text := golden(t, "pass")
	for name, broken := range map[string]string{
		"empty":          "",
		"cut":            text[:len(text)/2],
		"another kind":   strings.Replace(text, `"kind": "verdict"`, `"kind": "aa"`, 1),
		"another schema": strings.Replace(text, `"schema": 2`, `"schema": 1`, 1),
		"no object":      "[1, 2]",
	} {
		_, err := view.Read(strings.NewReader(broken))
		require.ErrorContains(t, err, "read a verdict: ", name)
		assert.NotContains(t, err.Error(), "\n", name)
	}
}

// Whatever is read is a view or an error, and a view is written and read again to
// the same bytes.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"pass", "unfinished", "invalid"} {
		text, err := os.ReadFile("../page/testdata/" + name + ".json")
		require.NoError(f, err)
		f.Add(string(text))
	}
	f.Add(`{"kind":"verdict","schema":2}`)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := view.Read(strings.NewReader(text))
		if err != nil {
			return
		}
		var first, second bytes.Buffer
		require.NoError(t, view.WriteJSON(&first, v))
		back, err := view.Read(bytes.NewReader(first.Bytes()))
		require.NoError(t, err)
		require.NoError(t, view.WriteJSON(&second, back))
		assert.Equal(t, first.String(), second.String())
	})
}

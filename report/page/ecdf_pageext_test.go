package page_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/aituner/opprof/report/internal/forms"
	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/report/page"
)

// An unfinished campaign shows no effect, and a correctness campaign none at
// all: not as a picture either.
func TestPicturesKeepWhatTheTablesKeep(t *testing.T) {
	t.Parallel()
	tr := trial.New(t, 6)
	tr.Stop = 4
	html := forms.Render(t, forms.Build(t, tr.Write(t.TempDir())), page.Write)
	assert.NotContains(t, html, "Distributions")
	assert.Contains(t, html, "When it ran")

	html = forms.Render(t, forms.Build(t, trial.Correctness(t).Write(t.TempDir())), page.Write)
	assert.NotContains(t, html, `id="ecdf-`)
	assert.Contains(t, html, `id="steps-`)

	html = forms.Render(t, forms.Build(t, trial.New(t, 6).Write(t.TempDir())), page.Write)
	assert.Equal(t, 4, strings.Count(html, `<title id="ecdf-`), "two times in two phases")
	assert.Equal(t, 2, strings.Count(html, `<title id="steps-`))
	assert.Contains(t, html, "not the basis of the verdict")
}

// Package forms judges run directories for tests and renders views in every form.
package forms

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/page"
	"github.com/aituner/opprof/report/render"
	"github.com/aituner/opprof/report/view"
)

// Forms are all forms of a view.
var Forms = []struct {
	Extension string
	Write     func(io.Writer, *view.View) error
}{{"txt", render.WriteText}, {"md", render.WriteMarkdown}, {"json", writeShort}, {"html", page.Write}}

func Render(t *testing.T, v *view.View, write func(io.Writer, *view.View) error) string {
	t.Helper()
	var buf bytes.Buffer
	require.NoError(t, write(&buf, v))
	return buf.String()
}

// writeShort keeps golden files short: all measured runs look the same, and so do
// the points of a curve. Tests that read a view back see all of them.
func writeShort(w io.Writer, v *view.View) error {
	short := *v
	if v.Measured != nil {
		measured := *v.Measured
		measured.Runs = measured.Runs[:min(1, len(measured.Runs))]
		short.Measured = &measured
	}
	if v.Plots != nil {
		plots := *v.Plots
		plots.Latencies, plots.StepTimes = plots.Latencies[:min(1, len(plots.Latencies))], plots.StepTimes[:min(1, len(plots.StepTimes))]
		short.Plots = &plots
	}
	return view.WriteJSON(w, &short)
}

package page

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"

	"github.com/aituner/opprof/report/render"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
)

// Save writes verdict.json, report.md and report.html into a run directory.
// They are derived: they can be deleted and made again.
func Save(dir string, v *view.View) error {
	for _, f := range []struct {
		name  string
		write func(io.Writer, *view.View) error
	}{{results.VerdictFile, view.WriteJSON[*view.View]}, {results.ReportFile, render.WriteMarkdown}, {results.PageFile, Write}} {
		var buf bytes.Buffer
		if err := f.write(&buf, v); err != nil {
			return fmt.Errorf("render %s: %w", f.name, err)
		}
		if err := results.WriteFile(filepath.Join(dir, f.name), buf.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"

	"github.com/aituner/opprof/results"
)

// WriteJSON writes the view as indented JSON: the content of verdict.json.
func WriteJSON(w io.Writer, v *View) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// Save writes verdict.json, report.md and report.html into a run directory.
// They are derived: they can be deleted and made again.
func Save(dir string, v *View) error {
	for _, f := range []struct {
		name  string
		write func(io.Writer, *View) error
	}{{results.VerdictFile, WriteJSON}, {results.ReportFile, WriteMarkdown}, {results.PageFile, WriteHTML}} {
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

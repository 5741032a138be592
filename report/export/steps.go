package export

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/steps"
)

// Steps writes the records of step files (.jsonl, .jsonl.gz, .jsonl.zst) as one
// table, in the order of paths: format parquet, or json for JSON Lines. It holds
// a bounded number of rows, whatever the files' size. The Files say what was
// read, records and torn tails included; a file that is not what a recorder
// writes is a *steps.DamageError.
func Steps(w io.Writer, format string, paths []string) ([]steps.File, error) {
	var out interface {
		add(stepRow) error
		close() error
	}
	switch format {
	case "parquet":
		out = newTable[stepRow](w, nil)
	case "json":
		out = jsonLines{json.NewEncoder(w)}
	default:
		return nil, fmt.Errorf("format %q: use parquet or json", format)
	}
	var files []steps.File
	for _, path := range paths {
		file, err := scan(results.Folder(filepath.Dir(path)), filepath.Base(path), out.add)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, out.close()
}

// scan gives every record of a step file as a row.
func scan(files fs.FS, file string, add func(stepRow) error) (steps.File, error) {
	name := path.Base(file)
	r, err := steps.Open(files, file)
	if err != nil {
		return steps.File{Name: name}, err
	}
	defer r.Close()
	return steps.Scan(name, r, func(_ int, rec *steps.Record) error { return add(rowOf(name, rec)) })
}

// jsonLines writes rows as JSON Lines.
type jsonLines struct{ enc *json.Encoder }

func (j jsonLines) add(row stepRow) error { return j.enc.Encode(row) }

func (jsonLines) close() error { return nil }

// runStepRow is a step with the run that it belongs to.
type runStepRow struct {
	runColumns
	stepRow
}

// writeSteps reads the step files of all undamaged runs.
func writeSteps(t *table[runStepRow], c *results.Campaign) (notes []string, err error) {
	for i := range c.Attempts {
		a := &c.Attempts[i]
		if a.Damage != "" || a.Run.Steps == nil {
			continue
		}
		run := columnsOf(a)
		add := func(row stepRow) error { return t.add(runStepRow{run, row}) }
		for _, f := range a.Run.Steps.Files {
			name := a.Key.Dir() + "/" + f.Name
			if c.Thinned[name] || !fs.ValidPath(f.Name) {
				notes = append(notes, name+": not in the run directory")
				continue
			}
			_, err := scan(c.RunFiles(a.Key), f.Name, add)
			if damage := (*steps.DamageError)(nil); errors.As(err, &damage) {
				notes = append(notes, fmt.Sprintf("%s: nothing from line %d on: %s", name, damage.Line, damage.Reason))
			} else if err != nil {
				return nil, err
			}
		}
	}
	return notes, t.close()
}

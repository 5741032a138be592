package export_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/export"
	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/report/judge"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
)

// judged is a campaign with its view.
type judged struct {
	c *results.Campaign
	v *view.View
}

func judgeCase(t *testing.T, dir string) judged {
	t.Helper()
	c, err := results.Load(dir)
	require.NoError(t, err)
	v, err := judge.Build(c, "v0.1.0")
	require.NoError(t, err)
	return judged{c, v}
}

// written is what an export wrote, or, as its golden file has it, why not.
func written(write func(io.Writer) error) string {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return "refused: " + err.Error() + "\n"
	}
	return b.String()
}

func (j judged) junit(lenient bool) string {
	return written(func(w io.Writer) error { return export.JUnit(w, j.v, lenient) })
}

func (j judged) benchfmt() string {
	return written(func(w io.Writer) error { return export.Benchfmt(w, j.v) })
}

func (j judged) hud() string {
	return written(func(w io.Writer) error { return export.HUD(w, j.v) })
}

// llmd is the first of the reports, below the names of all.
func (j judged) llmd(t *testing.T) string {
	dir := t.TempDir()
	return written(func(w io.Writer) error {
		if err := export.LLMD(dir, j.v); err != nil {
			return err
		}
		files, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, f := range files {
			_, err := io.WriteString(w, "# "+f.Name()+"\n")
			require.NoError(t, err)
		}
		first, err := os.ReadFile(filepath.Join(dir, files[0].Name()))
		require.NoError(t, err)
		_, err = w.Write(first)
		return err
	})
}

// parquet is, for each table, its schema, number of rows and first row.
func (j judged) parquet(t *testing.T) string {
	dir := t.TempDir()
	return written(func(w io.Writer) error {
		notes, err := export.Parquet(dir, j.c, j.v)
		require.NoError(t, err)
		assert.Empty(t, notes)
		for _, name := range []string{"requests", "steps", "pairs"} {
			rows, err := parquet.ReadFile[any](filepath.Join(dir, name+".parquet"))
			require.NoError(t, err)
			enc := json.NewEncoder(w)
			enc.SetIndent("", "  ")
			require.NoError(t, enc.Encode(map[string]any{"table": name, "rows": len(rows), "first": rows[:min(1, len(rows))]}))
		}
		return nil
	})
}

// goldens are the forms of which there is a golden file.
var goldens = map[string][]string{
	"pass":         {"junit.xml", "bench.txt", "hud.json", "llmd.txt", "parquet.txt"},
	"fail":         {"junit.xml", "bench.txt", "hud.json", "llmd.txt", "parquet.txt"},
	"inconclusive": {"junit.xml", "lenient.junit.xml", "bench.txt", "hud.json", "llmd.txt", "parquet.txt"},
	"invalid":      {"junit.xml", "bench.txt", "hud.json", "llmd.txt", "parquet.txt"},
	"checks":       {"junit.xml", "hud.json"}, "control": {"junit.xml"}, "unfinished": {"junit.xml", "hud.json", "llmd.txt"},
}

// Every format of every verdict: read the difference, then run with -update.
// What holds for all campaigns is checked on the same ones.
func TestExports(t *testing.T) {
	for _, name := range trial.CaseNames() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := judgeCase(t, trial.WriteCase(t, name))
			forms := map[string]func() string{
				"junit.xml":         func() string { return j.junit(false) },
				"lenient.junit.xml": func() string { return j.junit(true) },
				"bench.txt":         j.benchfmt,
				"hud.json":          j.hud,
				"llmd.txt":          func() string { return j.llmd(t) },
				"parquet.txt":       func() string { return j.parquet(t) },
			}
			for _, form := range goldens[name] {
				trial.Golden(t, name+"."+form, forms[form]())
			}
			j.isTheSameReadBack(t)
			j.failsAsTheGate(t)
			want := values(j.v)
			assert.Equal(t, want, benchLines(t, j.benchfmt()))
			if name == "pass" {
				j.hasNumbersInReports(t, want)
				j.hasNumbersInTables(t, want)
			}
			if name == "arms" {
				j.hasNumbersInRecords(t, want)
			}
			if code := map[string]int{"invalid": view.ExitInvalid, "unfinished": view.ExitUnfinished}[name]; code != 0 {
				j.isRefused(t, code)
			}
		})
	}
}

// junitDoc is JUnit XML as a reader sees it.
type junitDoc struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Skipped  int `xml:"skipped,attr"`
	Suites   []struct {
		Cases []junitCase `xml:"testcase"`
	} `xml:"testsuite"`
}

type junitCase struct {
	Class   string    `xml:"classname,attr"`
	Name    string    `xml:"name,attr"`
	Error   *struct{} `xml:"error"`
	Failure *struct{} `xml:"failure"`
	Skipped *struct{} `xml:"skipped"`
}

func readJUnit(t *testing.T, text string) junitDoc {
	t.Helper()
	var doc junitDoc
	require.NoError(t, xml.Unmarshal([]byte(text), &doc))
	return doc
}

// A CI that reads the XML must not come to another end than one that reads the
// exit code, with or without leniency.
func (j judged) failsAsTheGate(t *testing.T) {
	doc := readJUnit(t, j.junit(false))
	assert.Equal(t, j.v.ExitCode != 0, doc.Failures+doc.Errors > 0)
	lenient := readJUnit(t, j.junit(true))
	assert.Equal(t, j.v.ExitCode != 0 && j.v.ExitCode != view.ExitInconclusive, lenient.Failures+lenient.Errors > 0)
	assert.Equal(t, doc.Tests, lenient.Tests)

	counted := junitDoc{}
	seen := map[[2]string]bool{}
	for _, s := range doc.Suites {
		for _, c := range s.Cases {
			counted.Tests++
			counted.Failures += one(c.Failure)
			counted.Errors += one(c.Error)
			counted.Skipped += one(c.Skipped)
			assert.LessOrEqual(t, one(c.Failure)+one(c.Error)+one(c.Skipped), 1, c.Name)
			key := [2]string{c.Class, c.Name}
			assert.False(t, seen[key], "two cases %v", key)
			seen[key] = true
		}
	}
	doc.Suites = nil
	assert.Equal(t, counted, doc, "the counts are those of the cases")
}

func one(found *struct{}) int {
	if found == nil {
		return 0
	}
	return 1
}

package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchfmt"

	"github.com/aituner/opprof/report"
	"github.com/aituner/opprof/report/export"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/metrics"
)

// judged is a campaign with its view.
type judged struct {
	c *results.Campaign
	v *report.View
}

func judge(t *testing.T, dir string) judged {
	t.Helper()
	c, err := results.Load(dir)
	require.NoError(t, err)
	v, err := report.Build(c, "v0.1.0")
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
	return written(func(w io.Writer) error { return export.HUD(w, j.c, j.v) })
}

// llmd is the first of the reports, below the names of all.
func (j judged) llmd(t *testing.T) string {
	dir := t.TempDir()
	return written(func(w io.Writer) error {
		if err := export.LLMD(dir, j.c, j.v); err != nil {
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

// Every format of every verdict: read the difference, then run with -update.
func TestExportGolden(t *testing.T) {
	for _, name := range []string{"pass", "fail", "inconclusive", "invalid"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := judge(t, report.WriteCase(t, name))
			report.Golden(t, name+".junit.xml", j.junit(false))
			report.Golden(t, name+".bench.txt", j.benchfmt())
			report.Golden(t, name+".hud.json", j.hud())
			report.Golden(t, name+".llmd.txt", j.llmd(t))
			report.Golden(t, name+".parquet.txt", j.parquet(t))
			if name == "inconclusive" {
				report.Golden(t, "inconclusive.lenient.junit.xml", j.junit(true))
			}
		})
	}
	for _, name := range []string{"checks", "control", "unfinished"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := judge(t, report.WriteCase(t, name))
			report.Golden(t, name+".junit.xml", j.junit(false))
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
func TestJUnitFailsExactlyIfTheGateDoes(t *testing.T) {
	for _, name := range report.CaseNames() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := judge(t, report.WriteCase(t, name))
			doc := readJUnit(t, j.junit(false))
			assert.Equal(t, j.v.ExitCode != 0, doc.Failures+doc.Errors > 0)
			lenient := readJUnit(t, j.junit(true))
			assert.Equal(t, j.v.ExitCode != 0 && j.v.ExitCode != report.ExitInconclusive, lenient.Failures+lenient.Errors > 0)
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
		})
	}
}

func one(found *struct{}) int {
	if found == nil {
		return 0
	}
	return 1
}

// value is one number of one run.
type value struct{ arm, block, phase, metric string }

// values are all numbers that the pairs of a view hold.
func values(v *report.View) map[value]float64 {
	out := map[value]float64{}
	for _, c := range v.Comparisons {
		for _, p := range c.Phases {
			for _, m := range p.Metrics {
				for _, x := range m.Pairs {
					out[value{c.Baseline, x.Block, p.Name, m.Name}] = x.Baseline
					out[value{c.Candidate, x.Block, p.Name, m.Name}] = x.Candidate
				}
			}
		}
	}
	return out
}

// benchLines reads Go benchmark format; every line must be one that its reader
// knows, and each run is there once.
func benchLines(t *testing.T, text string) map[value]float64 {
	t.Helper()
	require.True(t, strings.HasPrefix(text, "# unpaired, not the gate"))
	found := map[value]float64{}
	r := benchfmt.NewReader(strings.NewReader(text), "export")
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			require.NoError(t, rec)
		case *benchfmt.Result:
			_, parts := rec.Name.Parts()
			require.Len(t, parts, 2, string(rec.Name))
			key := value{rec.GetConfig("arm"), rec.GetConfig("block"), strings.TrimPrefix(string(parts[0]), "/phase="), strings.TrimPrefix(string(parts[1]), "/metric=")}
			require.NotContains(t, found, key)
			require.Len(t, rec.Values, 1)
			found[key] = rec.Values[0].Value
		}
	}
	require.NoError(t, r.Err())
	return found
}

func TestBenchfmtHasTheNumbersOfTheView(t *testing.T) {
	for _, name := range []string{"pass", "arms", "fail"} {
		j := judge(t, report.WriteCase(t, name))
		want := values(j.v)
		require.NotEmpty(t, want)
		assert.Equal(t, want, benchLines(t, j.benchfmt()), name)
	}
	assert.Empty(t, benchLines(t, judge(t, report.WriteCase(t, "unfinished")).benchfmt()), "no effect before the end")
}

// hudRow is a record as the database's readers see it.
type hudRow struct {
	Benchmark struct {
		Name      string            `json:"name"`
		ExtraInfo map[string]string `json:"extra_info"`
	} `json:"benchmark"`
	Model  struct{ Name string } `json:"model"`
	Metric struct {
		Name   string    `json:"name"`
		Values []float64 `json:"benchmark_values"`
		Target *float64  `json:"target_value"`
	} `json:"metric"`
}

func TestHUDHasTheNumbersOfTheView(t *testing.T) {
	j := judge(t, report.WriteCase(t, "arms"))
	var rows []hudRow
	require.NoError(t, json.Unmarshal([]byte(j.hud()), &rows))
	names := map[string]string{"median_tpot_ms": "tpot_p50", "p95_ttft_ms": "ttft_p95"}
	checked, regressions := 0, 0
	for _, r := range rows {
		info := r.Benchmark.ExtraInfo
		require.NotEmpty(t, r.Metric.Values, r.Metric.Name)
		require.NotEmpty(t, r.Benchmark.Name)
		require.NotEmpty(t, r.Model.Name)
		var args map[string]string
		require.NoError(t, json.Unmarshal([]byte(info["args"]), &args))
		assert.Equal(t, "1", args["tensor_parallel_size"])
		if strings.HasSuffix(r.Metric.Name, "_regression_pct") {
			regressions++
			require.NotNil(t, r.Metric.Target)
			assert.InDelta(t, 3, *r.Metric.Target, 0)
			continue
		}
		metric, known := names[r.Metric.Name]
		if !known {
			continue
		}
		for i, x := range r.Metric.Values {
			checked++
			want := values(j.v)[value{info["arm"], j.v.Comparisons[0].Phases[0].Metrics[0].Pairs[i].Block, info["phase"], metric}]
			assert.InDelta(t, 1000*want, x, 0)
		}
	}
	assert.Equal(t, 2*2*3*6, checked, "metrics, phases, arms, blocks: no arm twice")
	assert.Positive(t, regressions)
}

// A database of measurements gets nothing from a campaign that decides nothing
// about the numbers, and the exit code says why.
func TestDatabasesRefuse(t *testing.T) {
	for name, code := range map[string]int{"invalid": report.ExitInvalid, "unfinished": report.ExitUnfinished} {
		j := judge(t, report.WriteCase(t, name))
		dir := filepath.Join(t.TempDir(), "out")
		var refused *export.RefusedError
		require.ErrorAs(t, export.HUD(io.Discard, j.c, j.v), &refused)
		assert.Equal(t, code, refused.Code)
		require.ErrorAs(t, export.LLMD(dir, j.c, j.v), &refused)
		assert.Equal(t, code, refused.Code)
		assert.NoDirExists(t, dir)
	}
	j := judge(t, report.WriteCase(t, "checks"))
	var refused *export.RefusedError
	require.ErrorAs(t, export.HUD(io.Discard, j.c, j.v), &refused)
	assert.Equal(t, 2, refused.Code)
	assert.NotContains(t, refused.Error(), "\n")
}

// Quantiles of a run are the same numbers in every format.
func TestLLMDHasTheNumbersOfTheView(t *testing.T) {
	j := judge(t, report.WriteCase(t, "pass"))
	dir := t.TempDir()
	require.NoError(t, export.LLMD(dir, j.c, j.v))
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, files, 10*2*2)
	type statistics struct {
		Units string
		P50   float64
		P95   float64
		Mean  float64
	}
	for key, want := range values(j.v) {
		data, err := os.ReadFile(filepath.Join(dir, key.block+"-"+key.arm+"-"+key.phase+".json"))
		require.NoError(t, err)
		var doc struct {
			Results struct {
				Performance struct {
					Aggregate struct {
						Latency, Throughput map[string]statistics
					}
				} `json:"request_performance"`
			}
		}
		require.NoError(t, json.Unmarshal(data, &doc))
		a := doc.Results.Performance.Aggregate
		got, units := 0.0, ""
		switch key.metric {
		case "ttft_p50":
			got, units = a.Latency["time_to_first_token"].P50, a.Latency["time_to_first_token"].Units
		case "tpot_p95":
			got, units = a.Latency["time_per_output_token"].P95, a.Latency["time_per_output_token"].Units
		case "e2e_p95":
			got, units = a.Latency["request_latency"].P95, a.Latency["request_latency"].Units
		case "output_throughput":
			got, units = a.Throughput["output_token_rate"].Mean, a.Throughput["output_token_rate"].Units
		default:
			continue
		}
		assert.InDelta(t, want, got, 0, key)
		assert.Contains(t, []string{"s", "s/token", "tokens/s"}, units)
	}
}

type requestRow struct {
	Block string   `parquet:"block"`
	Arm   string   `parquet:"arm"`
	Valid bool     `parquet:"valid"`
	Burn  bool     `parquet:"burn_in"`
	Phase string   `parquet:"phase"`
	Warm  bool     `parquet:"warmup"`
	Error string   `parquet:"error,optional"`
	TTFT  *float64 `parquet:"ttft_s"`
}

type stepRow struct {
	Arm   string  `parquet:"arm"`
	Valid bool    `parquet:"valid"`
	Burn  bool    `parquet:"burn_in"`
	Hist  []int64 `parquet:"context_length_hist,list"`
	Sched int64   `parquet:"scheduled_requests"`
	Mode  *string `parquet:"cudagraph_mode"`
}

type pairRow struct {
	Candidate string  `parquet:"candidate_arm"`
	Phase     string  `parquet:"phase"`
	Metric    string  `parquet:"metric"`
	Block     string  `parquet:"block"`
	Value     float64 `parquet:"candidate"`
}

func readTable[T any](t *testing.T, dir, name string) []T {
	t.Helper()
	rows, err := parquet.ReadFile[T](filepath.Join(dir, name))
	require.NoError(t, err)
	return rows
}

// The rows lead back to the numbers of the view: pairs directly, requests
// through their quantiles, steps through their count.
func TestParquetHasTheNumbersOfTheView(t *testing.T) {
	j := judge(t, report.WriteCase(t, "pass"))
	dir := filepath.Join(t.TempDir(), "new", "folder")
	notes, err := export.Parquet(dir, j.c, j.v)
	require.NoError(t, err)
	assert.Empty(t, notes)
	want := values(j.v)

	pairs := readTable[pairRow](t, dir, "pairs.parquet")
	assert.Len(t, pairs, len(want)/2)
	for _, p := range pairs {
		assert.InDelta(t, want[value{p.Candidate, p.Block, p.Phase, p.Metric}], p.Value, 0)
	}

	ttft := map[value][]float64{}
	for _, r := range readTable[requestRow](t, dir, "requests.parquet") {
		if r.Valid && !r.Burn && !r.Warm && r.Error == "" && r.TTFT != nil {
			key := value{r.Arm, r.Block, r.Phase, "ttft_p95"}
			ttft[key] = append(ttft[key], *r.TTFT)
		}
	}
	assert.Len(t, ttft, 10*2*2)
	for key, x := range ttft {
		slices.Sort(x)
		assert.InDelta(t, want[key], metrics.Quantile(x, 0.95), 0, key)
	}

	count := map[string]int64{}
	for _, s := range readTable[stepRow](t, dir, "steps.parquet") {
		if s.Valid && !s.Burn {
			count[s.Arm]++
		}
		sum := int64(0)
		for _, n := range s.Hist {
			sum += n
		}
		require.Len(t, s.Hist, 12)
		require.Equal(t, s.Sched, sum)
		require.Equal(t, "FULL", *s.Mode)
	}
	assert.Equal(t, map[string]int64{"on": j.v.Recorders[0].Records}, count)
}

// A damaged run has no rows, a step file that is left out or cut is named.
func TestParquetNamesWhatIsMissing(t *testing.T) {
	dir := report.WriteCase(t, "fail")
	j := judge(t, dir)
	for i := range j.c.Attempts {
		a := &j.c.Attempts[i]
		if a.Key.String() == "0001/on" {
			name := filepath.Join(results.RunPath(dir, a.Key), a.Run.Steps.Files[0].Name)
			data, err := os.ReadFile(name)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(name, append(data[:len(data)/2], "garbage\n"...), 0o644))
		}
		if a.Key.String() == "0002/on" {
			j.c.Thinned = map[string]bool{"0002/on/" + a.Run.Steps.Files[0].Name: true}
		}
		if a.Key.String() == "0003/on" {
			a.Run.Steps.Files[0].Name = "../../0003/on/" + a.Run.Steps.Files[0].Name
		}
	}
	out := t.TempDir()
	notes, err := export.Parquet(out, j.c, j.v)
	require.NoError(t, err)
	require.Len(t, notes, 3)
	assert.Regexp(t, `^0001/on/steps/.*: nothing from line \d+ on: `, notes[0])
	assert.Regexp(t, `^0002/on/steps/.*: not in the run directory$`, notes[1])
	assert.Contains(t, notes[2], "not in the run directory")
	assert.NotEmpty(t, readTable[stepRow](t, out, "steps.parquet"))
}

func TestExportsTwiceTheSameBytes(t *testing.T) {
	dir := report.WriteCase(t, "pass")
	first, second := judge(t, dir), judge(t, dir)
	assert.Equal(t, first.hud(), second.hud())
	assert.Equal(t, first.junit(false), second.junit(false))
	assert.Equal(t, first.benchfmt(), second.benchfmt())
	var tables [2][]byte
	for i, j := range []judged{first, second} {
		out := t.TempDir()
		_, err := export.Parquet(out, j.c, j.v)
		require.NoError(t, err)
		tables[i], err = os.ReadFile(filepath.Join(out, "steps.parquet"))
		require.NoError(t, err)
	}
	assert.True(t, bytes.Equal(tables[0], tables[1]))
}

// Names that break formats, in every format: it stays well-formed, and nothing
// that comes from the run begins a line of its own.
func TestExportsOfHostileNames(t *testing.T) {
	j := judge(t, report.WriteHostile(t))
	xmlText := j.junit(false)
	doc := readJUnit(t, xmlText)
	assert.Positive(t, doc.Errors)
	bench := j.benchfmt()
	assert.Len(t, benchLines(t, bench), len(values(j.v)), "different names stay different")
	for _, row := range strings.Split(bench, "\n") {
		assert.Regexp(t, `^($|# |[a-z]+: |Unit [a-z/]+ better=|BenchmarkServe/phase=[\w.%~-]+/metric=\w+ 1 )`, row)
		assert.Less(t, len(row), 60_000, "benchfmt's reader takes 64 KB")
	}
	assert.NotContains(t, xmlText, "<script")
	for name, text := range map[string]string{"junit": xmlText, "benchfmt": bench} {
		assert.True(t, utf8.ValidString(text), name)
		assert.NotRegexp(t, "[\x00-\x08\x0b-\x1f\u202e]", text, name)
		assert.Less(t, len(text), 500_000, "%s: logs are cut", name)
	}

	j.v.Verdict = "FAIL" // the databases refuse an INVALID one
	var rows []hudRow
	require.NoError(t, json.Unmarshal([]byte(j.hud()), &rows))
	assert.NotEmpty(t, rows)
	assert.NotContains(t, j.hud(), "\u202e")
	dir := t.TempDir()
	require.NoError(t, export.LLMD(dir, j.c, j.v))
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, files, 2*(len(j.c.Attempts)-4), "two phases, without the burn-in and the void block")
	for _, f := range files {
		assert.Regexp(t, `^[\w.%~-]+\.json$`, f.Name())
	}
	_, err = export.Parquet(dir, j.c, j.v)
	require.NoError(t, err)
	longest := 0
	for _, r := range readTable[requestRow](t, dir, "requests.parquet") {
		assert.True(t, utf8.ValidString(r.Error+r.Phase+r.Arm))
		longest = max(longest, len(r.Error))
	}
	assert.Greater(t, longest, 300_000, "Parquet is data and keeps it whole")
}

// failing is a full disk.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestExportsReportAFullDisk(t *testing.T) {
	j := judge(t, report.WriteCase(t, "pass"))
	assert.ErrorContains(t, export.JUnit(failing{}, j.v, false), "no space")
	assert.ErrorContains(t, export.Benchfmt(failing{}, j.v), "no space")
	assert.ErrorContains(t, export.HUD(failing{}, j.c, j.v), "no space")
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	_, err := export.Parquet(file, j.c, j.v)
	assert.ErrorContains(t, err, "file")
	assert.ErrorContains(t, export.LLMD(file, j.c, j.v), "file")
}

package export_test

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchfmt"

	"github.com/aituner/opprof/report/export"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results/metrics"
)

// value is one number of one run.
type value struct{ arm, block, phase, metric string }

// values are all numbers that the pairs of a view hold.
func values(v *view.View) map[value]float64 {
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

// Three comparisons of three arms: every value once, in block order.
func (j judged) hasNumbersInRecords(t *testing.T, numbers map[value]float64) {
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
			want := numbers[value{info["arm"], j.v.Comparisons[0].Phases[0].Metrics[0].Pairs[i].Block, info["phase"], metric}]
			assert.InDelta(t, 1000*want, x, 0)
		}
	}
	assert.Equal(t, 2*2*3*6, checked, "metrics, phases, arms, blocks: no arm twice")
	assert.Positive(t, regressions)
}

// A database of measurements gets nothing from a campaign that decides nothing
// about the numbers, and the exit code says why.
func (j judged) isRefused(t *testing.T, code int) {
	dir := filepath.Join(t.TempDir(), "out")
	var refused *export.RefusedError
	require.ErrorAs(t, export.HUD(io.Discard, j.v), &refused)
	assert.Equal(t, code, refused.Code)
	assert.NotContains(t, refused.Error(), "\n")
	require.ErrorAs(t, export.LLMD(dir, j.v), &refused)
	assert.Equal(t, code, refused.Code)
	assert.NoDirExists(t, dir)
}

// Quantiles of a run are the same numbers in every format.
func (j judged) hasNumbersInReports(t *testing.T, numbers map[value]float64) {
	dir := t.TempDir()
	require.NoError(t, export.LLMD(dir, j.v))
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, files, 10*2*2)
	compared := 0
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		require.NoError(t, err)
		var doc llmdReport
		require.NoError(t, json.Unmarshal(data, &doc))
		a := doc.Results.Performance.Aggregate
		at := strings.Split(strings.TrimSuffix(f.Name(), ".json"), "-") // block, arm, phase
		for _, x := range []struct {
			metric, units string
			got           float64
			from          llmdStatistics
		}{
			{"ttft_p50", "s", a.Latency["time_to_first_token"].P50, a.Latency["time_to_first_token"]},
			{"tpot_p95", "s/token", a.Latency["time_per_output_token"].P95, a.Latency["time_per_output_token"]},
			{"e2e_p95", "s", a.Latency["request_latency"].P95, a.Latency["request_latency"]},
			{"output_throughput", "tokens/s", a.Throughput["output_token_rate"].Mean, a.Throughput["output_token_rate"]},
		} {
			want, ok := numbers[value{at[1], at[0], at[2], x.metric}]
			require.True(t, ok, f.Name())
			assert.InDelta(t, want, x.got, 0, "%s in %s", x.metric, f.Name())
			assert.Equal(t, x.units, x.from.Units)
			compared++
		}
	}
	assert.Equal(t, 10*2*2*4, compared)
}

// llmdReport is a benchmark report as far as numbers go.
type llmdReport struct {
	Results struct {
		Performance struct {
			Aggregate struct {
				Latency, Throughput map[string]llmdStatistics
			}
		} `json:"request_performance"`
	}
}

type llmdStatistics struct {
	Units string
	P50   float64
	P95   float64
	Mean  float64
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
func (j judged) hasNumbersInTables(t *testing.T, want map[value]float64) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	notes, err := export.Parquet(dir, j.c, j.v)
	require.NoError(t, err)
	assert.Empty(t, notes)

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

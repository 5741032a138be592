package export

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/metrics"
)

// rowsPerGroup bounds the memory of a table: rows are held until their group
// is full.
const rowsPerGroup = 1 << 15

// table writes the rows of one Parquet file, compressed with zstd.
type table[T any] struct {
	out  *parquet.GenericWriter[T]
	rows []T // not yet written
}

// newTable begins a file; about becomes its key-value metadata.
func newTable[T any](w io.Writer, about map[string]string) *table[T] {
	options := []parquet.WriterOption{parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(rowsPerGroup)}
	for _, key := range slices.Sorted(maps.Keys(about)) {
		options = append(options, parquet.KeyValueMetadata(key, line(about[key])))
	}
	return &table[T]{out: parquet.NewGenericWriter[T](w, options...), rows: make([]T, 0, 256)}
}

func (t *table[T]) add(row T) error {
	if t.rows = append(t.rows, row); len(t.rows) < cap(t.rows) {
		return nil
	}
	return t.flush()
}

func (t *table[T]) flush() error {
	_, err := t.out.Write(t.rows)
	t.rows = t.rows[:0]
	return err
}

// close writes the rest of the rows and the footer.
func (t *table[T]) close() error {
	if err := t.flush(); err != nil {
		return err
	}
	return t.out.Close()
}

// Parquet writes requests.parquet, steps.parquet and pairs.parquet into a
// folder, which is made. Requests and steps are those of all sealed runs that
// are not damaged, void and burn-in runs included; the column valid says which ones were accepted.
// Pairs are those of the view. notes name the step files that are not there or
// cannot be read to their end: what could be read is in the table.
func Parquet(dir string, c *results.Campaign, v *view.View) (notes []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	about := map[string]string{
		"opbench.version": v.Tool, "opbench.campaign": v.Subject.Campaign, "opbench.plan_hash": v.Subject.PlanHash, "opbench.result": v.Headline(),
	}
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"requests.parquet", func(w io.Writer) error { return writeRequests(newTable[requestRow](w, about), c) }},
		{"pairs.parquet", func(w io.Writer) error { return writePairs(newTable[pairRow](w, about), v) }},
		{"steps.parquet", func(w io.Writer) (err error) {
			notes, err = writeSteps(newTable[runStepRow](w, about), c)
			return err
		}},
	} {
		if err := ToFile(filepath.Join(dir, f.name), f.write); err != nil {
			return notes, err
		}
	}
	return notes, nil
}

// runColumns say which run a row belongs to.
type runColumns struct {
	Block   string `parquet:"block,dict"`
	Attempt int64  `parquet:"attempt"`
	Arm     string `parquet:"arm,dict"`
	BurnIn  bool   `parquet:"burn_in"`
	Valid   bool   `parquet:"valid"` // the block's attempt was accepted
}

func columnsOf(a *results.Attempt) runColumns {
	return runColumns{Block: text(a.Key.Block), Attempt: int64(a.Key.Attempt), Arm: text(a.Key.Arm), BurnIn: a.BurnIn, Valid: a.Valid}
}

// text is a string as Parquet allows it.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// requestRow is results.Request as a row. The gaps of 50 ms and more are given
// as number and sum; the three times in seconds are those of package metrics,
// null where they are not defined.
type requestRow struct {
	runColumns
	Phase        string   `parquet:"phase,dict"`
	Index        int64    `parquet:"index"`
	Warmup       bool     `parquet:"warmup"`
	Stream       int64    `parquet:"stream"`
	Slice        int64    `parquet:"slice"`
	IntendedNS   int64    `parquet:"intended_ns"`
	SentNS       int64    `parquet:"sent_ns"`
	FirstNS      int64    `parquet:"first_ns"`
	LastNS       int64    `parquet:"last_ns"`
	EndNS        int64    `parquet:"end_ns"`
	FirstTokens  int64    `parquet:"first_tokens"`
	Chunks       int64    `parquet:"chunks"`
	WantTokens   int64    `parquet:"want_tokens"`
	PromptTokens int64    `parquet:"prompt_tokens"`
	CachedTokens int64    `parquet:"cached_tokens"`
	OutputTokens int64    `parquet:"output_tokens"`
	GapMedianNS  int64    `parquet:"gap_median_ns"`
	GapMaxNS     int64    `parquet:"gap_max_ns"`
	LongGaps     int64    `parquet:"long_gaps"`
	LongGapNS    int64    `parquet:"long_gap_ns"`
	FinishReason string   `parquet:"finish_reason,optional,dict"`
	Fingerprint  string   `parquet:"fingerprint,optional,dict"`
	Model        string   `parquet:"model,optional,dict"`
	OutputSHA256 string   `parquet:"output_sha256,optional"`
	Error        string   `parquet:"error,optional"`
	TTFT         *float64 `parquet:"ttft_s"`
	TPOT         *float64 `parquet:"tpot_s"`
	EndToEnd     *float64 `parquet:"e2e_s"`
}

func writeRequests(t *table[requestRow], c *results.Campaign) error {
	for i := range c.Attempts {
		a := &c.Attempts[i]
		for j := range a.Requests {
			if err := t.add(requestOf(a, &a.Requests[j])); err != nil {
				return err
			}
		}
	}
	return t.close()
}

func requestOf(a *results.Attempt, r *results.Request) requestRow {
	row := requestRow{
		runColumns: columnsOf(a),
		Phase:      text(r.Phase), Index: int64(r.Index), Warmup: r.Warmup, Stream: int64(r.Stream), Slice: int64(r.Slice),
		IntendedNS: r.IntendedNS, SentNS: r.SentNS, FirstNS: r.FirstNS, LastNS: r.LastNS, EndNS: r.EndNS,
		FirstTokens: int64(r.FirstTokens), Chunks: int64(r.Chunks), WantTokens: int64(r.WantTokens),
		PromptTokens: int64(r.PromptTokens), CachedTokens: int64(r.CachedTokens), OutputTokens: int64(r.OutputTokens),
		GapMedianNS: r.GapMedianNS, GapMaxNS: r.GapMaxNS, LongGaps: int64(len(r.LongGaps)),
		FinishReason: text(r.FinishReason), Fingerprint: text(r.Fingerprint), Model: text(r.Model),
		OutputSHA256: text(r.OutputSHA256), Error: text(r.Error),
		TTFT: defined(r, metrics.TTFT), TPOT: defined(r, metrics.TPOT), EndToEnd: defined(r, metrics.EndToEnd),
	}
	for _, gap := range r.LongGaps {
		row.LongGapNS += gap[1] - gap[0]
	}
	return row
}

// defined is a number of a request, nil where it has none.
func defined(r *results.Request, of func(*results.Request) (value float64, ok bool)) *float64 {
	if x, ok := of(r); ok {
		return &x
	}
	return nil
}

// pairRow is one pair of runs: a view.Pair with its place.
type pairRow struct {
	Baseline       string  `parquet:"baseline_arm,dict"`
	Candidate      string  `parquet:"candidate_arm,dict"`
	Phase          string  `parquet:"phase,dict"`
	Metric         string  `parquet:"metric,dict"`
	Unit           string  `parquet:"unit,dict"`
	Better         string  `parquet:"better,dict"`
	Primary        bool    `parquet:"primary"`
	Block          string  `parquet:"block,dict"`
	BaselineFirst  bool    `parquet:"baseline_first"`
	BaselineValue  float64 `parquet:"baseline"`
	CandidateValue float64 `parquet:"candidate"`
	Effect         float64 `parquet:"effect_pct"`
	Result         string  `parquet:"result,optional,dict"` // of the metric
}

func writePairs(t *table[pairRow], v *view.View) error {
	for _, m := range places(v) {
		for _, p := range m.Pairs {
			err := t.add(pairRow{
				Baseline: text(m.comparison.Baseline), Candidate: text(m.comparison.Candidate), Phase: text(m.phase.Name),
				Metric: m.Name, Unit: m.Unit, Better: m.Better, Primary: m.Primary, Block: text(p.Block), BaselineFirst: p.BaselineFirst,
				BaselineValue: p.Baseline, CandidateValue: p.Candidate, Effect: p.Effect, Result: text(m.Shown()),
			})
			if err != nil {
				return err
			}
		}
	}
	return t.close()
}

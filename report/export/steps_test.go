package export

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/results/steps"
)

// stepFile writes n records, every second of them without the objects that may
// be null.
func stepFile(t testing.TB, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := steps.NewWriter(&b, steps.Header{EngineID: "dp0-pid7"})
	require.NoError(t, err)
	for i := range n {
		r := steps.Record{StepIndex: int64(i), SubmitWallNS: 1_800_000_000_000_000_000 + int64(i), ScheduledRequests: 3}
		r.ContextLengthHist[2], r.ChunkedPrefill.SizeHist[8] = 3, int64(i)
		r.KV.Usage = 0.1
		if i%2 == 0 {
			r.Prefix.Local = &steps.Lookups{Queries: int64(i), Hits: 1}
			r.CUDAGraph = &steps.CUDAGraph{Hit: true, RuntimeMode: "FULL", BucketTokens: int64(i)}
		}
		require.NoError(t, w.Write(r))
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func put(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, data, 0o644))
	return path
}

func packed(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(data)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

// Both formats carry the same rows, in the order of the files; null stays null
// and 64-bit times keep every digit.
func TestStepsInBothFormats(t *testing.T) {
	paths := []string{put(t, "a.jsonl", stepFile(t, 700)), put(t, "b.jsonl.gz", packed(t, stepFile(t, 3)))}
	var table, text bytes.Buffer
	files, err := Steps(&table, "parquet", paths)
	require.NoError(t, err)
	require.Len(t, files, 2)
	assert.Equal(t, int64(700), files[0].Records)
	_, err = Steps(&text, "json", paths)
	require.NoError(t, err)

	rows, err := parquet.Read[stepRow](bytes.NewReader(table.Bytes()), int64(table.Len()))
	require.NoError(t, err)
	require.Len(t, rows, 703)
	assert.Equal(t, "b.jsonl.gz", rows[702].File)
	assert.Nil(t, rows[1].LocalHits)
	assert.Nil(t, rows[1].GraphMode)
	assert.Nil(t, rows[0].ExternalHits)
	require.NotNil(t, rows[698].LocalQueries)
	assert.Equal(t, int64(698), *rows[698].LocalQueries)
	assert.Equal(t, int64(698), *rows[698].GraphBucket)
	assert.Equal(t, "FULL", *rows[698].GraphMode)
	assert.Equal(t, int64(1_800_000_000_000_000_699), rows[699].SubmitWallNS)
	assert.Equal(t, []int64{0, 0, 0, 0, 0, 0, 0, 0, 5}, rows[5].ChunkSizeHist)

	dec := json.NewDecoder(&text)
	for i := range rows {
		var row stepRow
		require.NoError(t, dec.Decode(&row))
		require.Equal(t, rows[i], row)
	}
	assert.False(t, dec.More())
}

// Every field of a record has its column: a record whose numbers are all
// different loses none of them.
func TestEveryFieldOfARecordHasAColumn(t *testing.T) {
	var r steps.Record
	next := int64(100)
	number64(reflect.ValueOf(&r).Elem(), &next)
	r.EngineID, r.CUDAGraph.RuntimeMode, r.CUDAGraph.Hit, r.ModelExecuted = "engine", "mode", true, true
	encoded, err := json.Marshal(rowOf("file", &r))
	require.NoError(t, err)
	for n := int64(100); n < next; n++ {
		assert.Regexp(t, `[:\[,]`+jsonInt(n)+`[,\]}]`, string(encoded))
	}
	assert.Greater(t, next, int64(160))
}

func jsonInt(n int64) string {
	b, _ := json.Marshal(n)
	return string(b)
}

// number64 puts another number into every field of a record but its schema.
func number64(x reflect.Value, next *int64) {
	switch x.Kind() {
	case reflect.Int64:
		x.SetInt(*next)
		*next++
	case reflect.Float64:
		x.SetFloat(float64(*next))
		*next++
	case reflect.Pointer:
		if x.Type().Elem().NumField() == 0 {
			return // moe_expert_load, which is always null
		}
		x.Set(reflect.New(x.Type().Elem()))
		number64(x.Elem(), next)
	case reflect.Array:
		for i := range x.Len() {
			number64(x.Index(i), next)
		}
	case reflect.Struct:
		for i := range x.NumField() {
			if x.Type().Field(i).IsExported() {
				number64(x.Field(i), next)
			}
		}
	}
}

// What is wrong with a file is said with its line; a cut end is counted.
func TestStepsOfDamagedFiles(t *testing.T) {
	good := stepFile(t, 10)
	lines := bytes.SplitAfter(good, []byte("\n"))
	for name, data := range map[string][]byte{
		"empty":      {},
		"garbage":    []byte("garbage\n"),
		"no gzip":    good,
		"long line":  append(bytes.Clone(lines[0]), bytes.Repeat([]byte("x"), steps.MaxLine+1)...),
		"two lines":  bytes.Replace(good, []byte("}\n{"), []byte("}{"), 3),
		"goes back":  bytes.Join([][]byte{lines[0], lines[2], lines[1]}, nil),
		"other kind": bytes.Replace(good, []byte(`"backlog":0`), []byte(`"backlog":"0"`), 1),
	} {
		path := put(t, strings.ReplaceAll(name, " ", "-")+".jsonl", data)
		if name == "no gzip" {
			path = put(t, "x.jsonl.gz", data)
		}
		var damage *steps.DamageError
		_, err := Steps(new(bytes.Buffer), "parquet", []string{path})
		require.ErrorAs(t, err, &damage, name)
		assert.NotContains(t, err.Error(), "\n", name)
	}
	files, err := Steps(new(bytes.Buffer), "json", []string{put(t, "torn.jsonl", good[:len(good)-5])})
	require.NoError(t, err)
	assert.Equal(t, int64(10), files[0].Records)
	assert.Positive(t, files[0].Torn)
	_, err = Steps(new(bytes.Buffer), "csv", nil)
	require.ErrorContains(t, err, "use parquet or json")
	_, err = Steps(new(bytes.Buffer), "json", []string{"absent.jsonl"})
	require.ErrorIs(t, err, os.ErrNotExist)
}

// A table leaves memory group by group: before it is closed, all but the last
// group is with the writer below.
func TestTablesAreWrittenAsTheyGrow(t *testing.T) {
	var b bytes.Buffer
	tab := newTable[pairRow](&b, map[string]string{"opbench.campaign": "one"})
	for i := range 2*rowsPerGroup + 10 {
		require.NoError(t, tab.add(pairRow{Block: "0001", BaselineValue: math.Sqrt(float64(i))}))
	}
	before := b.Len()
	assert.Greater(t, before, 4*rowsPerGroup, "8 bytes a row that hardly pack")
	require.NoError(t, tab.close())
	f, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
	require.NoError(t, err)
	assert.Len(t, f.RowGroups(), 3)
	assert.Equal(t, int64(2*rowsPerGroup+10), f.NumRows())
	campaign, ok := f.Lookup("opbench.campaign")
	assert.True(t, ok)
	assert.Equal(t, "one", campaign)
}

// FuzzSteps gives any bytes to both formats: an error or rows that can be read
// back, never a panic, and the same number of them. Fuzz it with
// -fuzzminimizetime 1x: the packers' goroutines make coverage look new.
func FuzzSteps(f *testing.F) {
	good := stepFile(f, 2)
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add([]byte{})
	f.Add(bytes.ReplaceAll(good, []byte("FULL"), []byte("\xff\xfe")))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := put(t, "x.jsonl", data)
		var table, text bytes.Buffer
		files, err := Steps(&table, "parquet", []string{path})
		_, also := Steps(&text, "json", []string{path})
		require.Equal(t, err == nil, also == nil)
		if err != nil {
			return
		}
		rows, err := parquet.Read[stepRow](bytes.NewReader(table.Bytes()), int64(table.Len()))
		require.NoError(t, err)
		assert.Len(t, rows, int(files[0].Records))
		assert.Equal(t, len(rows), bytes.Count(text.Bytes(), []byte("\n")))
	})
}

// The rows that a second makes, and what each allocates: nothing may grow with
// the file.
func BenchmarkSteps(b *testing.B) {
	path := put(b, "x.jsonl", stepFile(b, 10_000))
	for _, format := range []string{"parquet", "json"} {
		b.Run(format, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err := Steps(new(bytes.Buffer), format, []string{path})
				require.NoError(b, err)
			}
			b.ReportMetric(float64(b.N)*10_000/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

package export

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchfmt"

	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/scenarios"
)

// fill puts s into every string below x and makes one element of every slice,
// so that no field of a view is forgotten.
func fill(x reflect.Value, s string) {
	switch x.Kind() {
	case reflect.String:
		x.SetString(s)
	case reflect.Float64:
		x.SetFloat(1.25)
	case reflect.Pointer:
		x.Set(reflect.New(x.Type().Elem()))
		fill(x.Elem(), s)
	case reflect.Slice:
		x.Set(reflect.MakeSlice(x.Type(), 1, 1))
		fill(x.Index(0), s)
	case reflect.Struct:
		for i := range x.NumField() {
			if x.Type().Field(i).IsExported() {
				fill(x.Field(i), s)
			}
		}
	}
}

// hostileView is a finished view whose every name is s.
func hostileView(s string) *view.View {
	v := &view.View{}
	fill(reflect.ValueOf(v).Elem(), s)
	v.Finished = true
	for i := range v.Comparisons {
		c := &v.Comparisons[i]
		c.Candidate += "2" // arms have different names
		c.Gating = true
		for j := range c.Phases {
			m := &c.Phases[j].Metrics[0]
			m.Name, m.Unit, m.Better, m.Primary = "ttft_p50", "s", "lower", true
		}
	}
	return v
}

// Whatever a run calls itself: the XML is well-formed, the database gets its three
// records, and the benchmark file has its two lines.
func FuzzNames(f *testing.F) {
	for _, s := range []string{
		"plain", "a|b`c`<script>alert(1)</script> @someone", "]]>", "-->", "\x00\x1b[31m\u202e", "\xff\xfe", "Benchmark x 1 2 ns",
		"\nBenchmarkFake 1 0.001 sec\nUnit sec better=higher", "a/b=c-8", "key: value", "", " ", "\ufffe\uffff", "ünïcode \u2028 \u0085",
		strings.Repeat("x", 100_000),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v := hostileView(s)
		var b bytes.Buffer
		require.NoError(t, JUnit(&b, v, false))
		assert.True(t, utf8.Valid(b.Bytes()))
		dec := xml.NewDecoder(&b)
		for {
			_, err := dec.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
		}

		b.Reset()
		require.NoError(t, HUD(&b, v))
		var records []hudRecord
		require.NoError(t, json.Unmarshal(b.Bytes(), &records))
		assert.Len(t, records, 3, "two arms and their regression")

		b.Reset()
		require.NoError(t, Benchfmt(&b, v))
		results := 0
		r := benchfmt.NewReader(&b, "fuzz")
		for r.Scan() {
			switch rec := r.Result().(type) {
			case *benchfmt.SyntaxError:
				require.NoError(t, rec)
			case *benchfmt.Result:
				results++
				assert.InDelta(t, 1.25, rec.Values[0].Value, 0)
			}
		}
		require.NoError(t, r.Err())
		assert.Equal(t, 2, results)
		better := r.Units().Get("sec", "better")
		require.NotNil(t, better)
		assert.Equal(t, "lower", better.Value)
	})
}

// Names of files and benchmarks are words of safe bytes, short, and different
// for different names.
func FuzzSafeName(f *testing.F) {
	f.Add("poisson-4", "poisson_4")
	f.Add("a b", "a%20b")
	f.Add("../x", "..%2Fx")
	f.Add(strings.Repeat("é", 100), strings.Repeat("é", 101))
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, s := range []string{a, b} {
			assert.Regexp(t, `^[A-Za-z0-9_%~.-]*$`, safeName(s))
			assert.NotRegexp(t, `^\.`, safeName(s))
			assert.LessOrEqual(t, len(safeName(s)), mostName+17)
		}
		assert.Equal(t, a == b, safeName(a) == safeName(b))
	})
}

func TestLinesAreCut(t *testing.T) {
	assert.Equal(t, "a b", line(" a\n\tb "))
	long := line(strings.Repeat("é ", 200_000))
	assert.Equal(t, mostRunes+1, utf8.RuneCountInString(long))
	assert.True(t, strings.HasSuffix(long, "…"))
	assert.True(t, utf8.ValidString(line("\xff")))
}

// A failed export leaves the old file and nothing beside it.
func TestToFileIsWholeOrNot(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	put := func(s string, err error) error {
		return ToFile(path, func(w io.Writer) error {
			_, werr := io.WriteString(w, s)
			return errors.Join(werr, err)
		})
	}
	require.NoError(t, put("old", nil))
	require.ErrorContains(t, put(strings.Repeat("new", 100_000), errors.New("half")), "half")
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "old", string(got))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
	require.NoError(t, put("new", nil))
	got, err = os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "new", string(got))
	require.Error(t, ToFile(filepath.Join(dir, "absent", "out"), func(io.Writer) error { return nil }))
}

// The names for HUD belong to metrics of the table: one that is called otherwise
// would lose its name there without a word.
func TestNamesForHUDAreThoseOfMetrics(t *testing.T) {
	for name := range hudMetrics {
		_, ok := scenarios.FindMetric(name)
		assert.True(t, ok, name)
	}
}

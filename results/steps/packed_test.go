package steps

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/results"
)

// testdata/packed holds the same steps of one scheduler, recorded by r1-seed
// and by r3-packed (patches/vllm/ee0da84/differential/make_fixture.py).

func packedFixture(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/packed/steps.packed")
	require.NoError(t, err)
	return data
}

func convert(data []byte) (string, File, error) {
	var out bytes.Buffer
	file, err := Convert("x.packed", bytes.NewReader(data), &out)
	return out.String(), file, err
}

// comparable returns the lines without what two recorders of one step may
// differ in.
func comparable(t *testing.T, text string) []map[string]any {
	t.Helper()
	var all []map[string]any
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		var v map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &v))
		for _, key := range []string{"submit_wall_ns", "submit_mono_ns", "ready_mono_ns", "complete_mono_ns", "backlog",
			"backlog_max", "revision", "start_wall_ns", "start_mono_ns", "total_blocks"} {
			delete(v, key)
		}
		all = append(all, v)
	}
	return all
}

func TestConvertedRecordsAreThoseOfTheSeed(t *testing.T) {
	text, file, err := convert(packedFixture(t))
	require.NoError(t, err)
	seedFile, err := Open(results.Folder("testdata/packed"), "steps.jsonl.gz")
	require.NoError(t, err)
	defer seedFile.Close()
	want, err := io.ReadAll(seedFile)
	require.NoError(t, err)
	got, seed := comparable(t, text), comparable(t, string(want))
	require.Len(t, got, len(seed))
	for i := range seed {
		assert.Equal(t, seed[i], got[i], "line %d", i+1)
	}
	assert.EqualValues(t, len(seed)-2, file.Records)
	assert.Zero(t, file.Torn)
	assert.EqualValues(t, len(packedFixture(t)), file.Bytes)
}

// The fixture is worth something only if it contains everything.
func TestPackedFixtureCoversTheFormat(t *testing.T) {
	text, _, err := convert(packedFixture(t))
	require.NoError(t, err)
	seen := map[string]int64{}
	_, err = Scan("x", strings.NewReader(text), func(_ int, r *Record) error {
		seen["empty"] += r.EmptySteps
		seen["preempted"] += r.Preemptions
		seen["resumed"] += r.Resumed.Requests
		seen["first"] += r.ChunkedPrefill.First
		seen["middle"] += r.ChunkedPrefill.Middle
		seen["final"] += r.ChunkedPrefill.Final
		seen["unsplit"] += r.ChunkedPrefill.Unsplit
		if r.CUDAGraph != nil {
			seen[r.CUDAGraph.RuntimeMode]++
		}
		return nil
	})
	require.NoError(t, err)
	for _, what := range []string{"empty", "preempted", "resumed", "first", "middle", "final", "unsplit", "NONE", "FULL"} {
		assert.Positive(t, seen[what], what)
	}
}

func TestConvertedFilePassesTheChecks(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "opprof-s1-dp0-1-1"+PackedExt)
	require.NoError(t, os.WriteFile(path, packedFixture(t), 0o644))
	target, file, err := ConvertFile(path, "")
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(dir, "opprof-s1-dp0-1-1.jsonl"), target)
	sum, err := Check([]string{target})
	require.NoError(t, err)
	for _, c := range sum.Checks {
		assert.Zero(t, c.Failed, "%s: %s", c.ID, c.First)
	}
	assert.Equal(t, file.Records, sum.Records)
	assert.FileExists(t, path)

	_, _, err = ConvertFile(path, "")
	assert.ErrorIs(t, err, os.ErrExist)
	_, _, err = ConvertFile(target, "")
	assert.ErrorContains(t, err, "does not end in .packed")
}

// recordsAt returns where the records of the fixture begin; the last is the
// footer.
func recordsAt(t testing.TB, data []byte) []int {
	t.Helper()
	slots := func(n int) int { return (n + packedSlot - 1) / packedSlot * packedSlot }
	at := slots(16 + int(binary.LittleEndian.Uint32(data[12:])))
	var all []int
	for at < len(data) {
		all = append(all, at)
		at += slots(8 + int(binary.LittleEndian.Uint32(data[at:])&^packedFooter))
	}
	require.Equal(t, len(data), at)
	return all
}

// A killed server leaves the reserve, and at worst a record without its number.
func TestConvertOfAKilledServer(t *testing.T) {
	data := packedFixture(t)
	at := recordsAt(t, data)
	whole, _, err := convert(data)
	require.NoError(t, err)
	lines := strings.SplitAfter(whole, "\n")
	cut := at[20]
	reserve := make([]byte, 200_000)
	tests := map[string]struct {
		data []byte
		torn bool
	}{
		"at the end":          {data[:cut], false},
		"with reserve":        {append(data[:cut:cut], reserve...), false},
		"body without number": {append(append(data[:cut+200:cut+200], reserve...), data[:0]...), true},
		"cut in the number":   {data[:cut+5], true},
		"cut in the body":     {data[:cut+70], true},
	}
	zero := bytes.Clone(tests["body without number"].data)
	copy(zero[cut:], make([]byte, 8))
	test := tests["body without number"]
	test.data = zero
	tests["body without number"] = test
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			text, file, err := convert(tt.data)
			require.NoError(t, err)
			assert.Equal(t, strings.Join(lines[:21], ""), text)
			assert.EqualValues(t, 20, file.Records)
			assert.Nil(t, file.Footer)
			assert.Equal(t, tt.torn, file.Torn > 0, file.Torn)
			assert.EqualValues(t, cut, file.Bytes)
		})
	}
}

func TestConvertNamesTheDamage(t *testing.T) {
	data := packedFixture(t)
	at := recordsAt(t, data)
	at5, last := at[5], at[len(at)-1]
	set := func(offset int, b ...byte) func([]byte) []byte {
		return func(d []byte) []byte { copy(d[offset:], b); return d }
	}
	tests := map[string]struct {
		damage func([]byte) []byte
		want   string
	}{
		"empty":            {func([]byte) []byte { return nil }, "x.packed:1: not a packed step file"},
		"JSON Lines":       {func([]byte) []byte { return []byte(`{"header":1,"schema":1,"x":"y"}`) }, "not a packed step file"},
		"cut header":       {func(d []byte) []byte { return d[:40] }, "cut in the header"},
		"slot size":        {set(8, 32), "slots of 32 bytes"},
		"huge header":      {set(14, 0xff), "want 64 and at most"},
		"other schema":     {func(d []byte) []byte { return bytes.Replace(d, []byte(`"schema":1`), []byte(`"schema":7`), 1) }, "x.packed:1: "},
		"no blocks":        {func(d []byte) []byte { return bytes.Replace(d, []byte(`total_blocks`), []byte(`total_blockz`), 1) }, "no total_blocks"},
		"number":           {set(at5+4, 9), "x.packed:7: record number 9, want 6"},
		"huge record":      {set(at5+2, 0xff), "at most 1048576 are allowed"},
		"no array":         {set(at5+8, 0xc0), "x.packed:7: record: byte 0xc0 is no array"},
		"other fields":     {set(at5+8, 0xdc, 0, 25), "an array of 25 elements, want 24"},
		"no integer":       {set(at5+11, 0xc3), "is no integer"},
		"shorter":          {set(at5, 9), "other bytes than zeros behind the data"},
		"behind footer":    {func(d []byte) []byte { return append(d, 1) }, "1 bytes behind the footer"},
		"footer too short": {set(last+8, 0x93), "footer: an array of 3 elements, want 4"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := convert(tt.damage(bytes.Clone(data)))
			damage := (*DamageError)(nil)
			require.ErrorAs(t, err, &damage)
			assert.ErrorContains(t, err, tt.want)
		})
	}
}

func TestCheckOfAPackedFileSaysWhatToDo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "opprof-x"+PackedExt)
	require.NoError(t, os.WriteFile(path, packedFixture(t), 0o644))
	sum, err := Check([]string{path})
	require.NoError(t, err)
	require.Equal(t, "format", sum.Checks[0].ID)
	assert.Contains(t, sum.Checks[0].First, "opbench layer1 convert")
}

func TestUnpackerIntegers(t *testing.T) {
	tests := map[string]struct {
		data []byte
		want int64
		err  string
	}{
		"fixint":        {[]byte{0x7f}, 127, ""},
		"negative fix":  {[]byte{0xe0}, -32, ""},
		"uint8":         {[]byte{0xcc, 0xff}, 255, ""},
		"uint16":        {[]byte{0xcd, 0x01, 0x02}, 258, ""},
		"uint32":        {[]byte{0xce, 0xff, 0xff, 0xff, 0xff}, 1<<32 - 1, ""},
		"uint64":        {[]byte{0xcf, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, 1<<63 - 1, ""},
		"int8":          {[]byte{0xd0, 0x80}, -128, ""},
		"int16":         {[]byte{0xd1, 0xff, 0xfe}, -2, ""},
		"int32":         {[]byte{0xd2, 0x80, 0, 0, 0}, -1 << 31, ""},
		"int64":         {[]byte{0xd3, 0x80, 0, 0, 0, 0, 0, 0, 0}, -1 << 63, ""},
		"too large":     {[]byte{0xcf, 0x80, 0, 0, 0, 0, 0, 0, 0}, 0, "is too large"},
		"cut":           {[]byte{0xce, 1, 2}, 0, "end inside a value"},
		"nothing":       {nil, 0, "end inside a value"},
		"a float":       {[]byte{0xcb, 0, 0, 0, 0, 0, 0, 0, 0}, 0, "is no integer"},
		"an array head": {[]byte{0x91, 1}, 0, "is no integer"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			u := unpacker{data: tt.data}
			got, err := u.integer()
			if tt.err != "" {
				assert.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
			assert.Equal(t, len(tt.data), u.at)
		})
	}
}

// Lengths in the data are bounded by the data, whatever they claim.
func TestUnpackerArrays(t *testing.T) {
	u := unpacker{data: []byte{0xdd, 0xff, 0xff, 0xff, 0xff, 1, 2}}
	_, err := u.array()
	assert.ErrorContains(t, err, "end inside a value")
	u = unpacker{data: []byte{0xdc, 0, 2, 5, 0xcd, 1, 0}}
	var bins [2]int64
	require.NoError(t, u.histogram(bins[:]))
	assert.Equal(t, [2]int64{5, 256}, bins)
	u = unpacker{data: []byte{0x93, 5, 6, 7}}
	assert.ErrorContains(t, u.histogram(bins[:]), "an array of 3 elements, want 2")
	u = unpacker{data: []byte{0xd9, 4, 'F', 'U', 'L', 'L', 0xa2, 'a', 'b'}}
	for _, want := range []string{"FULL", "ab"} {
		got, err := u.text()
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
}

func FuzzConvert(f *testing.F) {
	data := packedFixture(f)
	f.Add(data)
	f.Add(data[:len(data)/2])
	f.Add(append(data[:recordsAt(f, data)[3]:recordsAt(f, data)[3]], make([]byte, 500)...))
	f.Add([]byte(packedMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		text, file, err := convert(data)
		if err != nil {
			damage := (*DamageError)(nil)
			require.ErrorAs(t, err, &damage)
			return
		}
		// What was converted can be read, up to indices that go back.
		got, err := Scan("x", strings.NewReader(text), func(int, *Record) error { return nil })
		if err != nil {
			require.ErrorContains(t, err, "step_index goes back")
			return
		}
		assert.Equal(t, file.Records, got.Records)
		assert.Equal(t, file.Footer == nil, got.Footer == nil)
	})
}

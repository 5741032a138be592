package steps

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func scanAll(data string) ([]Record, File, error) {
	var all []Record
	f, err := Scan("f.jsonl", strings.NewReader(data), func(_ int, r *Record) error {
		all = append(all, kept(*r))
		return nil
	})
	return all, f, err
}

// kept copies what the next record overwrites.
func kept(r Record) Record {
	if g := r.CUDAGraph; g != nil {
		c := *g
		r.CUDAGraph = &c
	}
	if l := r.Prefix.Local; l != nil {
		c := *l
		r.Prefix.Local = &c
	}
	return r
}

// designRecord and designHeader are the examples of the format's description.
const (
	designHeader = `{"header":1,"schema":1,"revision":"r1-seed","vllm":"0.24.0","commit":"ee0da84a","blobs":{"vllm/envs.py":"ab"},"runner":"v1","async_scheduling":true,"max_num_seqs":256,"max_num_batched_tokens":8192,"block_size":16,"engine_id":"dp0-pid1234","pid":1234,"start_wall_ns":1783761000000000000,"start_mono_ns":8910000000,"context_edges":[128,256,512,1024,2048,4096,8192,16384,32768,65536,131072],"chunk_edges":[16,32,64,128,256,512,1024,2048]}`
	designRecord = `{"schema":1,"engine_id":"dp0-pid1234","step_index":42,"empty_steps":0,"submit_wall_ns":1783761000000000001,"submit_mono_ns":8920000000,"ready_mono_ns":8922300000,"complete_mono_ns":8922371000,"model_executed":true,"scheduled_requests":37,"scheduled_tokens":928,"decode_batch_size":32,"prefill_requests":5,"prefill_tokens":896,"decode_tokens":32,"resumed":{"requests":0,"tokens":0},"chunked_prefill":{"first":2,"middle":1,"final":1,"unsplit":1,"tokens":896,"chunk_size_hist":[0,0,1,1,1,1,1,0,0]},"context_length_hist":[0,0,3,6,12,10,5,1,0,0,0,0],"preemptions":0,"queues":{"running":37,"waiting":9,"deferred":0},"kv":{"total_blocks":120000,"free_blocks":42000,"used_blocks":78000,"usage":0.65},"prefix":{"local":{"requests":2,"queries":4096,"hits":3072,"preempted_requests":0,"preempted_queries":0,"preempted_hits":0},"external":null},"cudagraph":{"hit":true,"runtime_mode":"PIECEWISE","unpadded_tokens":928,"bucket_tokens":1024,"padding_tokens":96},"moe_expert_load":null,"backlog":3,"dropped_records_before":0}`
	designFooter = `{"footer":1,"schema":1,"engine_id":"dp0-pid1234","encoded":1,"written":1,"dropped":0,"backlog_max":3}`
)

func TestFormatOfTheDesign(t *testing.T) {
	recs, f, err := scanAll(designHeader + "\n" + designRecord + "\n" + designFooter + "\n")
	require.NoError(t, err)
	require.Len(t, recs, 1)
	assert.Equal(t, int64(1783761000000000001), recs[0].SubmitWallNS, "not rounded to a float")
	for want, v := range map[string]any{designHeader: f.Header, designRecord: recs[0], designFooter: f.Footer} {
		got, err := json.Marshal(v)
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
}

func TestWriterRoundTrip(t *testing.T) {
	s := goodStream()
	var b bytes.Buffer
	w, err := NewWriter(&b, s.header)
	require.NoError(t, err)
	for _, r := range s.recs {
		require.NoError(t, w.Write(r))
	}
	require.NoError(t, w.Close())
	assert.Equal(t, string(s.bytes(t)), b.String())
	recs, f, err := scanAll(b.String())
	require.NoError(t, err)
	assert.Equal(t, s.recs, recs)
	assert.Equal(t, s.footer, f.Footer)
	h, err := ReadHeader("f", &b)
	require.NoError(t, err)
	assert.Equal(t, s.header, h)

	assert.ErrorContains(t, w.Write(Record{}), "footer is already written")
	assert.ErrorContains(t, w.Close(), "already written")
	_, err = NewWriter(&b, Header{})
	assert.ErrorContains(t, err, "engine_id is empty")
	_, err = NewWriter(failingWriter{}, s.header)
	assert.ErrorContains(t, err, "write step header: disk full")
}

// Dropped steps stand in the next record, and in the footer also where no record
// follows: else the checks would call them a gap.
func TestWriterSaysWhatWasDropped(t *testing.T) {
	s := goodStream()
	var b bytes.Buffer
	w, err := NewWriter(&b, s.header)
	require.NoError(t, err)
	w.Drop(1)
	w.Drop(3)
	require.NoError(t, w.Write(s.recs[0]))
	require.NoError(t, w.Write(s.recs[1]))
	w.Drop(2)
	require.NoError(t, w.Close())
	recs, f, err := scanAll(b.String())
	require.NoError(t, err)
	require.Len(t, recs, 2)
	assert.Equal(t, s.recs[0].DroppedRecordsBefore+4, recs[0].DroppedRecordsBefore)
	assert.Equal(t, s.recs[1].DroppedRecordsBefore, recs[1].DroppedRecordsBefore)
	assert.Equal(t, recs[0].DroppedRecordsBefore+recs[1].DroppedRecordsBefore+2, f.Footer.Dropped)
	assert.EqualValues(t, 5, f.Footer.Encoded)
	assert.EqualValues(t, 2, f.Footer.Written)
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestBins(t *testing.T) {
	for n, want := range map[int64]int{1: 0, 128: 0, 129: 1, 131072: 10, 131073: 11} {
		assert.Equal(t, want, ContextBin(n), n)
	}
	for n, want := range map[int64]int{1: 0, 16: 0, 17: 1, 2048: 7, 2049: 8} {
		assert.Equal(t, want, ChunkBin(n), n)
	}
	assert.Equal(t, "opprof-s1-dp3-42-1783761000000000000.jsonl", FileName(3, 42, 1783761000000000000))
}

func TestEveryFieldIsRequired(t *testing.T) {
	whole := []string{designHeader, designRecord, designFooter}
	for i, line := range whole {
		var fields map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(line), &fields))
		for name := range fields {
			rest := map[string]json.RawMessage{}
			for k, v := range fields {
				if k != name {
					rest[k] = v
				}
			}
			b, err := json.Marshal(rest)
			require.NoError(t, err)
			lines := append([]string{}, whole...)
			lines[i] = string(b)
			_, _, err = scanAll(strings.Join(lines, "\n") + "\n")
			switch {
			case i == 0 && name == "header":
				assert.ErrorContains(t, err, "first line is no header")
			case i == 2 && name == "footer": // then it is a bad record
				assert.ErrorContains(t, err, "is missing")
			default:
				assert.ErrorContains(t, err, `field "`+name+`" is missing`)
			}
		}
	}
}

func TestDamageIsNamed(t *testing.T) {
	swap := func(old, new string) func(string) string {
		return func(line string) string { return strings.Replace(line, old, new, 1) }
	}
	for name, c := range map[string]struct {
		change func(record string) string
		want   string
	}{
		"integer as float":  {swap(`"step_index":42`, `"step_index":42.0`), "f.jsonl:2: step_index: column"},
		"integer too large": {swap(`"step_index":42`, `"step_index":9223372036854775808`), "not a 64-bit integer"},
		"nested missing":    {swap(`"waiting":9,`, ``), `queues: field "waiting" is missing`},
		"duplicate":         {swap(`"backlog":3`, `"backlog":3,"backlog":3`), `duplicate field "backlog"`},
		"wrong type":        {swap(`"model_executed":true`, `"model_executed":1`), "true or false is expected"},
		"bins":              {swap(`[0,0,3,6,12,10,5,1,0,0,0,0]`, `[0,0,3,6,12,10,5,1,0,0,0]`), "context_length_hist: 11 bins, want 12"},
		"expert load":       {swap(`"moe_expert_load":null`, `"moe_expert_load":{}`), "moe_expert_load: column"},
		"schema":            {swap(`"schema":1`, `"schema":2`), "unknown schema 2; this reader knows 1"},
		"engine":            {swap(`dp0-pid1234`, `dp0-pid99`), `mixed engine ids: the header says "dp0-pid1234", this line "dp0-pid99"`},
		"glued":             {func(r string) string { return r + r }, "f.jsonl:2: glued records"},
		"torn and glued":    {func(r string) string { return r[:100] + r }, "glued records: another one begins at column 101"},
		"cut":               {func(r string) string { return r[:100] }, "the line ends"},
		"blank":             {func(string) string { return "" }, "the line ends where '{' is expected"},
		"NUL":               {func(r string) string { return r + "\x00" }, "data after the end"},
		"second header":     {func(string) string { return designHeader }, "f.jsonl:2: a second header"},
		"huge":              {func(string) string { return strings.Repeat(" ", MaxLine) }, "f.jsonl:2: the line is longer than 1048576 bytes"},
		"index reset":       {func(r string) string { return r + "\n" + strings.Replace(r, `"step_index":42`, `"step_index":0`, 1) }, "f.jsonl:3: step_index goes back from 42 to 0"},
		"after footer":      {func(r string) string { return designFooter + "\n" + r }, "f.jsonl:3: data after the footer"},
		"footer's engine":   {func(r string) string { return r + "\n" + strings.Replace(designFooter, "1234", "9", 1) }, "mixed engine ids"},
		"deep unknown":      {swap(`"backlog":3`, `"backlog":3,"x":`+strings.Repeat("[", 50)+strings.Repeat("]", 50)), "nested values"},
	} {
		_, _, err := scanAll(designHeader + "\n" + c.change(designRecord) + "\n")
		var damage *DamageError
		assert.ErrorAs(t, err, &damage, name)
		assert.ErrorContains(t, err, c.want, name)
	}
}

func TestHeaderDamage(t *testing.T) {
	for data, want := range map[string]string{
		"":                    "f.jsonl:1: no header: the file is empty",
		designHeader:          "f.jsonl:1: no header: the only line is not terminated",
		designRecord + "\n":   "f.jsonl:1: the first line is no header",
		designHeader[1:]:      "no header",
		"{\"header\":2}\n":    "unknown header 2",
		"{\"header\":1\x00\n": "'\\x00' where ',' is expected",
		strings.Replace(designHeader, "[16,", "[17,", 1) + "\n": "chunk_edges: edges [17 32",
	} {
		_, _, err := scanAll(data)
		assert.ErrorContains(t, err, want)
		_, err = ReadHeader("f.jsonl", strings.NewReader(data))
		assert.ErrorContains(t, err, want)
	}
}

// A file cut anywhere yields the records whose lines are complete, and only these.
func TestCutAtEveryByte(t *testing.T) {
	s := goodStream()
	s.recs = s.recs[2:4]
	data := string(s.bytes(t))
	for cut := range len(data) {
		recs, f, err := scanAll(data[:cut])
		lines := strings.Count(data[:cut], "\n")
		if lines == 0 {
			assert.ErrorContains(t, err, "no header")
			continue
		}
		require.NoError(t, err, "cut at %d", cut)
		assert.Len(t, recs, min(lines-1, 2))
		assert.Equal(t, cut-strings.LastIndex(data[:cut], "\n")-1, f.Torn)
		assert.Equal(t, int64(cut), f.Bytes)
	}
}

func TestScanErrorsOfOthersPass(t *testing.T) {
	boom := errors.New("boom")
	data := designHeader + "\n" + designRecord + "\n"
	_, err := Scan("f", strings.NewReader(data), func(int, *Record) error { return boom })
	assert.ErrorIs(t, err, boom)

	disk := &fs.PathError{Op: "read", Path: "f", Err: boom}
	_, err = Scan("f", iotest.ErrReader(disk), nil)
	assert.ErrorIs(t, err, disk)
	var damage *DamageError
	assert.False(t, errors.As(err, &damage), "a failing disk is no damage of the file")
}

// Memory stays flat: a longer file costs no more allocations, also where the
// graph comes and goes and changes its mode.
func TestScanDoesNotAllocatePerRecord(t *testing.T) {
	allocs := func(records int) float64 {
		var b strings.Builder
		b.WriteString(designHeader + "\n")
		for i := range records {
			line := strings.Replace(designRecord, `"step_index":42`, fmt.Sprintf(`"step_index":%d`, i), 1)
			switch i % 3 {
			case 1:
				line = strings.Replace(line, "PIECEWISE", "FULL", 1)
			case 2:
				line = line[:strings.Index(line, `{"hit"`)] + "null" + line[strings.Index(line, `,"moe`):]
			}
			b.WriteString(line + "\n")
		}
		data, n, err := b.String(), 0, error(nil)
		allocs := testing.AllocsPerRun(3, func() {
			n = 0
			_, err = Scan("f", strings.NewReader(data), func(int, *Record) error { n++; return nil })
		})
		require.NoError(t, err)
		require.Equal(t, records, n)
		return allocs
	}
	assert.Equal(t, allocs(10), allocs(1000))
}

// FuzzScan: no input panics, and whatever is accepted is what encoding/json
// reads from the same line.
func FuzzScan(f *testing.F) {
	f.Add(designHeader + "\n" + designRecord + "\n" + designFooter + "\n")
	f.Add(string(goodStream().bytes(f)))
	f.Add(designHeader + "\n" + strings.Replace(designRecord, "PIECEWISE", `\u0041\"`, 1) + "\n")
	f.Add(designHeader + "\n" + strings.Replace(designRecord, `"backlog":3`, `"b":[1e5,{"c":null}],"backlog": 3`, 1) + "\ntorn")
	f.Fuzz(func(t *testing.T, data string) {
		recs, file, _ := scanAll(data)
		lines := strings.SplitAfter(data, "\n")
		require.LessOrEqual(t, len(recs), max(0, strings.Count(data, "\n")-1))
		require.LessOrEqual(t, file.Bytes, int64(len(data)))
		for i := range recs {
			line := []byte(strings.TrimSuffix(lines[i+1], "\n"))
			var want struct {
				StepIndex json.Number `json:"step_index"`
			}
			require.True(t, json.Valid(line))
			if !bytes.Contains(bytes.ToLower(line), []byte("step_index")) || bytes.Count(bytes.ToLower(line), []byte("step_index")) > 1 {
				continue // written with escapes, or in a case that encoding/json would mix up
			}
			require.NoError(t, json.Unmarshal(line, &want))
			got, err := want.StepIndex.Int64()
			require.NoError(t, err)
			require.Equal(t, recs[i].StepIndex, got)
		}
	})
}

// FuzzValue: the cursor accepts exactly what encoding/json calls valid.
func FuzzValue(f *testing.F) {
	f.Add([]byte(designRecord))
	f.Add([]byte(`[1.5e-3,"a\u00e9\\",true,null,{"":[]}] `))
	f.Add([]byte(`{"a":01}`))
	f.Add([]byte("\"\x01\""))
	f.Add([]byte(`"\x"`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) > maxDepth {
			return // may be nested too deeply for the cursor
		}
		c := cursor{line: data}
		err := c.skip(0)
		require.Equal(t, json.Valid(data), err == nil && c.done(), "%q: %v", data, err)
	})
}

func TestIntegersAreExact(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "7": 7, "-7": -7, "-0": 0, "999999999999999999": 999999999999999999, "1783761000000000001": 1783761000000000001,
		"9223372036854775807": 9223372036854775807, "-9223372036854775808": -9223372036854775808,
	} {
		c := cursor{line: []byte(" " + text)}
		got, err := c.integer()
		require.NoError(t, err, text)
		assert.Equal(t, want, got)
		assert.True(t, c.done(), text)
	}
	for _, text := range []string{"", "-", "+1", "1.0", "1e3", "1E3", "9223372036854775808", "99999999999999999999", `"1"`, "null", "x"} {
		c := cursor{line: []byte(text)}
		_, err := c.integer()
		assert.Error(t, err, text)
	}
	c := cursor{line: []byte("042")}
	_, err := c.integer()
	assert.True(t, err != nil || !c.done(), "a leading zero is no JSON")
}

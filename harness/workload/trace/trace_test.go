package trace

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	azure = azureHeader + "\r\n" +
		"2023-11-16 18:15:46.6805900,374,44\r\n" +
		"2023-11-16 18:15:50.9951690,396,109\r\n" +
		"2023-11-16 18:15:50.9951690,879,55\r\n" // the same time is no error
	mooncake = `{"timestamp": 0, "input_length": 1025, "output_length": 500, "hash_ids": [0, 1, 2]}
{"timestamp": 27482, "input_length": 512, "output_length": 1, "hash_ids": [18446744073709551615]}
{"timestamp": 27482.5, "input_length": 1, "output_length": 2, "hash_ids": [0]}
`
	guide = `{"timestamp": 1234500.0, "input_length": 256, "output_length": 128}
{"timestamp": 1234500.5, "input_length": 513, "output_length": 64, "hash_ids": [7, 8]}
`
	custom = `{"prompt": [3, 1, 2], "output_length": 4, "timestamp": 2}
{"input_length": 600, "output_length": 5, "hash_ids": [1, 2], "timestamp": 3}
{"text": "caf\u00e9 \"x\"", "output_length": 6, "timestamp": 3}
{"messages": [{"role": "user", "content": "hi"}], "output_length": 7, "timestamp": 4}
`
)

func read(text string, o Options) ([]Row, error) { return Read(strings.NewReader(text), "t", o) }

func rowsOf(t *testing.T, text string, o Options) []Row {
	t.Helper()
	rows, err := read(text, o)
	require.NoError(t, err)
	return rows
}

func TestAzure(t *testing.T) {
	first := time.Duration(time.Date(2023, 11, 16, 18, 15, 46, 680590000, time.UTC).UnixNano())
	want := []Row{
		{Line: 2, At: first, Input: 374, Output: 44},
		{Line: 3, At: first + 4314579*time.Microsecond, Input: 396, Output: 109},
		{Line: 4, At: first + 4314579*time.Microsecond, Input: 879, Output: 55},
	}
	for _, text := range []string{azure, strings.ReplaceAll(azure, "\r\n", "\n"), strings.TrimSuffix(azure, "\r\n")} {
		assert.Equal(t, want, rowsOf(t, text, Options{Format: "azure", Times: true, Rows: 3}))
	}
}

func TestMooncake(t *testing.T) {
	want := []Row{
		{Line: 1, Input: 1025, Output: 500, Blocks: []uint64{0, 1, 2}},
		{Line: 2, At: 27482 * time.Millisecond, Input: 512, Output: 1, Blocks: []uint64{1<<64 - 1}},
		{Line: 3, At: 27482500 * time.Microsecond, Input: 1, Output: 2, Blocks: []uint64{0}},
	}
	assert.Equal(t, want, rowsOf(t, mooncake, Options{Format: "mooncake", Times: true, Rows: 3}))
	for i := range want {
		want[i].At *= 1000
	}
	assert.Equal(t, want, rowsOf(t, mooncake, Options{Format: "vllm", Unit: time.Second, Times: true, Rows: 3}))
}

func TestGuideLLM(t *testing.T) {
	assert.Equal(t, []Row{
		{Line: 1, At: 1234500 * time.Second, Input: 256, Output: 128},
		{Line: 2, At: 1234500500 * time.Millisecond, Input: 513, Output: 64, Blocks: []uint64{7, 8}},
	}, rowsOf(t, guide, Options{Format: "guidellm", Times: true, Rows: 2}))
}

func TestCustom(t *testing.T) {
	want := []Row{
		{Line: 1, At: 120 * time.Second, Input: 3, Output: 4, Prompt: []int{3, 1, 2}},
		{Line: 2, At: 180 * time.Second, Input: 600, Output: 5, Blocks: []uint64{1, 2}},
		{Line: 3, At: 180 * time.Second, Output: 6, Text: `"caf\u00e9 \"x\""`},
		{Line: 4, At: 240 * time.Second, Output: 7, Text: `[{"role": "user", "content": "hi"}]`, Chat: true},
	}
	assert.Equal(t, want, rowsOf(t, custom, Options{Format: "custom", Unit: time.Minute, Times: true, Rows: 4}))
	for i := range want {
		want[i].At = 0
	}
	assert.Equal(t, want, rowsOf(t, custom, Options{Format: "custom", Rows: 4}), "times are not asked for")
}

func TestSkipAndRows(t *testing.T) {
	rows := rowsOf(t, mooncake, Options{Format: "mooncake", Skip: 1, Rows: 1})
	require.Len(t, rows, 1)
	assert.Equal(t, 2, rows[0].Line)
	_, err := read(mooncake, Options{Format: "mooncake", Skip: 1, Rows: 3})
	assert.EqualError(t, err, "t: has 3 rows, 4 are needed (1 left out, 3 sent): use fewer requests")
	assert.Empty(t, rowsOf(t, mooncake, Options{Format: "mooncake"}))
}

// What lies behind the last row that is needed is not read: a huge file costs
// no more than its beginning.
func TestReadsNoFurther(t *testing.T) {
	failing := io.MultiReader(strings.NewReader(mooncake+strings.Repeat("x", 1<<17)), iotest.ErrReader(errors.New("too far")))
	rows, err := Read(failing, "t", Options{Format: "mooncake", Rows: 3})
	require.NoError(t, err)
	assert.Len(t, rows, 3)
	_, err = Read(iotest.ErrReader(errors.New("disk gone")), "t", Options{Format: "mooncake", Rows: 1})
	assert.EqualError(t, err, "t:1: disk gone")
}

func TestTimesGoForward(t *testing.T) {
	text := strings.Replace(mooncake, "27482.5", "27481", 1)
	_, err := read(text, Options{Format: "mooncake", Times: true, Rows: 3})
	assert.EqualError(t, err, "t:3: the time is 1ms before that of the row above: sort the trace by time")
	rowsOf(t, text, Options{Format: "mooncake", Rows: 3}) // no times are replayed
}

// A row is refused, never repaired. Each change breaks the second row.
func TestBadRows(t *testing.T) {
	for _, c := range []struct{ format, from, to, want string }{
		{"azure", ".9951690,396", ".995169,396", "t:3: TIMESTAMP: want a time such as 2023-11-16 18:15:46.6805900, got \"2023-11-16 18:15:50.995169\""},
		{"azure", "50.9951690,396", "50.9951690 ,396", "t:3: TIMESTAMP: want a time"},
		{"azure", "2023-11-16 18:15:50.9951690,396", "2023-02-30 18:15:50.9951690,396", "t:3: TIMESTAMP: want a time"},
		{"azure", "2023-11-16 18:15:50.9951690,396", "0023-11-16 18:15:50.9951690,396", "t:3: TIMESTAMP: want a time"},
		{"azure", ",396,109", ",396", "t:3: want TIMESTAMP,ContextTokens,GeneratedTokens, got"},
		{"azure", ",396,109", ",396,109,1", "t:3: want TIMESTAMP,ContextTokens,GeneratedTokens, got"},
		{"azure", ",396,", ",0,", "t:3: ContextTokens is 0, want 1 to 1048576"},
		{"azure", ",396,", ",-5,", `t:3: ContextTokens: want a whole number, got "-5"`},
		{"azure", ",109", ",1e2", `t:3: GeneratedTokens: want a whole number, got "1e2"`},
		{"azure", ",109", ",99999999999", `t:3: GeneratedTokens: want a whole number, got "99999999999"`},
		{"azure", ",109", ",1048577", "t:3: GeneratedTokens is 1048577, want 1 to 1048576"},
		{"azure", "2023-11-16 18:15:50.9951690,396,109", "", "t:3: empty line"},
		{"azure", "ContextTokens", "Context", "t:1: want the header TIMESTAMP,ContextTokens,GeneratedTokens, got"},
		{"mooncake", "[18446744073709551615]", "[1, 2]", "t:2: input_length 512 makes 1 blocks of 512 tokens, and there are 2 hash_ids"},
		{"mooncake", "[18446744073709551615]", "[]", "t:2: input_length 512 makes 1 blocks of 512 tokens, and there are 0 hash_ids"},
		{"mooncake", `"input_length": 512`, `"input_length": 513`, "t:2: input_length 513 makes 2 blocks of 512 tokens, and there are 1 hash_ids"},
		{"mooncake", `, "hash_ids": [18446744073709551615]`, "", "t:2: hash_ids is missing"},
		{"mooncake", "[18446744073709551615]", "[18446744073709551616]", "t:2: not a row of this format"},
		{"mooncake", "[18446744073709551615]", "[-1]", "t:2: not a row of this format"},
		{"mooncake", "[18446744073709551615]", "[1.5]", "t:2: not a row of this format"},
		{"mooncake", `"timestamp": 27482, `, "", "t:2: timestamp is missing"},
		{"mooncake", "27482,", "-1,", `t:2: timestamp: want a number of at least 0, got "-1"`},
		{"mooncake", "27482,", `"27482",`, "t:2: timestamp: want a number"},
		{"mooncake", "27482,", "null,", "t:2: timestamp: want a number"},
		{"mooncake", "27482,", "1e999999999,", "t:2: timestamp: want a number"},
		{"mooncake", "27482,", "1e30,", "t:2: timestamp: 1e30 times 1ms is beyond 292 years"},
		{"mooncake", `"input_length": 512, `, "", "t:2: input_length is missing"},
		{"mooncake", `"input_length": 512`, `"input_length": 512.0`, "t:2: not a row of this format"},
		{"mooncake", `"output_length": 1,`, "", "t:2: output_length is missing"},
		{"mooncake", `"output_length": 1,`, `"output_length": 0,`, "t:2: output_length is 0, want 1 to 1048576"},
		{"mooncake", `"output_length": 1,`, `"output_length": 1, "priority": 2,`, `t:2: not a row of this format: json: unknown field "priority"`},
		{"mooncake", "615]}", "615]} {}", "t:2: a row is one JSON object, and more follows it"},
		{"mooncake", "615]}", "615]", "t:2: the row is cut: its JSON object does not end"},
		{"mooncake", `{"timestamp": 27482,`, `[{"timestamp": 27482,`, "t:2: want a JSON object, got"},
		{"custom", `"prompt": [3, 1, 2]`, `"prompt": []`, "t:1: the number of prompt tokens is 0, want 1 to 1048576"},
		{"custom", `"prompt": [3, 1, 2], `, "", "t:1: want one of input_length, prompt, text and messages, got 0 of them"},
		{"custom", `"prompt": [3, 1, 2]`, `"prompt": [3], "text": "x"`, "t:1: want one of input_length, prompt, text and messages, got 2 of them"},
		{"custom", `"prompt": [3, 1, 2]`, `"prompt": [3], "hash_ids": [1]`, "t:1: hash_ids describe prompts of a given input_length: leave them out"},
		{"custom", `"prompt": [3, 1, 2]`, `"prompt": [3.5]`, "t:1: not a row of this format"},
		{"custom", `"caf\u00e9 \"x\""`, `""`, "t:3: text: want a string that is not empty"},
		{"custom", `"caf\u00e9 \"x\""`, `["x"]`, "t:3: text: want a string that is not empty"},
		{"custom", `"caf\u00e9 \"x\""`, `null`, "t:3: text: want a string that is not empty"},
		{"custom", `[{"role": "user", "content": "hi"}]`, "[]", "t:4: messages: want a list of messages that is not empty"},
		{"custom", `[{"role": "user", "content": "hi"}]`, `"hi"`, "t:4: messages: want a list of messages that is not empty"},
		{"custom", `[{"role": "user", "content": "hi"}]`, `[{"role": "user"}]`, "t:4: messages: number 1 has no role or no content"},
	} {
		text, rows := map[string]string{"azure": azure, "mooncake": mooncake, "custom": custom}[c.format], 3
		if c.format == "custom" {
			rows = 4
		}
		require.Contains(t, text, c.from)
		got, err := read(strings.Replace(text, c.from, c.to, 1), Options{Format: c.format, Unit: time.Second, Times: true, Rows: rows})
		assert.Nil(t, got, c.want)
		if assert.Error(t, err, c.want) {
			assert.Contains(t, err.Error(), c.want)
		}
	}
}

func TestBadFiles(t *testing.T) {
	for _, c := range []struct {
		text, want string
		o          Options
	}{
		{"", "t: the file is empty, want the header " + azureHeader, Options{Format: "azure", Rows: 1}},
		{azureHeader, "t: has 0 rows, 1 are needed (0 left out, 1 sent): use fewer requests", Options{Format: "azure", Rows: 1}},
		{"", "t: has 0 rows, 1 are needed (0 left out, 1 sent): use fewer requests", Options{Format: "mooncake", Rows: 1}},
		{mooncake, `t: trace format "csv" is not known: use azure, mooncake, vllm, guidellm or custom`, Options{Format: "csv", Rows: 1}},
		{mooncake, "t:1: timestamp: what it counts is not declared", Options{Format: "vllm", Rows: 1}},
		{azure, "t:1: want a JSON object, got \"" + azureHeader + "\"", Options{Format: "mooncake", Rows: 1}},
		{strings.Repeat("x", maxLine+1), "t:1: line is longer than 8 MiB", Options{Format: "mooncake", Rows: 1}},
		{strings.Repeat(" ", maxLine-2), "t:1: want a JSON object, got \"" + strings.Repeat(" ", 80) + "\"", Options{Format: "mooncake", Rows: 1}},
		{"\xff\xfe{", "t:1: want a JSON object, got \"\\xff\\xfe{\"", Options{Format: "guidellm", Rows: 1}},
	} {
		_, err := read(c.text, c.o)
		assert.EqualError(t, err, c.want)
	}
}

func TestTotalIsBounded(t *testing.T) {
	row := fmt.Sprintf(`{"timestamp": 0, "input_length": %d, "output_length": 1}`, maxTokens) + "\n"
	_, err := read(strings.Repeat(row, maxTotal/maxTokens+1), Options{Format: "guidellm", Rows: maxTotal/maxTokens + 1})
	assert.EqualError(t, err, "t:129: more than 134217728 prompt tokens up to here: use fewer requests")
}

// A file that is cut inside a JSON row is never a shorter trace.
func TestCutAnywhere(t *testing.T) {
	for n := range strings.LastIndex(mooncake, "}") {
		_, err := read(mooncake[:n], Options{Format: "mooncake", Times: true, Rows: 3})
		assert.Error(t, err, "cut at %d", n)
	}
	for n := range strings.LastIndex(azure, ",") + 2 {
		_, err := read(azure[:n], Options{Format: "azure", Times: true, Rows: 3})
		assert.Error(t, err, "cut at %d", n)
	}
}

func TestTimestampIsExact(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "1783761000.000000001": 1783761000000000001, "1783761000.0000000019": 1783761000000000001,
		"5e-05": 50 * time.Microsecond, "1.5E3": 1500 * time.Second, "0.1": 100 * time.Millisecond,
	} {
		got, err := timestamp([]byte(text), time.Second)
		assert.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
}

func FuzzRead(f *testing.F) {
	for format, text := range map[string]string{"azure": azure, "mooncake": mooncake, "guidellm": guide, "custom": custom, "vllm": "null\n{}"} {
		f.Add(format, []byte(text), true, 0, 2)
		f.Add(format, []byte(text[:len(text)/2]), false, 1, 1)
	}
	f.Fuzz(func(t *testing.T, format string, text []byte, times bool, skip, count int) {
		o := Options{Format: format, Unit: time.Millisecond, Times: times, Skip: max(skip, 0) % 8, Rows: max(count, 0) % 8}
		rows, err := Read(strings.NewReader(string(text)), "t", o)
		if err != nil {
			require.Nil(t, rows)
			require.True(t, strings.HasPrefix(err.Error(), "t:"), "%v", err)
			return
		}
		require.Len(t, rows, o.Rows)
		last := time.Duration(0)
		for _, r := range rows {
			require.True(t, r.Output >= 1 && r.Output <= maxTokens && r.Input >= 0 && r.Input <= maxTokens)
			require.True(t, r.Input > 0 != (r.Text != ""))
			require.True(t, r.Blocks == nil || len(r.Blocks) == (r.Input+BlockTokens-1)/BlockTokens)
			require.True(t, r.Prompt == nil || len(r.Prompt) == r.Input)
			require.True(t, !times || r.At >= last)
			last = r.At
		}
	})
}

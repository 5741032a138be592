package load

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// cut pushes a stream piece by piece; the time of a piece is its number.
func cut(t require.TestingT, pieces ...string) (data []string, at []int64, pending bool) {
	e := &events{emit: func(b []byte, when int64) {
		data, at = append(data, string(b)), append(at, when)
	}}
	for i, p := range pieces {
		require.NoError(t, e.push([]byte(p), int64(i)))
	}
	return data, at, e.pending()
}

func TestEventsFollowTheStandard(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want []string
		open bool
	}{
		"lf":                    {"data: a\n\ndata: b\n\n", []string{"a", "b"}, false},
		"crlf":                  {"data: a\r\n\r\ndata: b\r\n\r\n", []string{"a", "b"}, false},
		"cr":                    {"data: a\r\rdata: b\r\r", []string{"a", "b"}, false},
		"mixed":                 {"data: a\r\n\ndata: b\n\r\n", []string{"a", "b"}, false},
		"comment":               {": ping\n\ndata: a\n: ping\n\n", []string{"a"}, false},
		"several data lines":    {"data: a\ndata: b\ndata:\n\n", []string{"a\nb\n"}, false},
		"one space goes":        {"data:  a\n\ndata:b\n\n", []string{" a", "b"}, false},
		"other fields":          {"event: x\nid: 1\nretry: 5\ndata: a\nnonsense\n\n", []string{"a"}, false},
		"field without colon":   {"data\n\n", []string{""}, false},
		"name is not a prefix":  {"database: a\n\ndata : b\n\n", nil, false},
		"byte order mark":       {"\xef\xbb\xbfdata: a\n\n", []string{"a"}, false},
		"mark only at start":    {"data: a\n\n\xef\xbb\xbfdata: b\n\n", []string{"a"}, false},
		"empty":                 {"", nil, false},
		"empty lines":           {"\n\r\n\r\r\n", nil, false},
		"cut in a line":         {"data: a\n\ndata: b", []string{"a"}, true},
		"cut before empty line": {"data: a\n\ndata: b\n", []string{"a"}, true},
	} {
		data, _, open := cut(t, c.in)
		assert.Equal(t, c.want, data, name)
		assert.Equal(t, c.open, open, name)
	}
}

func TestEventTimeIsThatOfItsLastByte(t *testing.T) {
	_, at, _ := cut(t, "data: a\n", "\ndata: b\n\ndata: c\r\n", "\r", "\ndata: d\n\n")
	assert.Equal(t, []int64{1, 1, 2, 3}, at)
}

func TestHugeLinesAreRefused(t *testing.T) {
	piece := []byte(strings.Repeat("x", 1<<16))
	push := func(prefix string, between []byte) error {
		e := &events{emit: func([]byte, int64) {}}
		err := e.push([]byte(prefix), 0)
		for range 20 {
			if err != nil {
				return err
			}
			err = e.push(append(bytes.Clone(piece), between...), 0)
		}
		return err
	}
	assert.ErrorIs(t, push("data: ", nil), errHugeLine)
	assert.ErrorIs(t, push("data: ", []byte("\ndata: ")), errHugeLine, "many lines of one event")
	assert.NoError(t, push("data: ", []byte("\n\ndata: ")))
}

// simpleEvents is the standard in its plainest form, for whole streams.
func simpleEvents(stream string) (out []string) {
	stream = strings.TrimPrefix(stream, "\xef\xbb\xbf")
	stream = strings.ReplaceAll(strings.ReplaceAll(stream, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(stream, "\n")
	var data []string
	for _, line := range lines[:len(lines)-1] {
		name, value, _ := strings.Cut(line, ":")
		switch {
		case line == "" && data != nil:
			out, data = append(out, strings.Join(data, "\n")), nil
		case name == "data":
			data = append(data, strings.TrimPrefix(value, " "))
		}
	}
	return out
}

func FuzzSSE(f *testing.F) {
	for _, s := range []string{"data: a\n\n", "data: a\r\ndata: b\r\n\r\n", "data\r\rdata:\r\n\n", ": x\n\ndata: [DONE]\n\n", "\xef\xbb\xbf"} {
		f.Add(s, 3, 5)
	}
	f.Fuzz(func(t *testing.T, stream string, a, b int) {
		if len(stream) > 1<<16 {
			return
		}
		want := simpleEvents(stream)
		whole, _, open := cut(t, stream)
		assert.Equal(t, want, whole)
		a = min(max(a, 0), len(stream))
		b = min(max(b, a), len(stream))
		split, _, splitOpen := cut(t, stream[:a], stream[a:b], stream[b:])
		assert.Equal(t, want, split)
		assert.Equal(t, open, splitOpen)
	})
}

package load

import (
	"bytes"
	"io"
	"net/http/httputil"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// unframe pushes pieces of a chunked body.
func unframe(pieces ...string) (string, bodyState, error) {
	var out bytes.Buffer
	b := &body{state: chunkSize, emit: func(p []byte, _ int64) error { out.Write(p); return nil }}
	for _, p := range pieces {
		if err := b.push([]byte(p), 0); err != nil {
			return out.String(), b.state, err
		}
	}
	return out.String(), b.state, nil
}

func TestChunkedBody(t *testing.T) {
	in := "5\r\nhello\r\nb;name=x\r\n, there it \r\n2 \r\nis\r\n0\r\nTrailer: x\r\n\r\n"
	for i := range len(in) + 1 {
		out, state, err := unframe(in[:i], in[i:])
		require.NoError(t, err)
		assert.Equal(t, "hello, there it is", out)
		assert.Equal(t, complete, state)
	}
	_, state, err := unframe(in[:len(in)-1])
	require.NoError(t, err)
	assert.NotEqual(t, complete, state, "cut")
}

func TestChunkedBodyRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"x\r\n":                             "not a length",
		"\r\n":                              "not a length",
		"-1\r\n":                            "not a length",
		"ffffffffffffffff\r\n":              "not a length",
		"2\r\nabc\r\n":                      "longer than its header",
		"0\r\n\r\nHTTP/1.1":                 "after the end",
		strings.Repeat("0", 5000) + "1\r\n": "longer than 4096",
	} {
		_, _, err := unframe(in)
		assert.ErrorContains(t, err, want, "%.20q", in)
	}
}

func FuzzBody(f *testing.F) {
	f.Add("5\r\nhello\r\n0\r\n\r\n", 4)
	f.Add("1\r\na\r\n1;x\r\nb\r\n0\r\nT: v\r\n\r\n", 9)
	f.Add("0\n\n", 1)
	f.Fuzz(func(t *testing.T, in string, at int) {
		at = min(max(at, 0), len(in))
		whole, state, err := unframe(in)
		split, splitState, splitErr := unframe(in[:at], in[at:])
		assert.Equal(t, whole, split)
		assert.Equal(t, state, splitState)
		assert.Equal(t, err, splitErr)
		want, wantErr := io.ReadAll(httputil.NewChunkedReader(strings.NewReader(in)))
		if err == nil && state == complete && wantErr == nil {
			assert.Equal(t, string(want), whole)
		}
	})
}

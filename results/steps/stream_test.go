package steps

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

// stream is one step file as a recorder would write it, open to mutation.
type stream struct {
	header Header
	recs   []Record
	footer *Footer
	tail   string // after the last line
	opt    Options
}

const testFile = "opprof-s1-dp0-7-1000.jsonl"

// goodStream holds two requests: A with 300 + 4 tokens, split by a budget of
// 256, and B with 20 + 2. Steps 3 to 5 are empty.
func goodStream() *stream {
	s := &stream{
		header: Header{
			Header: 1, Schema: 1, Revision: "r2-onepass", VLLM: "0.24.0", Commit: "ee0da84", Runner: "v1",
			Blobs: map[string]string{"vllm/envs.py": "ab"}, MaxNumSeqs: 8, MaxNumBatchedTokens: 256, BlockSize: 16,
			EngineID: "dp0-pid7", PID: 7, StartWallNS: 1000, StartMonoNS: 50,
			ContextEdges: ContextEdges, ChunkEdges: ChunkEdges,
		},
		footer: &Footer{Footer: 1, Schema: 1, EngineID: "dp0-pid7", Encoded: 6, Written: 6, BacklogMax: 1},
		opt: Options{
			Client: &ClientTokens{Prefill: 320, Decode: 4},
			Phases: []Phase{{Name: "first", StartNS: 1000, EndNS: 1_250_000}, {Name: "second", StartNS: 1_250_001, EndNS: 9e9}},
		},
	}
	s.recs = []Record{
		step(0, func(r *Record) { prefill(r, 256); r.ChunkedPrefill.First = 1; lengths(r, 256) }),
		step(1, func(r *Record) {
			prefill(r, 44, 20)
			r.ChunkedPrefill.Final, r.ChunkedPrefill.Unsplit = 1, 1
			lengths(r, 300, 20)
		}),
		step(2, func(r *Record) { decode(r, 2); lengths(r, 301, 21) }),
		step(5, func(r *Record) { r.EmptySteps, r.ModelExecuted, r.CUDAGraph = 3, false, nil }),
		step(6, func(r *Record) { decode(r, 1); lengths(r, 302) }),
		step(7, func(r *Record) { decode(r, 1); lengths(r, 303) }),
	}
	return s
}

// step is submitted every 100 us and ready 60 us later.
func step(index int64, fill func(*Record)) Record {
	at := index * 100_000
	r := Record{
		Schema: 1, EngineID: "dp0-pid7", StepIndex: index, ModelExecuted: true, Backlog: min(1, index),
		SubmitWallNS: 1_000_000 + at, SubmitMonoNS: 1000 + at, ReadyMonoNS: 61_000 + at, CompleteMonoNS: 62_000 + at,
		Queues:    Queues{Running: 2, Waiting: 1},
		KV:        KV{TotalBlocks: 1000, FreeBlocks: 600, UsedBlocks: 400, Usage: 0.4},
		Prefix:    Prefix{Local: &Lookups{Requests: 1, Queries: 300, Hits: 0}},
		CUDAGraph: &CUDAGraph{Hit: true, RuntimeMode: "PIECEWISE"},
	}
	fill(&r)
	r.ScheduledTokens = r.PrefillTokens + r.DecodeTokens
	r.ScheduledRequests = r.PrefillRequests + r.DecodeBatchSize
	if g := r.CUDAGraph; g != nil {
		g.UnpaddedTokens, g.BucketTokens = r.ScheduledTokens, r.ScheduledTokens+8
		g.PaddingTokens = 8
	}
	return r
}

func prefill(r *Record, chunks ...int64) {
	for _, n := range chunks {
		r.PrefillRequests++
		r.PrefillTokens += n
		r.ChunkedPrefill.Tokens += n
		r.ChunkedPrefill.SizeHist[ChunkBin(n)]++
	}
}

func decode(r *Record, n int64) { r.DecodeBatchSize, r.DecodeTokens = n, n }

func lengths(r *Record, all ...int64) {
	for _, n := range all {
		r.ContextLengthHist[ContextBin(n)]++
	}
}

// preempt makes B lose its cache before step 6, where it computes its 21
// tokens again.
func preempt(s *stream) {
	s.recs[2].Preemptions = 1
	r := &s.recs[4]
	r.Resumed = Resumed{Requests: 1, Tokens: 21}
	r.DecodeBatchSize, r.DecodeTokens, r.ScheduledRequests, r.ScheduledTokens = 2, 22, 2, 22
	r.CUDAGraph.UnpaddedTokens, r.CUDAGraph.BucketTokens = 22, 30
	lengths(r, 22)
}

func (s *stream) lines(t testing.TB) [][]byte {
	var lines [][]byte
	put := func(v any) {
		b, err := json.Marshal(v)
		require.NoError(t, err)
		lines = append(lines, b)
	}
	put(s.header)
	for _, r := range s.recs {
		put(r)
	}
	if s.footer != nil {
		put(s.footer)
	}
	return lines
}

func (s *stream) bytes(t testing.TB) []byte {
	return append(append(bytes.Join(s.lines(t), []byte("\n")), '\n'), s.tail...)
}

// runDir stores the streams as the step files of a run directory.
func runDir(t testing.TB, files map[string][]byte) string {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, Folder), 0o755))
	for name, data := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, Folder, name), data, 0o644))
	}
	return dir
}

func gzipped(t testing.TB, data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

func zstded(t testing.TB, data []byte) []byte {
	w, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	return w.EncodeAll(data, nil)
}

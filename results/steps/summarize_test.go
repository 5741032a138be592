package steps

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/results"
)

func summary(t testing.TB, s *stream) *results.Steps {
	out, err := Summarize(results.Folder(runDir(t, map[string][]byte{testFile: s.bytes(t)})), s.opt)
	require.NoError(t, err)
	return out
}

func failing(s *results.Steps) []string {
	var ids []string
	for _, c := range s.Checks {
		if c.Failed > 0 {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

func check(t testing.TB, s *results.Steps, id string) results.Check {
	for _, c := range s.Checks {
		if c.ID == id {
			return c
		}
	}
	require.Fail(t, "no check "+id)
	return results.Check{}
}

func TestHealthyStream(t *testing.T) {
	got := summary(t, goodStream())
	assert.Empty(t, failing(got))
	for _, c := range got.Checks {
		assert.Positive(t, c.Checked, "%s was never evaluated: %s", c.ID, c.Skipped)
	}
	assert.Equal(t, "steps/"+testFile, got.Files[0].Name)
	assert.Equal(t, int64(6), got.Records)
	assert.Equal(t, int64(8), got.Steps)
	assert.Equal(t, int64(3), got.EmptySteps)
	assert.Equal(t, int64(320), got.PrefillTokens)
	assert.Equal(t, int64(4), got.DecodeTokens)
	assert.Equal(t, int64(1800), got.PrefixQueries)
	assert.Equal(t, int64(1), got.BacklogMax)
	assert.Equal(t, got.Files[0].Size, got.Bytes)
	assert.True(t, got.Footer)
	assert.Equal(t, []int64{2, 1, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0}, got.ContextHist)
	assert.Equal(t, []int64{0, 1, 1, 0, 1, 0, 0, 0, 0}, got.ChunkHist)
}

// Steps 0 to 2 are submitted in the first phase; the empty run counts nowhere.
func TestPhases(t *testing.T) {
	s := goodStream()
	s.recs[1].ReadyMonoNS += 50_000 // 110 us, into step 2
	s.recs[1].CompleteMonoNS += 50_000
	var times []float64
	s.opt.StepTime = func(phase int, seconds float64) {
		if phase == 0 {
			times = append(times, seconds)
		}
	}
	got := summary(t, s)
	assert.Empty(t, failing(got))
	assert.InDeltaSlice(t, []float64{60e-6, 110e-6, 50e-6}, times, 1e-12, "what the quantiles are of")
	first := got.Phases[0]
	assert.Equal(t, "first", first.Phase)
	assert.Equal(t, int64(3), first.Records)
	assert.InDelta(t, 60e-6, first.StepP50, 1e-12) // 60, 110, 50: the last begins when step 1 is ready
	assert.InDelta(t, 105e-6, first.StepP95, 1e-12)
	assert.InDelta(t, 2.0/3, first.MeanDecode, 1e-12)
	assert.Equal(t, int64(2), got.Phases[1].Records)
}

var mutations = []struct {
	name   string
	mutate func(s *stream)
	check  string
	first  string // part of the first offender
}{
	{"step missing", func(s *stream) { s.recs[4].StepIndex, s.recs[5].StepIndex = 7, 8 }, "contiguous-steps", "jsonl:6: step 7: step_index 7 follows 5"},
	{"first index", func(s *stream) { s.recs[0].DroppedRecordsBefore = 0; shift(s, 1) }, "contiguous-steps", "step_index 1 follows -1"},
	{"empty run too long", func(s *stream) { s.recs[3].EmptySteps = 4 }, "contiguous-steps", "empty_steps 4"},
	{"drop not lost", func(s *stream) { s.recs[2].DroppedRecordsBefore = 1; s.footer.Dropped = 1 }, "contiguous-steps", "dropped_records_before 1"},
	{"full step called empty", func(s *stream) { s.recs[2].EmptySteps, s.recs[2].CUDAGraph = 1, nil }, "empty-steps", "1 with 2 scheduled tokens"},
	{"empty run with graph", func(s *stream) { s.recs[3].CUDAGraph = &CUDAGraph{RuntimeMode: "NONE"} }, "empty-steps", "CUDA graph stat"},
	{"empty run split", splitEmptyRun, "empty-steps", "directly after another"},
	{"scheduled tokens", func(s *stream) {
		s.recs[2].ScheduledTokens++
		s.recs[2].CUDAGraph.UnpaddedTokens++
		s.recs[2].CUDAGraph.PaddingTokens--
	}, "token-split", "prefill_tokens + decode_tokens is 2, scheduled_tokens is 3"},
	{"decode batch", func(s *stream) { s.recs[2].DecodeBatchSize++ }, "request-split", "is 3, scheduled_requests is 2"},
	{"unpadded tokens", func(s *stream) { s.recs[0].CUDAGraph.UnpaddedTokens++; s.recs[0].CUDAGraph.PaddingTokens-- }, "unpadded-tokens", "unpadded_tokens is 257, scheduled_tokens is 256"},
	{"context bin", func(s *stream) { s.recs[1].ContextLengthHist[3]++ }, "context-histogram", "context_length_hist is 3, scheduled_requests is 2"},
	{"chunk bin", func(s *stream) { s.recs[1].ChunkedPrefill.SizeHist[0]++ }, "chunk-histogram", "chunk_size_hist is 3, prefill_requests is 2"},
	{"chunk class", func(s *stream) { s.recs[1].ChunkedPrefill.Middle = 1 }, "chunk-classes", "is 3, prefill_requests is 2"},
	{"chunk tokens", func(s *stream) { s.recs[1].ChunkedPrefill.Tokens-- }, "chunk-tokens", "is 63, prefill_tokens is 64"},
	{"usage above 1", func(s *stream) { full(&s.recs[1]); s.recs[1].KV.Usage = 1.0000001 }, "kv-usage", "1.0000001 is outside"},
	{"usage", func(s *stream) { s.recs[1].KV.Usage = 0.41 }, "kv-blocks", "used 400 of 1000 blocks is 0.400000, kv.usage is 0.41"},
	{"null block counted", func(s *stream) { s.recs[1].KV.TotalBlocks++ }, "kv-blocks", "is 1000, kv.total_blocks is 1001"},
	{"local hits", func(s *stream) { s.recs[1].Prefix.Local.Hits = 301 }, "prefix-hits", "prefix.local has 301 hits in 300"},
	{"external hits", func(s *stream) { s.recs[1].Prefix.External = &Lookups{PreemptedHits: 1} }, "prefix-hits", "prefix.external has 1 preempted hits in 0"},
	{"hit in mode NONE", func(s *stream) { s.recs[1].CUDAGraph.RuntimeMode = "NONE" }, "graph-mode", `hit is true in mode "NONE"`},
	{"no hit in mode FULL", func(s *stream) { s.recs[1].CUDAGraph.Hit = false }, "graph-mode", `hit is false in mode "PIECEWISE"`},
	{"padding", func(s *stream) { s.recs[1].CUDAGraph.PaddingTokens = 9 }, "padding", "is 8, cudagraph.padding_tokens is 9"},
	{"bucket too small", func(s *stream) { s.recs[1].CUDAGraph.BucketTokens = 60 }, "padding", "bucket of 60 for 64 tokens"},
	{"negative counter", func(s *stream) { s.recs[1].Queues.Deferred = -1 }, "non-negative", "queues.deferred is -1"},
	{"negative bin", func(s *stream) { s.recs[1].ContextLengthHist[0] -= 2; s.recs[1].ContextLengthHist[1] += 2 }, "non-negative", "context_length_hist is -1"},
	{"backlog", func(s *stream) { s.recs[1].Backlog = 4; s.footer.BacklogMax = 4 }, "backlog", "backlog 4, but only 3"},
	{"ready before submit", func(s *stream) { s.recs[2].ReadyMonoNS = s.recs[2].SubmitMonoNS - 1 }, "monotone-times", "out of order"},
	{"time goes back", func(s *stream) { s.recs[2].SubmitMonoNS = s.recs[1].SubmitMonoNS - 1 }, "monotone-times", "go back"},
	{"torn tail", func(s *stream) { s.footer, s.tail = nil, `{"footer":1,"sch`; s.opt.TensorParallel = 2 }, "torn-tail", "16 bytes after"},
	{"no footer", func(s *stream) { s.footer = nil }, "footer", "no footer"},
	{"footer written", func(s *stream) { s.footer.Written, s.footer.Encoded = 7, 7 }, "footer-counts", "written is 7, the file has 6"},
	{"footer encoded", func(s *stream) { s.footer.Encoded = 7 }, "footer-counts", "encoded is 7 with 6 written"},
	{"footer backlog", func(s *stream) { s.footer.BacklogMax = 0 }, "footer-counts", "backlog_max is 0"},
	{"footer dropped", func(s *stream) { drop(s); s.footer.Dropped = 0 }, "footer-counts", "dropped is 0, the records say 1"},
	{"client prefill", func(s *stream) { s.opt.Client.Prefill++ }, "prefill-tokens-client", "320 prefill tokens recorded, the client's requests explain 321"},
	{"client decode", func(s *stream) { s.opt.Client.Decode-- }, "decode-tokens-client", "4 decode tokens recorded, the client's requests explain 3"},
	{"too few with preemption", func(s *stream) { preempt(s); s.opt.Client = &ClientTokens{320 + 1, 4 - 1} }, "prefill-tokens-client", "320 prefill tokens"},
	{"resumed too few", func(s *stream) { preempt(s); s.recs[4].Resumed.Tokens = 20 }, "resumed", "21 tokens more than the client's requests explain, but 20 resumed"},
	{"resumed too many", func(s *stream) { preempt(s); s.recs[4].Resumed.Tokens = 22 }, "resumed", "but 22 resumed"},
	{"resumed alone", func(s *stream) { s.recs[4].Resumed.Tokens = 1 }, "resumed", "without a preemption"},
}

func shift(s *stream, by int64) {
	for i := range s.recs {
		s.recs[i].StepIndex += by
	}
}

func splitEmptyRun(s *stream) {
	a, b := s.recs[3], s.recs[3]
	a.StepIndex, a.EmptySteps = 4, 2
	b.EmptySteps = 1
	s.recs = append(append(append([]Record{}, s.recs[:3]...), a, b), s.recs[4:]...)
	s.footer.Written, s.footer.Encoded = 7, 7
}

func full(r *Record) { r.KV.FreeBlocks, r.KV.UsedBlocks = 0, 1000 }

// drop loses the record of step 6 and says so.
func drop(s *stream) {
	s.recs = append(s.recs[:4], s.recs[5])
	s.recs[4].DroppedRecordsBefore = 1
	s.footer.Encoded, s.footer.Written, s.footer.Dropped = 5, 5, 1
}

func TestEachCheckFails(t *testing.T) {
	broken := map[string]bool{"format": true, "no-private-fields": true, "engines": true} // tests of their own
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			s := goodStream()
			m.mutate(s)
			got := summary(t, s)
			want := []string{m.check}
			if m.check == "torn-tail" { // no footer can follow, a warning here
				want = append(want, "footer")
			}
			require.Equal(t, want, failing(got))
			c := check(t, got, m.check)
			assert.Contains(t, c.First, m.first)
			assert.Contains(t, c.First+testFile, testFile)
			assert.False(t, c.Warning)
		})
		broken[m.check] = true
	}
	for _, id := range order {
		assert.True(t, broken[id], "no mutation breaks %s", id)
	}
}

func TestEveryCounterIsChecked(t *testing.T) {
	for _, c := range counters {
		r := goodStream().recs[1]
		r.Prefix.External = &Lookups{}
		assert.GreaterOrEqual(t, c.of(&r), int64(0), c.name)
	}
	r := Record{}
	assert.Empty(t, nonNegative(nil, &r))
}

func TestPrivateFields(t *testing.T) {
	for field, private := range map[string]bool{
		`"request_ids":3`: true, `"lens":[1,2]`: true, `"extra":{"prompt":"x"}`: true, `"seq":[128,77]`: true,
		`"queued_prefill_tokens":3`: false, `"latency_hist":[1,2]`: false, `"note":"x"`: false, `"width":1.5e3`: false,
	} {
		data := strings.Replace(string(goodStream().bytes(t)), `"scheduled_requests":2`, field+`,"scheduled_requests":2`, 1)
		got, err := Summarize(results.Folder(runDir(t, map[string][]byte{testFile: []byte(data)})), goodStream().opt)
		require.NoError(t, err)
		if !private {
			assert.Empty(t, failing(got), field)
			continue
		}
		assert.Equal(t, []string{"no-private-fields"}, failing(got), field)
		assert.Equal(t, int64(1), check(t, got, "no-private-fields").Failed, field)
	}
}

func TestPreemptionWithResumedTokens(t *testing.T) {
	s := goodStream()
	preempt(s)
	got := summary(t, s)
	assert.Empty(t, failing(got))
	assert.Equal(t, int64(1), got.Preemptions)
	assert.Equal(t, int64(21), got.ResumedTokens)
}

// With prefix caching the client is told of the second admission's cached
// tokens: the surplus may be larger by the hits of preempted requests, not more.
func TestPreemptionInMidPrefillWithPrefixCaching(t *testing.T) {
	for hits, want := range map[int64][]string{6: nil, 5: {"resumed"}} {
		s := goodStream()
		preempt(s)
		s.recs[4].Resumed.Tokens = 15
		*s.recs[4].Prefix.Local = Lookups{PreemptedRequests: 1, PreemptedQueries: 16, PreemptedHits: hits}
		assert.Equal(t, want, failing(summary(t, s)))
	}
}

func TestReportedDrops(t *testing.T) {
	s := goodStream()
	drop(s)
	got := summary(t, s)
	assert.Empty(t, failing(got))
	assert.Equal(t, int64(1), got.Dropped)
	assert.Contains(t, check(t, got, "prefill-tokens-client").Skipped, "1 record dropped")
	assert.Equal(t, int64(1), got.Phases[1].Records)
	assert.Zero(t, got.Phases[1].StepP50, "the step behind a gap has no known time")
}

// A dropped empty run of three counts three; drops at the end only show in the
// footer.
func TestDroppedEmptyRun(t *testing.T) {
	s := goodStream()
	s.recs = append(s.recs[:3], s.recs[4:]...)
	s.recs[3].DroppedRecordsBefore = 3
	s.footer.Written, s.footer.Encoded, s.footer.Dropped = 5, 6, 5
	got := summary(t, s)
	assert.Empty(t, failing(got))
	assert.Equal(t, int64(5), got.Dropped)
	assert.Equal(t, int64(8), got.Steps)
	assert.Zero(t, got.EmptySteps)
}

func TestFooterMayBeLostAboveTP1(t *testing.T) {
	s := goodStream()
	s.footer, s.opt.TensorParallel = nil, 2
	got := summary(t, s)
	assert.False(t, got.Footer)
	assert.True(t, check(t, got, "footer").Warning)

	s.recs = s.recs[:5] // the tail is lost with it: the client knows
	got = summary(t, s)
	assert.Equal(t, []string{"footer", "decode-tokens-client"}, failing(got))
	assert.False(t, check(t, got, "footer").Warning)
}

func TestDamageIsAFormatFailure(t *testing.T) {
	good := goodStream().bytes(t)
	damaged := []byte(strings.Replace(string(good), `"empty_steps":3`, `"empty_steps":x`, 1))
	for name, data := range map[string][]byte{
		testFile:          damaged,
		testFile + ".gz":  gzipped(t, good)[:200],
		testFile + ".zst": zstded(t, good)[:200],
		"opprof-x.jsonl":  nil,
	} {
		got, err := Summarize(results.Folder(runDir(t, map[string][]byte{name: data})), goodStream().opt)
		require.NoError(t, err)
		assert.Equal(t, []string{"format"}, failing(got), name)
		assert.True(t, strings.HasPrefix(check(t, got, "format").First, name+":"), check(t, got, "format").First)
		assert.False(t, got.Footer)
	}
}

func TestTwoFilesOfARank(t *testing.T) {
	s := goodStream()
	s.opt.Client = &ClientTokens{Prefill: 640, Decode: 8}
	other := "opprof-s1-dp1-8-1000.jsonl"
	second := strings.ReplaceAll(string(s.bytes(t)), "dp0-pid7", "dp1-pid8")
	got, err := Summarize(results.Folder(runDir(t, map[string][]byte{testFile: s.bytes(t), other: []byte(second)})), s.opt)
	require.NoError(t, err)
	assert.Empty(t, failing(got), "two ranks are fine")

	second = strings.ReplaceAll(second, "dp1-pid8", "dp0-pid8")
	got, err = Summarize(results.Folder(runDir(t, map[string][]byte{testFile: s.bytes(t), other: []byte(second)})), s.opt)
	require.NoError(t, err)
	assert.Equal(t, []string{"engines"}, failing(got))
	assert.Contains(t, check(t, got, "engines").First, "dp0 has 2 files")
}

func TestCompressedFilesGiveTheSameSummary(t *testing.T) {
	s := goodStream()
	plain := summary(t, s)
	for name, data := range map[string][]byte{".gz": gzipped(t, s.bytes(t)), ".zst": zstded(t, s.bytes(t))} {
		got, err := Summarize(results.Folder(runDir(t, map[string][]byte{testFile + name: data})), s.opt)
		require.NoError(t, err)
		assert.Equal(t, int64(len(data)), got.Files[0].Size)
		got.Files = plain.Files
		assert.Equal(t, plain, got)
	}
}

func TestNoFiles(t *testing.T) {
	for _, dir := range []string{t.TempDir(), runDir(t, map[string][]byte{"notes.txt": []byte("x")})} {
		got, err := Summarize(results.Folder(dir), goodStream().opt)
		require.NoError(t, err)
		assert.Empty(t, got.Files)
		assert.False(t, got.Footer)
		assert.Equal(t, "no records", check(t, got, "token-split").Skipped)
	}
}

func TestCheckAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), testFile)
	require.NoError(t, os.WriteFile(path, goodStream().bytes(t), 0o644))
	got, err := Check([]string{path})
	require.NoError(t, err)
	assert.Empty(t, failing(got))
	assert.Equal(t, path, got.Files[0].Name)
	assert.Contains(t, check(t, got, "resumed").Skipped, "not known")

	_, err = Check([]string{path + ".gone"})
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestReadmeNamesEveryCheck(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, id := range order {
		assert.Contains(t, string(readme), "| "+id+" |")
	}
}

package steps

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func survey(t testing.TB, files map[string][]byte) *Survey {
	t.Helper()
	dir := runDir(t, files)
	var paths []string
	for name := range files {
		paths = append(paths, filepath.Join(dir, Folder, name))
	}
	slices.Sort(paths)
	s, err := Overview(paths)
	require.NoError(t, err)
	return s
}

// Every number of a survey, on steps whose numbers are known.
func TestOverview(t *testing.T) {
	s := goodStream()
	preempt(s)
	s.recs[5].CUDAGraph.RuntimeMode = "FULL"
	s.recs[4].Queues = Queues{Running: 7, Waiting: 5, Deferred: 1}
	s.recs[4].KV = KV{TotalBlocks: 1000, FreeBlocks: 100, UsedBlocks: 900, Usage: 0.9}
	s.recs[1].Prefix.Local.Hits = 90
	data := s.bytes(t)
	got := survey(t, map[string][]byte{testFile: data})
	for _, c := range got.Checks {
		assert.Zero(t, c.Failed, "%s: %s", c.ID, c.First)
	}
	assert.Equal(t, []SurveyEngine{{File: testFile, Engine: "dp0-pid7", Revision: "r2-onepass", VLLM: "0.24.0",
		Records: 6, Bytes: int64(len(data)), Seconds: 761e-6}}, got.Engines)
	assert.Equal(t, []int64{6, 8, 3, 1, 1, 21, 0, 1}, []int64{got.Records, got.Steps, got.EmptySteps,
		got.Preemptions, got.ResumedRequests, got.ResumedTokens, got.Dropped, got.BacklogMax})
	assert.Equal(t, Chunks{First: 1, Final: 1, Unsplit: 1}, got.Chunks)
	assert.Equal(t, []int64{3, 1, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0}, got.ContextHist)
	assert.Equal(t, []int64{0, 1, 1, 0, 1, 0, 0, 0, 0}, got.ChunkHist)
	assert.Equal(t, Level{Mean: 3, Max: 7}, got.Queues.Running)
	assert.Equal(t, Level{Mean: 1.8, Max: 5}, got.Queues.Waiting)
	assert.Equal(t, Level{Mean: 0.2, Max: 1}, got.Queues.Deferred)
	assert.InDelta(t, 0.5, got.KV.Usage.Mean, 1e-12)
	assert.Equal(t, 0.9, got.KV.Usage.Max)
	assert.Equal(t, int64(1000), got.KV.TotalBlocks)
	assert.Equal(t, &HitRate{Requests: 6, Queries: 1800, Hits: 90, Rate: 0.05}, got.Prefix.Local)
	assert.Nil(t, got.Prefix.External)
	assert.Equal(t, []GraphUse{{"FULL", 1, 1, 8}, {"PIECEWISE", 4, 344, 32}}, got.Graphs)

	assert.InDelta(t, float64(len(data))/6, got.Volume.BytesPerStep, 1e-9)
	assert.InEpsilon(t, 6/761e-6, got.Volume.AsRecorded.StepsPerSecond, 1e-9)
	assert.InEpsilon(t, 6/300e-6, got.Volume.BackToBack.StepsPerSecond, 1e-9)
	perHour := float64(len(data)) / 761e-6 * 3600 / 1e9
	assert.InEpsilon(t, perHour, got.Volume.AsRecorded.RawPerHour, 1e-9)
	assert.InEpsilon(t, 24*perHour/got.Volume.ZstdRatio, got.Volume.AsRecorded.ZstdPerDay, 1e-9)
}

// Without its pauses a recording is never slower, whatever the share of empty
// runs and of steps whose time is not known.
func TestBackToBackIsTheFasterPace(t *testing.T) {
	for name, change := range map[string]func(*stream){"good": func(*stream) {}, "preempted": preempt, "dropped": drop} {
		s := goodStream()
		change(s)
		v := survey(t, map[string][]byte{testFile: s.bytes(t)}).Volume
		assert.Greater(t, v.BackToBack.StepsPerSecond, v.AsRecorded.StepsPerSecond, name)
	}
}

// Two decode batches, two prefills: one row per kind, and one per range.
func TestStepTimesByBatch(t *testing.T) {
	s := goodStream()
	s.recs[2].ReadyMonoNS += 30_000 // 90 us
	s.recs[2].CompleteMonoNS += 30_000
	rows := survey(t, map[string][]byte{testFile: s.bytes(t)}).StepTimes
	require.Len(t, rows, 4)
	type row struct {
		batch           string
		from, to, steps int64
		us              int64
		tokens          int64
	}
	var got []row
	share := 0.0
	for _, r := range rows {
		assert.InEpsilon(t, r.Mean, r.P50, 0.3)
		got = append(got, row{r.Batch, r.DecodeFrom, r.DecodeTo, r.Steps, int64(r.Max*1e6 + 0.5), r.Tokens})
		if r.DecodeTo == 0 {
			share += r.Share
		}
	}
	assert.Equal(t, []row{
		{"decode-only", 0, 0, 3, 90, 4}, {"decode-only", 1, 1, 2, 60, 2}, {"decode-only", 2, 2, 1, 90, 2},
		{"prefill-only", 0, 0, 2, 60, 320},
	}, got)
	assert.InDelta(t, 1, share, 1e-12)
	assert.InEpsilon(t, 210.0/330, rows[0].Share, 1e-12)
	assert.InEpsilon(t, 90e-6, rows[2].P95, 0.004)
}

// Spans of steps overlap under asynchronous scheduling, and behind a drop the
// time of a step is not known.
func TestStepTimeIsThatOfTheDesign(t *testing.T) {
	for _, c := range []struct {
		submit, ready, before, dropped int64
		want                           int64
		known                          bool
	}{
		{100, 160, 50, 0, 60, true}, {100, 160, 130, 0, 30, true}, {100, 160, 130, 1, 30, false},
	} {
		ns, known := stepTime(&past{ready: c.before}, &Record{SubmitMonoNS: c.submit, ReadyMonoNS: c.ready, DroppedRecordsBefore: c.dropped})
		assert.Equal(t, c.known, known)
		assert.Equal(t, c.want, ns)
	}
	s := goodStream()
	drop(s)
	got := survey(t, map[string][]byte{testFile: s.bytes(t)})
	assert.Equal(t, int64(1), got.Dropped)
	steps := int64(0)
	for _, r := range got.StepTimes {
		if r.DecodeTo == 0 {
			steps += r.Steps
		}
	}
	assert.Equal(t, got.Records-1-1, steps, "neither the empty run nor the step behind the gap")
}

func TestKindOfBatch(t *testing.T) {
	for _, c := range []struct {
		decode, prefill int64
		name            string
		from, to        int64
	}{
		{1, 0, decodeOnly, 1, 1}, {2, 0, decodeOnly, 2, 2}, {3, 0, decodeOnly, 3, 4}, {4, 0, decodeOnly, 3, 4},
		{5, 1, mixedBatch, 5, 8}, {256, 9, mixedBatch, 129, 256}, {257, 1, mixedBatch, 257, 512},
		{0, 1, prefillOnly, 0, 0}, {1<<63 - 1, 0, decodeOnly, 1<<61 + 1, 1 << 62},
	} {
		kind := kindOfBatch(&Record{DecodeBatchSize: c.decode, PrefillRequests: c.prefill})
		row := new(stepTimes).row(kind, 0)
		assert.Equal(t, c.name, row.Batch)
		assert.Equal(t, c.from, row.DecodeFrom, c.decode)
		assert.Equal(t, c.to, row.DecodeTo, c.decode)
	}
}

// A survey of a file does not depend on how it is stored, and zstd is measured.
func TestOverviewOfCompressedFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "busy.jsonl")
	require.NoError(t, writeBusy(path, 300_000))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	plain := survey(t, map[string][]byte{testFile: data})
	gz := survey(t, map[string][]byte{testFile + ".gz": gzipped(t, data)})
	zst := survey(t, map[string][]byte{testFile + ".zst": zstded(t, data)})
	assert.InEpsilon(t, plain.Volume.ZstdRatio, gz.Volume.ZstdRatio, 0.02)
	assert.InEpsilon(t, float64(len(data))/float64(len(zstded(t, data))), zst.Volume.ZstdRatio, 1e-9)
	assert.InEpsilon(t, zst.Volume.ZstdRatio, plain.Volume.ZstdRatio, 0.5)
	assert.Greater(t, plain.Volume.ZstdRatio, 3.0)
	assert.Equal(t, plain.StepTimes, zst.StepTimes)
	assert.Equal(t, plain.Queues, zst.Queues)

	two := survey(t, map[string][]byte{"opprof-s1-dp0-1-1.jsonl": data, "opprof-s1-dp0-2-2.jsonl": data})
	assert.Equal(t, 2*plain.Records, two.Records)
	assert.InEpsilon(t, plain.Volume.AsRecorded.RawPerHour, two.Volume.AsRecorded.RawPerHour, 1e-9, "per engine")
}

func TestOverviewOfDamage(t *testing.T) {
	good := goodStream().bytes(t)
	for name, c := range map[string]struct {
		data    []byte
		records int64
		check   string
		first   string
	}{
		"empty":   {nil, 0, "format", testFile + ":1: no header: the file is empty"},
		"garbage": {[]byte("not a record\n"), 0, "format", testFile + ":1: the first line is no header"},
		"damaged": {append(good[:len(good):len(good)], "x\n"...), 6, "format", testFile + ":9: data after the footer"},
		"cut":     {good[:len(good)-200], 5, "torn-tail", "bytes after the last complete line"},
	} {
		got := survey(t, map[string][]byte{testFile: c.data})
		assert.Equal(t, c.records, got.Records, name)
		first := ""
		for _, check := range got.Checks {
			if check.ID == c.check {
				first = check.First
			}
		}
		assert.Contains(t, first, c.first, name)
		assert.Equal(t, name == "cut", got.Volume != nil, name)
	}
	_, err := Overview([]string{filepath.Join(t.TempDir(), "absent.jsonl")})
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// A file that names ever other graph modes does not make a survey grow.
func TestGraphModesAreBounded(t *testing.T) {
	s := newSurveyor()
	for i := range 100 {
		s.graph(&CUDAGraph{RuntimeMode: string(rune('a' + i))})
	}
	assert.LessOrEqual(t, len(s.graphs), 17)
	assert.Equal(t, int64(84), s.graphs["other"].Steps)
}

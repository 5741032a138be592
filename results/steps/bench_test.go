package steps

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aituner/opprof/results"
	"github.com/stretchr/testify/require"
)

// make bench-reader reads one file of 1 GB with this benchmark and with the
// loops of bench/.
var (
	benchFile = flag.String("file", "", "step file for BenchmarkFile; written if it is not there (default: a temporary one)")
	benchMB   = flag.Int64("mb", 32, "size of a step file that is written, in MB")
)

// BenchmarkFile reads a file as the product does: records alone, with all
// checks of a file, and with its SHA-256 as well (opbench layer1 check).
func BenchmarkFile(b *testing.B) {
	path := *benchFile
	if path == "" {
		path = filepath.Join(b.TempDir(), "steps.jsonl")
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		require.NoError(b, writeBusy(path, *benchMB*1_000_000))
	}
	info, err := os.Stat(path)
	require.NoError(b, err)
	for _, one := range []struct {
		name string
		read func(path string) (records int64, err error)
	}{{"scan", scanOnly}, {"checks", scanAndCheck}, {"checks+sha256", checkFile}} {
		b.Run(one.name, func(b *testing.B) {
			b.SetBytes(info.Size())
			b.ReportAllocs()
			for b.Loop() {
				n, err := one.read(path)
				require.NoError(b, err)
				b.ReportMetric(float64(n), "records")
			}
		})
	}
}

func scanOnly(path string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	file, err := Scan(path, f, func(int, *Record) error { return nil })
	return file.Records, err
}

func scanAndCheck(path string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	p := newPass(Options{})
	err = p.scan(path, f)
	sum := p.finish()
	return sum.Records, failed(sum, err)
}

func checkFile(path string) (int64, error) {
	sum, err := Check([]string{path})
	if err != nil {
		return 0, err
	}
	return sum.Records, failed(sum, nil)
}

// BenchmarkLine reads one record line over and over, as recorders write it and
// with its first two keys in the other order.
func BenchmarkLine(b *testing.B) {
	const engine = `"engine_id":"dp0-pid1234"`
	other := strings.Replace(designRecord, `"schema":1,`+engine, engine+`,"schema":1`, 1)
	for name, line := range map[string]string{"canonical": designRecord, "tolerant": other} {
		b.Run(name, func(b *testing.B) {
			s := scanner{line: 2, last: -1, visit: func(int, *Record) error { return nil }}
			s.file.Header.EngineID = "dp0-pid1234"
			data := []byte(line)
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				s.last = -1
				if err := s.take(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The file that is measured is a good one, whose records differ in all that
// takes time to read.
func TestBusyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "busy.jsonl")
	require.NoError(t, writeBusy(path, 2_000_000))
	sum, err := Check([]string{path})
	require.NoError(t, failed(sum, err))
	require.Greater(t, sum.Records, int64(1500))
	require.Positive(t, sum.EmptySteps)
	require.Positive(t, sum.PrefillTokens)
	require.Positive(t, sum.PrefixHits)
	require.InDelta(t, 2_000_000, sum.Bytes, 5000)
}

// writeBusy writes about size bytes of records of a server under steady load:
// up to 64 requests, of which some end and others begin, now and then none.
func writeBusy(path string, size int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	out := bufio.NewWriter(f)
	written := &countingWriter{out: out}
	h := goodStream().header
	w, err := NewWriter(written, h)
	if err != nil {
		return err
	}
	server := busy{rng: rand.New(rand.NewPCG(7, 11)), next: -1, wall: 1_783_761_000_000_000_000, mono: 8_910_000_000}
	for written.n < size {
		if err := w.Write(server.step()); err != nil {
			return err
		}
	}
	return errors.Join(w.Close(), out.Flush(), f.Close())
}

type countingWriter struct {
	out *bufio.Writer
	n   int64
}

func (w *countingWriter) Write(p []byte) (int, error) {
	w.n += int64(len(p))
	return w.out.Write(p)
}

// busy makes up the records of a server.
type busy struct {
	rng        *rand.Rand
	lengths    []int64 // of the running requests
	next       int64   // index of the last step
	wall, mono int64
	empty      bool // the last step was
}

func (b *busy) step() Record {
	took := 4_000_000 + b.rng.Int64N(1_000_000)
	r := Record{SubmitWallNS: b.wall, SubmitMonoNS: b.mono, ReadyMonoNS: b.mono + took - 90_000, CompleteMonoNS: b.mono + took - 9_000,
		Backlog: b.rng.Int64N(2)}
	b.wall += took
	b.mono += took
	b.next++
	r.KV.TotalBlocks = 120_000
	if b.empty = !b.empty && b.rng.IntN(300) == 0; b.empty {
		r.EmptySteps = 1 + b.rng.Int64N(20)
		b.next += r.EmptySteps - 1
		b.lengths = nil
	} else {
		b.serve(&r)
	}
	r.StepIndex = b.next
	for _, n := range b.lengths {
		r.KV.UsedBlocks += (n + 15) / 16
	}
	r.KV.FreeBlocks = r.KV.TotalBlocks - r.KV.UsedBlocks
	r.KV.Usage = float64(r.KV.UsedBlocks) / float64(r.KV.TotalBlocks)
	return r
}

// serve lets all requests go on by one token, some end, and begins others.
func (b *busy) serve(r *Record) {
	r.ModelExecuted = true
	r.Prefix.Local = &Lookups{}
	var kept []int64
	for _, n := range b.lengths {
		if b.rng.IntN(200) > 0 {
			kept = append(kept, n+1)
		}
	}
	decode(r, int64(len(kept)))
	for len(kept) == 0 || len(kept) < 64 && b.rng.IntN(4) == 0 {
		prompt := 1 + b.rng.Int64N(4000)
		cached := b.rng.Int64N(prompt)
		prefill(r, prompt-cached)
		r.ChunkedPrefill.Unsplit++
		r.Prefix.Local.Requests++
		r.Prefix.Local.Queries += prompt
		r.Prefix.Local.Hits += cached
		kept = append(kept, prompt)
	}
	b.lengths = kept
	lengths(r, kept...)
	r.ScheduledRequests, r.ScheduledTokens = int64(len(kept)), r.PrefillTokens+r.DecodeTokens
	r.Queues = Queues{Running: int64(len(kept)), Waiting: b.rng.Int64N(12)}
	r.CUDAGraph = graphOf(r.ScheduledTokens, r.PrefillRequests > 0)
}

func graphOf(tokens int64, mixed bool) *CUDAGraph {
	g := &CUDAGraph{Hit: true, RuntimeMode: "FULL", UnpaddedTokens: tokens, BucketTokens: (tokens + 7) / 8 * 8}
	switch {
	case tokens > 512:
		g.Hit, g.RuntimeMode, g.BucketTokens = false, "NONE", tokens
	case mixed:
		g.RuntimeMode = "PIECEWISE"
	}
	g.PaddingTokens = g.BucketTokens - tokens
	return g
}

// failed is the error of a check, or of the first that did not hold.
func failed(sum *results.Steps, err error) error {
	if err != nil {
		return err
	}
	for _, c := range sum.Checks {
		if c.Failed > 0 {
			return fmt.Errorf("%s: %s", c.ID, c.First)
		}
	}
	return nil
}

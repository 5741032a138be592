package sim

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/aituner/opprof/results/steps"
)

// monoBase is the reading of the simulated monotonic clock at the start.
const monoBase = int64(time.Second)

// tornLine is how a record file ends whose writer died.
const tornLine = `{"schema":1,"engine_id":"dp0-p`

// recorder writes the step records of one start, every line at once: what is
// not written is not lost either, and the backlog is always zero.
type recorder struct {
	file    *os.File
	out     *steps.Writer
	cfg     *Config
	faults  *Faults
	born    time.Time
	empty   *steps.Record // the run of empty steps that is not written yet
	lost    int64         // records dropped so far
	full    bool          // nothing can be written any more
	spoiled bool          // the fault that spoils one record has done so
	damaged bool          // what may stand between two records does
}

func openRecorder(cfg *Config, faults *Faults, born time.Time) (*recorder, error) {
	if err := os.MkdirAll(cfg.RecordDir, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder for step records: %w", err)
	}
	pid, start := os.Getpid(), born.UnixNano()
	id := fmt.Sprintf("dp0-pid%d", pid)
	name := filepath.Join(cfg.RecordDir, steps.FileName(0, pid, start))
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("create the step record file: %w", err)
	}
	out, err := steps.NewWriter(file, steps.Header{
		Revision: "sim", VLLM: "simulated", Commit: "simulated", Runner: "v1",
		MaxNumSeqs: int64(cfg.MaxNumSeqs), MaxNumBatchedTokens: int64(cfg.MaxNumBatchedTokens),
		BlockSize: int64(cfg.BlockSize), EngineID: id, PID: int64(pid),
		StartWallNS: start, StartMonoNS: monoBase,
	})
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &recorder{file: file, out: out, cfg: cfg, faults: faults, born: born}, nil
}

func (r *recorder) mono(t time.Time) int64 { return monoBase + int64(t.Sub(r.born)) }

// record writes a step, or adds an empty one to the run that is waiting.
func (r *recorder) record(st *step, complete time.Time) error {
	rec := r.compose(st, complete)
	if len(st.shares) > 0 {
		return errors.Join(r.flushEmpty(), r.write(rec))
	}
	rec.EmptySteps = 1
	if r.empty != nil {
		rec.EmptySteps += r.empty.EmptySteps
		rec.Preemptions += r.empty.Preemptions
	}
	r.empty = &rec
	return nil
}

func (r *recorder) flushEmpty() error {
	if r.empty == nil {
		return nil
	}
	rec := *r.empty
	r.empty = nil
	return r.write(rec)
}

func (r *recorder) write(rec steps.Record) error {
	if r.diskFull(rec.StepIndex) {
		return nil
	}
	if f := r.faults.set[faultDropRecords]; rec.StepIndex >= midRun && r.lost < f.n {
		r.lost++
		r.out.Drop(max(1, rec.EmptySteps))
		return nil
	}
	if err := r.damage(rec.StepIndex); err != nil {
		return err
	}
	r.spoil(&rec)
	err := r.out.Write(rec)
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EFBIG) {
		r.giveUp()
		return nil
	}
	return err
}

// diskFull commits the fault of that name: what it cannot write, the recorder
// drops and says so once, and serving goes on.
func (r *recorder) diskFull(step int64) bool {
	if f, on := r.faults.set[faultDiskFull]; on && step >= f.n {
		r.giveUp()
	}
	return r.full
}

// giveUp ends the file where it is, as the recorder for vLLM does.
func (r *recorder) giveUp() {
	if !r.full {
		r.full = true
		fmt.Fprintln(r.cfg.Log, "WARNING opprof: step records cannot be written: no space left on device")
	}
}

// damage commits the faults that spoil the file between two records.
func (r *recorder) damage(step int64) error {
	if r.damaged || step < midRun {
		return nil
	}
	r.damaged = true
	text := ""
	if r.faults.has(faultDamagedRecord) {
		text = "{\"schema\":1,\xff}\n"
	}
	if r.faults.has(faultGluedRecords) {
		text += tornLine
	}
	_, err := r.file.WriteString(text)
	return err
}

// spoil commits the faults that falsify records.
func (r *recorder) spoil(rec *steps.Record) {
	if rec.StepIndex < midRun {
		return
	}
	if r.faults.has(faultIndexGap) {
		rec.StepIndex++
	}
	if r.spoiled || !rec.ModelExecuted {
		return
	}
	r.spoiled = true
	if r.faults.has(faultWrongHistogram) {
		rec.ContextLengthHist[0]++
	}
	if r.faults.has(faultTokenSum) {
		rec.DecodeTokens++
	}
}

// close writes what is waiting and the footer, unless a fault forbids it.
func (r *recorder) close() error {
	errs := []error{r.flushEmpty(), r.secondFile()}
	switch {
	case r.full:
	case r.faults.has(faultTornTail):
		_, err := r.file.WriteString(tornLine)
		errs = append(errs, err)
	case !r.faults.has(faultNoFooter):
		errs = append(errs, r.out.Close())
	}
	return errors.Join(append(errs, r.file.Close())...)
}

// secondFile commits the fault of that name: a file with a header alone.
func (r *recorder) secondFile() error {
	if !r.faults.has(faultSecondFile) {
		return nil
	}
	data, err := os.ReadFile(r.file.Name())
	if err != nil {
		return err
	}
	header, _, _ := bytes.Cut(data, []byte("\n"))
	name := filepath.Join(r.cfg.RecordDir, steps.FileName(0, os.Getpid(), r.born.UnixNano()+1))
	return os.WriteFile(name, append(header, '\n'), 0o644)
}

// compose describes a step in the recorder's terms.
func (r *recorder) compose(st *step, complete time.Time) steps.Record {
	total, free := int64(r.cfg.KVBlocks), int64(st.freeBlocks)
	rec := steps.Record{
		StepIndex: st.index, SubmitWallNS: st.submit.UnixNano(),
		SubmitMonoNS: r.mono(st.submit), ReadyMonoNS: r.mono(st.ready), CompleteMonoNS: r.mono(complete),
		ModelExecuted: len(st.shares) > 0, ScheduledRequests: int64(len(st.shares)),
		Preemptions: int64(st.preemptions),
		Queues:      steps.Queues{Running: int64(st.running), Waiting: int64(st.waiting)},
		KV: steps.KV{TotalBlocks: total, FreeBlocks: free, UsedBlocks: total - free,
			Usage: float64(total-free) / float64(total)},
		Prefix: steps.Prefix{Local: &steps.Lookups{
			Requests: st.prefix.requests, Queries: st.prefix.queries, Hits: st.prefix.hits,
			PreemptedRequests: st.prefix.preemptedRequests, PreemptedQueries: st.prefix.preemptedQueries,
			PreemptedHits: st.prefix.preHits,
		}},
	}
	for _, sh := range st.shares {
		count(&rec, sh)
	}
	if rec.ModelExecuted { // no graphs here, like vLLM's CPU build
		rec.CUDAGraph = &steps.CUDAGraph{RuntimeMode: "NONE",
			UnpaddedTokens: rec.ScheduledTokens, BucketTokens: rec.ScheduledTokens}
	}
	return rec
}

// count adds one request's part of the step.
func count(rec *steps.Record, sh share) {
	n := int64(sh.tokens)
	rec.ScheduledTokens += n
	rec.ContextLengthHist[steps.ContextBin(int64(sh.before)+n)]++
	if sh.resumed {
		rec.Resumed.Requests++
		rec.Resumed.Tokens += int64(sh.again)
	}
	if !sh.prefill {
		rec.DecodeBatchSize++
		rec.DecodeTokens += n
		return
	}
	rec.PrefillRequests++
	rec.PrefillTokens += n
	chunks := &rec.ChunkedPrefill
	chunks.Tokens += n
	chunks.SizeHist[steps.ChunkBin(n)]++
	switch {
	case !sh.begun && !sh.ends:
		chunks.First++
	case !sh.begun:
		chunks.Unsplit++
	case !sh.ends:
		chunks.Middle++
	default:
		chunks.Final++
	}
}

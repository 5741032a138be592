package steps

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/metrics"
)

// Folder is the folder of a run directory that holds its step files.
const Folder = "steps"

var stepFile = regexp.MustCompile(`^opprof-.*(\.jsonl(\.gz|\.zst)?|\.packed)$`)

// Summarize reads the step files of a run, compressed or not, and runs all
// correctness checks. What is wrong with the records is in the checks; the error
// is for what the operating system refuses. A run without step files gives a
// summary without files.
func Summarize(run fs.FS, opt Options) (*results.Steps, error) {
	entries, err := fs.ReadDir(run, Folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list step files: %w", err)
	}
	p := newPass(opt)
	for _, e := range entries {
		if e.IsDir() || !stepFile.MatchString(e.Name()) {
			continue
		}
		name := Folder + "/" + e.Name()
		if err := p.read(run, name, name); err != nil {
			return nil, err
		}
	}
	return p.finish(), nil
}

// Check summarises and checks step files alone: the checks that need the
// client's numbers are skipped with the reason.
func Check(paths []string) (*results.Steps, error) {
	p := newPass(Options{})
	if err := p.readAll(paths); err != nil {
		return nil, err
	}
	return p.finish(), nil
}

// pass is one reading of all step files of a run.
type pass struct {
	opt     Options
	out     *results.Steps
	tally   tally
	times   [][]float64         // step times in seconds, by phase
	decode  []int64             // decode batch sizes summed, by phase
	ranks   map[string][]string // data-parallel rank to its files
	footers int                 // files that end with one
	resumed int64               // resumed requests
	// preemptedHits are cached tokens of lookups by preempted requests.
	preemptedHits int64
	survey        *surveyor // nil: not wanted
}

func newPass(opt Options) *pass {
	p := &pass{
		opt:    opt,
		tally:  newTally(),
		times:  make([][]float64, len(opt.Phases)),
		decode: make([]int64, len(opt.Phases)),
		ranks:  map[string][]string{},
		out: &results.Steps{
			ContextHist: make([]int64, len(ContextEdges)+1),
			ChunkHist:   make([]int64, len(ChunkEdges)+1),
		},
	}
	for _, ph := range opt.Phases {
		p.out.Phases = append(p.out.Phases, results.StepPhase{Phase: ph.Name})
	}
	return p
}

func (p *pass) readAll(paths []string) error {
	for _, path := range paths {
		if err := p.read(results.Folder(filepath.Dir(path)), filepath.Base(path), path); err != nil {
			return err
		}
	}
	return nil
}

// read reads a file once: its SHA-256 is of the bytes that are checked. path is
// what the summary calls it.
func (p *pass) read(files fs.FS, name, path string) error {
	f, err := files.Open(name)
	if err != nil {
		return fmt.Errorf("open step file: %w", err)
	}
	defer f.Close()
	h := &hashing{from: f, sum: sha256.New()}
	err = p.content(path, h)
	damage := (*DamageError)(nil)
	if errors.As(err, &damage) {
		damage.File = filepath.Base(path)
		p.tally.check("format").fail(damage.Error())
		err = nil
	}
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, h); err != nil { // what is behind damage
		return fmt.Errorf("hash step file %s: %w", path, err)
	}
	p.out.Files = append(p.out.Files, results.StepFile{Name: path, SHA256: hex.EncodeToString(h.sum.Sum(nil)), Size: h.size})
	if p.survey != nil {
		p.survey.zstd.stored(path, h.size)
	}
	return nil
}

// content decompresses and scans what a file holds.
func (p *pass) content(path string, stored io.Reader) error {
	r, err := decoded(path, stored)
	if err != nil {
		return err
	}
	defer r.Close()
	if p.survey == nil {
		return p.scan(filepath.Base(path), r)
	}
	err = p.scan(filepath.Base(path), p.survey.zstd.measure(path, r))
	return errors.Join(err, p.survey.zstd.close())
}

// hashing is a file that is hashed while it is read.
type hashing struct {
	from io.Reader
	sum  hash.Hash
	size int64
}

func (h *hashing) Read(b []byte) (int, error) {
	n, err := h.from.Read(b)
	h.sum.Write(b[:n]) // never fails
	h.size += int64(n)
	return n, err
}

// scan reads one file; what could be read before damage is counted.
func (p *pass) scan(name string, r io.Reader) error {
	before := past{index: -1}
	p.tally.check("format").Checked++
	file, err := Scan(name, r, func(line int, rec *Record) error {
		p.record(place{name, line}, &before, rec)
		before.add(rec)
		return nil
	})
	p.out.Bytes += file.Bytes
	p.out.Revision, p.out.Blobs = file.Header.Revision, file.Header.Blobs
	if rank, _, ok := strings.Cut(file.Header.EngineID, "-"); ok {
		p.ranks[rank] = append(p.ranks[rank], name)
	}
	if err == nil {
		p.closing(&file, &before)
	}
	if p.survey != nil {
		p.survey.file(&file)
	}
	return err
}

func (p *pass) record(at place, before *past, r *Record) {
	p.tally.record(at, before, r)
	o := p.out
	o.Records++
	o.Steps += r.StepIndex - before.index
	o.EmptySteps += r.EmptySteps
	o.BacklogMax = max(o.BacklogMax, r.Backlog)
	o.Dropped += r.DroppedRecordsBefore
	o.Preemptions += r.Preemptions
	o.PrefillTokens += r.PrefillTokens
	o.DecodeTokens += r.DecodeTokens
	o.ResumedTokens += r.Resumed.Tokens
	p.resumed += r.Resumed.Requests
	if l := r.Prefix.Local; l != nil {
		o.PrefixQueries += l.Queries
		o.PrefixHits += l.Hits
		p.preemptedHits += l.PreemptedHits
	}
	add(o.ContextHist, r.ContextLengthHist[:])
	add(o.ChunkHist, r.ChunkedPrefill.SizeHist[:])
	p.phase(before, r)
	if p.survey != nil {
		p.survey.record(before, r)
	}
}

func add(dst, bins []int64) {
	for i, n := range bins {
		dst[i] += n
	}
}

// phase adds a step to the timed phase in which it was submitted.
func (p *pass) phase(before *past, r *Record) {
	i := slices.IndexFunc(p.opt.Phases, func(ph Phase) bool {
		return ph.StartNS <= r.SubmitWallNS && r.SubmitWallNS <= ph.EndNS
	})
	if i < 0 || r.EmptySteps > 0 {
		return
	}
	p.out.Phases[i].Records++
	p.out.Phases[i].Preemptions += r.Preemptions
	p.decode[i] += r.DecodeBatchSize
	if ns, known := stepTime(before, r); known {
		seconds := float64(ns) / 1e9
		p.times[i] = append(p.times[i], seconds)
		if p.opt.StepTime != nil {
			p.opt.StepTime(i, seconds)
		}
	}
}

func (p *pass) finish() *results.Steps {
	o := p.out
	for i := range o.Phases {
		ph := &o.Phases[i]
		slices.Sort(p.times[i])
		ph.StepP50, ph.StepP95 = quantile(p.times[i], 0.50), quantile(p.times[i], 0.95)
		ph.MeanDecode = float64(p.decode[i]) / float64(max(1, ph.Records))
	}
	o.Footer = len(o.Files) > 0 && p.footers == len(o.Files)
	p.engineFiles()
	p.clientSums()
	p.missingFooter()
	o.Checks = p.tally.results(o.Records)
	return o
}

// quantile is 0 where there is nothing to rank.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return metrics.Quantile(sorted, q)
}

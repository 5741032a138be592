package steps

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// PackedExt is the file name extension of packed step files, which revision
// r3-packed of the recorder writes. Their layout is described at the head of
// its recorder, vllm/v1/opprof.py.
const PackedExt = ".packed"

const (
	packedMagic  = "OPPROF3\n"
	packedSlot   = 64
	packedFooter = 1 << 31 // in the length of a record: it is the footer
	packedFields = 24
)

// Convert reads a packed step file and writes it as JSON Lines, with the fields
// that the recorder left out because they follow from others. The File
// says what was read; its Bytes are those in use, without the reserve behind
// them, its Torn those of a record that was not completed, which is left out.
// A file without a footer becomes one without a footer.
//
// What is wrong with the data is a *DamageError with the line that the record
// would have.
func Convert(name string, r io.Reader, w io.Writer) (File, error) {
	out := bufio.NewWriter(w)
	p := packed{file: File{Name: name}, in: bufio.NewReader(r), out: out, lines: Writer{out: out}}
	err := p.header()
	for err == nil && p.file.Footer == nil {
		var body []byte
		var footer bool
		if body, footer, err = p.next(); body == nil || err != nil {
			break
		}
		if footer {
			err = p.footer(body)
		} else {
			err = p.record(body)
		}
	}
	if err == nil {
		err = p.rest()
	}
	if err == nil {
		err = out.Flush()
	}
	return p.file, err
}

// packed is one packed file on its way to JSON Lines.
type packed struct {
	file   File
	in     *bufio.Reader
	out    *bufio.Writer
	lines  Writer
	blocks int64 // total KV blocks, which the header says once
	number uint32
	rec    Record
}

func (p *packed) damaged(format string, args ...any) error {
	return &DamageError{File: p.file.Name, Line: int(p.number) + 1, Reason: fmt.Sprintf(format, args...)}
}

// fill reads len(b) bytes. A file that ends before is cut: what there is of it
// counts as torn, and ok is false.
func (p *packed) fill(b []byte) (ok bool, err error) {
	n, err := io.ReadFull(p.in, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		p.file.Torn += n
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", p.file.Name, err)
	}
	return true, nil
}

func (p *packed) header() error {
	head := make([]byte, len(packedMagic)+8)
	ok, err := p.fill(head)
	if err != nil {
		return err
	}
	if !ok || string(head[:len(packedMagic)]) != packedMagic {
		return p.damaged("not a packed step file, or it is cut in the header")
	}
	slot, length := pair(head[len(packedMagic):])
	if slot != packedSlot || length > MaxLine {
		return p.damaged("slots of %d bytes and a header of %d, want %d and at most %d", slot, length, packedSlot, MaxLine)
	}
	line, err := p.padded(len(head), int(length))
	if err != nil {
		return err
	}
	if line == nil {
		return p.damaged("the file is cut in the header")
	}
	return p.takeHeader(line)
}

func (p *packed) takeHeader(line []byte) error {
	var err error
	if p.file.Header, err = ReadHeader(p.file.Name, bytes.NewReader(line)); err != nil {
		return err
	}
	var own struct {
		Blocks *int64 `json:"total_blocks"`
	}
	if err := json.Unmarshal(line, &own); err != nil || own.Blocks == nil || *own.Blocks < 0 {
		return p.damaged("the header has no total_blocks")
	}
	p.blocks = *own.Blocks
	p.lines.footer.EngineID = p.file.Header.EngineID
	_, err = p.out.Write(line)
	return err
}

// padded reads length bytes and the zeros up to the end of the slot, behind
// what was read of it already. It returns nil if the file ends before.
func (p *packed) padded(before, length int) ([]byte, error) {
	size := (before + length + packedSlot - 1) / packedSlot * packedSlot
	data := make([]byte, size-before)
	ok, err := p.fill(data)
	if err != nil || !ok {
		return nil, err
	}
	if !zeros(data[length:]) {
		return nil, p.damaged("other bytes than zeros behind the data")
	}
	p.file.Bytes += int64(size)
	return data[:length:length], nil
}

// next returns the body of the next record, nil behind the last complete one.
func (p *packed) next() (body []byte, footer bool, err error) {
	var head [8]byte
	ok, err := p.fill(head[:])
	if err != nil || !ok {
		return nil, false, err
	}
	length, number := pair(head[:])
	if number == 0 {
		if length != 0 {
			p.file.Torn += len(head)
		}
		return nil, false, nil
	}
	p.number++
	footer = length&packedFooter != 0
	length &^= packedFooter
	switch {
	case number != p.number:
		return nil, false, p.damaged("record number %d, want %d", number, p.number)
	case length > MaxLine:
		return nil, false, p.damaged("a record of %d bytes, at most %d are allowed", length, MaxLine)
	}
	body, err = p.padded(len(head), int(length))
	if body == nil && err == nil {
		p.file.Torn += len(head)
	}
	return body, footer, err
}

// rest checks that nothing but reserve follows. Bytes in it are a record that
// was not completed; behind the footer there must be none.
func (p *packed) rest() error {
	buf := make([]byte, 1<<16)
	for {
		n, err := p.in.Read(buf)
		p.file.Torn += len(bytes.Trim(buf[:n], "\x00"))
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", p.file.Name, err)
		}
	}
	if p.file.Footer != nil && p.file.Torn > 0 {
		return p.damaged("%d bytes behind the footer", p.file.Torn)
	}
	return nil
}

func (p *packed) footer(body []byte) error {
	f := Footer{Footer: 1, Schema: Schema, EngineID: p.file.Header.EngineID}
	u := unpacker{data: body}
	if err := u.integers(&f.Encoded, &f.Written, &f.Dropped, &f.BacklogMax); err != nil {
		return p.damaged("footer: %v", err)
	}
	if u.at != len(body) {
		return p.damaged("footer: data behind its end")
	}
	p.file.Footer = &f
	return p.lines.line("footer", f)
}

func (p *packed) record(body []byte) error {
	p.rec = Record{Schema: Schema, EngineID: p.file.Header.EngineID}
	u := unpacker{data: body}
	err := u.arrayOf(packedFields)
	if err == nil {
		err = u.counters(&p.rec)
	}
	if err == nil {
		err = u.composition(&p.rec)
	}
	if err == nil && u.at != len(body) {
		err = errors.New("data behind its end")
	}
	if err != nil {
		return p.damaged("record: %v", err)
	}
	derive(&p.rec, p.blocks)
	p.file.Records++
	return p.lines.line("record", p.rec)
}

// counters reads the first fields, which are fields of the record.
func (u *unpacker) counters(r *Record) error {
	err := u.each(&r.StepIndex, &r.EmptySteps, &r.SubmitWallNS, &r.SubmitMonoNS, &r.ReadyMonoNS, &r.CompleteMonoNS,
		&r.ScheduledRequests, &r.ScheduledTokens, &r.Preemptions,
		&r.Queues.Running, &r.Queues.Waiting, &r.Queues.Deferred, &r.KV.FreeBlocks)
	if err == nil {
		r.Prefix.Local, err = u.lookups()
	}
	if err == nil {
		r.Prefix.External, err = u.lookups()
	}
	if err == nil {
		r.CUDAGraph, err = u.graph()
	}
	if err == nil {
		err = u.each(&r.DroppedRecordsBefore)
	}
	return err
}

func (u *unpacker) lookups() (*Lookups, error) {
	if u.null() {
		return nil, nil
	}
	var l Lookups
	return &l, u.integers(&l.Requests, &l.Queries, &l.Hits, &l.PreemptedRequests, &l.PreemptedQueries, &l.PreemptedHits)
}

func (u *unpacker) graph() (*CUDAGraph, error) {
	if u.null() {
		return nil, nil
	}
	var c CUDAGraph
	err := u.arrayOf(4)
	if err == nil {
		c.RuntimeMode, err = u.text()
	}
	c.Hit = c.RuntimeMode != "NONE"
	if err == nil {
		err = u.each(&c.UnpaddedTokens, &c.BucketTokens, &c.PaddingTokens)
	}
	return &c, err
}

// composition reads the last fields.
func (u *unpacker) composition(r *Record) error {
	err := u.each(&r.DecodeBatchSize, &r.PrefillRequests, &r.PrefillTokens, &r.DecodeTokens)
	if err == nil {
		err = u.integers(&r.Resumed.Requests, &r.Resumed.Tokens)
	}
	if err == nil {
		err = u.chunks(&r.ChunkedPrefill)
	}
	if err == nil {
		err = u.histogram(r.ContextLengthHist[:])
	}
	return err
}

func (u *unpacker) chunks(c *Chunked) error {
	err := u.arrayOf(6)
	if err == nil {
		err = u.each(&c.First, &c.Middle, &c.Final, &c.Unsplit, &c.Tokens)
	}
	if err == nil {
		err = u.histogram(c.SizeHist[:])
	}
	return err
}

// derive computes the fields that follow from others.
func derive(r *Record, blocks int64) {
	r.ModelExecuted = r.ScheduledTokens > 0
	r.KV.TotalBlocks = blocks
	r.KV.UsedBlocks = blocks - r.KV.FreeBlocks
	if blocks > 0 {
		r.KV.Usage = 1 - float64(r.KV.FreeBlocks)/float64(blocks)
	}
}

func zeros(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

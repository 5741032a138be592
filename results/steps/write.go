package steps

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Writer writes one step file. Each line is one call of the underlying Write,
// so a caller that wants fewer writes puts a bufio.Writer in between. It is not
// safe for concurrent use.
type Writer struct {
	out    io.Writer
	footer Footer
	unsaid int64 // steps dropped since the last record
	closed bool
}

// NewWriter writes the header line and returns a writer for the records. The
// constant fields of h (Header, Schema, ContextEdges, ChunkEdges) are filled in.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	if h.EngineID == "" {
		return nil, errors.New("write step header: engine_id is empty; name the engine")
	}
	h.Header, h.Schema = 1, Schema
	h.ContextEdges, h.ChunkEdges = ContextEdges, ChunkEdges
	if h.Blobs == nil {
		h.Blobs = map[string]string{}
	}
	s := &Writer{out: w, footer: Footer{Footer: 1, Schema: Schema, EngineID: h.EngineID}}
	return s, s.line("header", h)
}

// Drop counts a record of so many steps that is not written. The next record
// says how many steps were dropped before it, the footer how many in all.
func (w *Writer) Drop(steps int64) {
	w.footer.Encoded++
	w.unsaid += steps
}

// Write appends one record. Schema and EngineID are filled in, and what was
// dropped is added; everything else is written as it is.
func (w *Writer) Write(r Record) error {
	if w.closed {
		return errors.New("write step record: the footer is already written")
	}
	r.Schema, r.EngineID = Schema, w.footer.EngineID
	r.DroppedRecordsBefore += w.unsaid
	if err := w.line("record", r); err != nil {
		return err
	}
	w.footer.Encoded++
	w.footer.Written++
	w.footer.Dropped += r.DroppedRecordsBefore
	w.unsaid = 0
	w.footer.BacklogMax = max(w.footer.BacklogMax, r.Backlog)
	return nil
}

// Close writes the footer; it does not close the underlying writer.
func (w *Writer) Close() error {
	if w.closed {
		return errors.New("write step footer: it is already written")
	}
	w.closed = true
	w.footer.Dropped += w.unsaid
	return w.line("footer", w.footer)
}

func (w *Writer) line(what string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode step %s: %w", what, err)
	}
	if _, err := w.out.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("write step %s: %w", what, err)
	}
	return nil
}

// Package trace reads recorded traces of serving workloads: when requests came
// and how long they were.
//
// Readers are strict and stream: they take the rows that are asked for, check
// each of them, and never guess. Every error names file and line.
package trace

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"time"
)

const (
	// BlockTokens is the number of tokens behind one hash id.
	BlockTokens = 512

	maxTokens = 1 << 20 // of one prompt or output
	maxLine   = 8 << 20 // bytes; a prompt of maxTokens ids fits
	maxTotal  = 1 << 27 // prompt tokens of all rows, 1 GiB as ids
)

// Row is one request of a trace.
type Row struct {
	Line   int           // of the file, from 1
	At     time.Duration // since some origin that all rows of the file share
	Input  int           // prompt tokens; 0: the text decides
	Output int           // output tokens
	// Blocks are the hash ids of the prompt's blocks of BlockTokens tokens, the
	// last of which may be short; nil if the row has none.
	Blocks []uint64
	Prompt []int // token ids, where the row gives them
	// Text is a prompt as JSON, where the row gives one: a string or, if Chat
	// is set, a list of chat messages.
	Text string
	Chat bool
}

// Options say how to read a trace.
type Options struct {
	Format string        // azure, mooncake, vllm, guidellm, custom
	Unit   time.Duration // of one timestamp, for vllm and custom
	Times  bool          // every row needs a time, none before the one above
	Skip   int           // rows to check and leave out
	Rows   int           // rows to return
}

// parser reads one line.
type parser func(line []byte) (Row, error)

// Read returns the rows Skip to Skip+Rows-1 of a trace; what follows them is
// not read. name stands in errors.
func Read(in io.Reader, name string, o Options) ([]Row, error) {
	parse, header, err := o.parser()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	r := reader{options: o, name: name, lines: lines, parse: parse}
	if err := r.header(header); err != nil {
		return nil, err
	}
	for len(r.rows) < o.Rows {
		if err := r.row(); err != nil {
			return nil, err
		}
	}
	return r.rows, nil
}

func (o Options) parser() (parse parser, header string, err error) {
	switch o.Format {
	case "azure":
		return azureRow, azureHeader, nil
	case "mooncake":
		return blockFormat{unit: time.Millisecond, needBlocks: true}.row, "", nil
	case "vllm":
		return blockFormat{unit: o.Unit, needBlocks: true}.row, "", nil
	case "guidellm":
		return blockFormat{unit: time.Second}.row, "", nil
	case "custom":
		return customFormat{unit: o.Unit, needTime: o.Times}.row, "", nil
	}
	return nil, "", fmt.Errorf("trace format %q is not known: use azure, mooncake, vllm, guidellm or custom", o.Format)
}

type reader struct {
	options Options
	name    string
	lines   *bufio.Scanner
	parse   parser
	line    int // lines read
	seen    int // rows read, those left out included
	last    time.Duration
	total   int
	rows    []Row
}

func (r *reader) header(want string) error {
	if want == "" {
		return nil
	}
	line, err := r.next()
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: the file is empty, want the header %s", r.name, want)
	}
	if err != nil {
		return err
	}
	if string(line) != want {
		return r.fail(fmt.Errorf("want the header %s, got %.80q", want, line))
	}
	return nil
}

// next returns the next line without its end, LF or CRLF.
func (r *reader) next() ([]byte, error) {
	if r.lines.Scan() {
		r.line++
		return r.lines.Bytes(), nil
	}
	switch err := r.lines.Err(); {
	case err == nil:
		return nil, io.EOF
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("%s:%d: line is longer than %d MiB", r.name, r.line+1, maxLine>>20)
	default:
		return nil, fmt.Errorf("%s:%d: %w", r.name, r.line+1, err)
	}
}

// row reads one row and keeps it unless it is left out.
func (r *reader) row() error {
	line, err := r.next()
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: has %d rows, %d are needed (%d left out, %d sent): use fewer requests",
			r.name, r.seen, r.options.Skip+r.options.Rows, r.options.Skip, r.options.Rows)
	}
	if err != nil {
		return err
	}
	if len(line) == 0 {
		return r.fail(errors.New("empty line"))
	}
	row, err := r.parse(line)
	if err != nil {
		return r.fail(err)
	}
	if r.options.Times && row.At < r.last {
		return r.fail(fmt.Errorf("the time is %v before that of the row above: sort the trace by time", r.last-row.At))
	}
	r.last = row.At
	r.seen++
	if r.seen <= r.options.Skip {
		return nil
	}
	if r.total += row.Input; r.total > maxTotal {
		return r.fail(fmt.Errorf("more than %d prompt tokens up to here: use fewer requests", maxTotal))
	}
	row.Line = r.line
	r.rows = append(r.rows, row)
	return nil
}

func (r *reader) fail(err error) error { return fmt.Errorf("%s:%d: %w", r.name, r.line, err) }

// checkTokens bounds a length of a trace.
func checkTokens(what string, n int64) error {
	if n < 1 || n > maxTokens {
		return fmt.Errorf("%s is %d, want 1 to %d", what, n, maxTokens)
	}
	return nil
}

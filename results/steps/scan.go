package steps

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// MaxLine bounds a line, in bytes with its end. A record is about 1 kB.
const MaxLine = 1 << 20

// File is what Scan learned about one file beside its records.
type File struct {
	Name    string
	Header  Header
	Footer  *Footer // nil: the file does not end with a footer
	Records int64   // newline-terminated records
	Bytes   int64   // uncompressed, torn tail included
	Torn    int     // bytes after the last line end, which were dropped
}

// DamageError says that a step file is not what a recorder writes.
type DamageError struct {
	File   string
	Line   int // 1-based
	Reason string
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason)
}

// Scan reads one uncompressed step file and calls visit for every record with
// its line number. The record is only valid during the call: its memory is
// used again.
//
// A record counts only if its line is terminated; an unterminated tail is
// dropped and its size reported. Everything else that is wrong is a
// *DamageError; an error of visit or of the operating system is returned as it
// is. The File is valid up to the error.
func Scan(name string, r io.Reader, visit func(line int, rec *Record) error) (File, error) {
	s := scanner{file: File{Name: name}, visit: visit, last: -1}
	in := bufio.NewReaderSize(r, MaxLine)
	for {
		line, err := in.ReadSlice('\n')
		s.file.Bytes += int64(len(line))
		switch {
		case err == nil:
			s.line++
			err = s.take(line[:len(line)-1])
		case errors.Is(err, bufio.ErrBufferFull):
			s.line++
			err = s.damaged(fmt.Errorf("the line is longer than %d bytes", MaxLine))
		case err == io.EOF:
			s.file.Torn = len(line)
			return s.file, s.end()
		default:
			s.line++
			err = s.unreadable(err)
		}
		if err != nil {
			return s.file, err
		}
	}
}

// ReadHeader reads the first line of an uncompressed step file.
func ReadHeader(name string, r io.Reader) (Header, error) {
	s := scanner{file: File{Name: name}, line: 1}
	line, err := bufio.NewReaderSize(r, MaxLine).ReadSlice('\n')
	switch {
	case err == io.EOF:
		s.line = 0
		s.file.Torn = len(line)
		err = s.end()
	case err != nil:
		err = s.unreadable(err)
	default:
		err = s.header(line)
	}
	return s.file.Header, err
}

type scanner struct {
	file  File
	visit func(int, *Record) error
	line  int
	fast  canonical
	at    cursor // in the line; here so that it is not allocated for each
	rec   Record
	last  int64 // step index of the record before
}

func (s *scanner) damaged(why error) error {
	return &DamageError{File: s.file.Name, Line: s.line, Reason: why.Error()}
}

// unreadable tells a failing disk, which may be tried again, from damaged
// compressed data, which stays damaged.
func (s *scanner) unreadable(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return fmt.Errorf("read %s: %w", s.file.Name, err)
	}
	return s.damaged(fmt.Errorf("the data cannot be read any further: %w", err))
}

func (s *scanner) end() error {
	if s.line > 0 {
		return nil
	}
	s.line = 1
	if s.file.Torn > 0 {
		return s.damaged(errors.New("no header: the only line is not terminated"))
	}
	return s.damaged(errors.New("no header: the file is empty"))
}

func (s *scanner) take(line []byte) error {
	if s.line > 1 && s.file.Footer == nil && s.fast.record(line, &s.rec) {
		return s.accept()
	}
	kind := kindOf(line)
	switch {
	case s.line == 1:
		return s.header(line)
	case s.file.Footer != nil:
		return s.damaged(errors.New("data after the footer"))
	case kind == "header":
		return s.damaged(errors.New("a second header: two recorders wrote to this file"))
	case kind == "footer":
		return s.footer(line)
	}
	return s.record(line)
}

// kindOf says whether a line is a header or a footer. Only such a line can
// contain one of the two keys at its top level.
func kindOf(line []byte) string {
	kind := ""
	if !bytes.Contains(line, []byte(`"header"`)) && !bytes.Contains(line, []byte(`"footer"`)) {
		return kind
	}
	c := cursor{line: line}
	_ = c.members(func(key []byte) error { // a damaged line is reported by its reader
		if k := string(key); k == "header" || k == "footer" {
			kind = k
		}
		return c.skip(0)
	})
	return kind
}

func (s *scanner) header(line []byte) error {
	if !bytes.Contains(line, []byte(`"header"`)) {
		return s.damaged(errors.New("the first line is no header"))
	}
	return s.parse(line, func(c *cursor) error { return headerFields.read(c, &s.file.Header) })
}

func (s *scanner) footer(line []byte) error {
	var f Footer
	err := s.parse(line, func(c *cursor) error { return footerFields.read(c, &f) })
	if err == nil {
		err = s.sameEngine(f.EngineID)
	}
	if err == nil {
		s.file.Footer = &f
	}
	return err
}

func (s *scanner) record(line []byte) error {
	if err := s.parse(line, func(c *cursor) error { return recordFields.read(c, &s.rec) }); err != nil {
		return err
	}
	s.rec.private = s.at.private
	return s.accept()
}

// accept hands a record over that could be read.
func (s *scanner) accept() error {
	if err := s.sameEngine(s.rec.EngineID); err != nil {
		return err
	}
	if s.rec.StepIndex <= s.last {
		return s.damaged(fmt.Errorf("step_index goes back from %d to %d", s.last, s.rec.StepIndex))
	}
	s.last = s.rec.StepIndex
	s.file.Records++
	return s.visit(s.line, &s.rec)
}

func (s *scanner) sameEngine(id string) error {
	if want := s.file.Header.EngineID; id != want {
		return s.damaged(fmt.Errorf("mixed engine ids: the header says %q, this line %q", want, id))
	}
	return nil
}

// parse reads one object that fills the line.
func (s *scanner) parse(line []byte, read func(*cursor) error) error {
	s.at = cursor{line: line}
	c := &s.at
	err := read(c)
	if err == nil && !c.done() {
		err = c.wrong("data after the end of the object")
	}
	if err == nil {
		return nil
	}
	if i := bytes.LastIndex(line, []byte(`{"schema":`)); i > 0 {
		err = fmt.Errorf("glued records: another one begins at column %d (%w)", i+1, err)
	}
	return s.damaged(err)
}

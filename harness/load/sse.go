package load

import (
	"bytes"
	"errors"
)

// maxLine bounds one line and one event of a stream, in bytes.
const maxLine = 1 << 20

// errHugeLine is the failure of a stream with a line or event above maxLine.
var errHugeLine = errors.New("event stream line or event is longer than 1 MiB")

// events cuts an event stream into events, pushed by the reader of the socket.
// Any split of the bytes gives the same events. It follows the standard
// (https://html.spec.whatwg.org/multipage/server-sent-events.html): lines end in
// LF, CR or CRLF, lines that begin with a colon are comments, the data lines of
// one event are joined by LF, a byte order mark at the start is passed over.
// An event is complete with the first byte that ends its empty line.
type events struct {
	emit    func(data []byte, at int64) // data is valid during the call only
	line    []byte                      // line begun in an earlier push
	data    []byte                      // data lines of the event so far, each with LF
	started bool                        // the first line is through
	afterCR bool                        // a LF at the start of the next push belongs to the last line
}

// push takes the next bytes of the stream, which were read at the given time.
func (e *events) push(b []byte, at int64) error {
	for len(b) > 0 {
		if e.afterCR {
			e.afterCR = false
			if b[0] == '\n' {
				b = b[1:]
				continue
			}
		}
		end := bytes.IndexAny(b, "\r\n")
		if end < 0 {
			return e.keep(b)
		}
		if err := e.keep(b[:end]); err != nil {
			return err
		}
		e.afterCR = b[end] == '\r'
		b = b[end+1:]
		if err := e.endLine(at); err != nil {
			return err
		}
	}
	return nil
}

// keep adds bytes to the open line.
func (e *events) keep(b []byte) error {
	if len(e.line)+len(b) > maxLine {
		return errHugeLine
	}
	e.line = append(e.line, b...)
	return nil
}

func (e *events) endLine(at int64) error {
	line := e.line
	e.line = e.line[:0]
	if !e.started {
		e.started = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	if len(line) == 0 {
		e.dispatch(at)
		return nil
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	if string(name) != "data" {
		return nil // a comment, or a field that carries no data
	}
	if len(e.data)+len(value) > maxLine {
		return errHugeLine
	}
	e.data = append(append(e.data, bytes.TrimPrefix(value, []byte(" "))...), '\n')
	return nil
}

func (e *events) dispatch(at int64) {
	if len(e.data) == 0 {
		return
	}
	e.emit(e.data[:len(e.data)-1], at)
	e.data = e.data[:0]
}

// pending reports whether the stream ended inside an event, which the standard
// discards.
func (e *events) pending() bool { return len(e.line) > 0 || len(e.data) > 0 }

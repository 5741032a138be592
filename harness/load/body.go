package load

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// body undoes the framing of a response body, pushed by the reader of the
// socket. A decoder that pulls, as the one of net/http, may sit on data of one
// read while it waits for the next; then the time stamp would be too late.
type body struct {
	emit  func(data []byte, at int64) error
	state bodyState
	left  int64  // bytes to come of the chunk, or of the whole body
	line  []byte // chunk header or trailer line so far
}

type bodyState int

const (
	plain      bodyState = iota // content-length, left bytes to come
	chunkSize                   // in a chunk header
	chunkData                   // in a chunk, left bytes to come
	chunkClose                  // in the line end after a chunk
	trailer                     // after the last chunk
	complete
)

// maxFrameLine bounds chunk headers and trailers, in bytes.
const maxFrameLine = 4096

var (
	errFraming = errors.New("response has neither a length nor chunks: a cut can't be told from its end")
	errExtra   = errors.New("bytes after the end of the response")
)

// newBody reads the framing from a response's head.
func newBody(resp *http.Response, emit func([]byte, int64) error) (*body, error) {
	b := &body{emit: emit}
	switch {
	case len(resp.TransferEncoding) == 1 && resp.TransferEncoding[0] == "chunked":
		b.state = chunkSize
	case resp.ContentLength > 0:
		b.left = resp.ContentLength
	case resp.ContentLength == 0:
		b.state = complete
	default:
		return nil, errFraming
	}
	return b, nil
}

// push takes the next bytes of the body, which were read at the given time.
func (b *body) push(p []byte, at int64) error {
	for len(p) > 0 {
		var n int
		var err error
		switch b.state {
		case complete:
			return errExtra
		case plain, chunkData:
			n, err = b.content(p, at)
		default:
			n, err = b.frame(p)
		}
		if err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

// content passes on the bytes of the chunk or body that are in p.
func (b *body) content(p []byte, at int64) (int, error) {
	n := int(min(int64(len(p)), b.left))
	b.left -= int64(n)
	if b.left == 0 {
		if b.state == plain {
			b.state = complete
		} else {
			b.state = chunkClose
		}
	}
	return n, b.emit(p[:n], at)
}

// frame takes the bytes of p up to the end of a frame line.
func (b *body) frame(p []byte) (int, error) {
	for i, c := range p {
		if c != '\n' {
			if len(b.line) == maxFrameLine {
				return 0, fmt.Errorf("chunk header is longer than %d bytes", maxFrameLine)
			}
			b.line = append(b.line, c)
			continue
		}
		line := strings.TrimSuffix(string(b.line), "\r")
		b.line = b.line[:0]
		return i + 1, b.frameLine(line)
	}
	return len(p), nil
}

func (b *body) frameLine(line string) error {
	switch {
	case b.state == chunkClose && line != "":
		return fmt.Errorf("chunk is longer than its header says: %.40q follows", line)
	case b.state == chunkClose:
		b.state = chunkSize
	case b.state == trailer && line == "":
		b.state = complete
	case b.state == trailer:
	default:
		return b.chunkHeader(line)
	}
	return nil
}

func (b *body) chunkHeader(line string) error {
	digits, _, _ := strings.Cut(line, ";")
	size, err := strconv.ParseUint(strings.TrimRight(digits, " \t"), 16, 62)
	if err != nil {
		return fmt.Errorf("chunk header %.40q is not a length", line)
	}
	b.state, b.left = chunkData, int64(size)
	if size == 0 {
		b.state = trailer
	}
	return nil
}

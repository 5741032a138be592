package steps

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds the memory of the zstd decoder, in bytes.
const maxWindow = 64 << 20

// Open opens a step file for reading; .gz and .zst files are decompressed.
func Open(files fs.FS, name string) (io.ReadCloser, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open step file: %w", err)
	}
	r, err := decoded(name, f)
	if err != nil {
		f.Close()
		return nil, err
	}
	return stacked{r, f}, nil
}

// decoded is the content of a step file, whose name says how it is stored.
func decoded(name string, stored io.Reader) (io.ReadCloser, error) {
	damaged := func(format string, args ...any) error {
		return &DamageError{File: name, Line: 1, Reason: fmt.Sprintf(format, args...)}
	}
	switch {
	case strings.HasSuffix(name, PackedExt):
		return nil, damaged("a packed file, or a damaged one: opbench layer1 convert makes JSON Lines of it, or says what is wrong")
	case strings.HasSuffix(name, ".gz"):
		z, err := gzip.NewReader(stored)
		if err != nil {
			return nil, damaged("not a gzip file: %v", err)
		}
		return z, nil
	case strings.HasSuffix(name, ".zst"):
		z, err := zstd.NewReader(stored, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, damaged("not a zstd file: %v", err)
		}
		return z.IOReadCloser(), nil
	}
	return io.NopCloser(stored), nil
}

// stacked closes a decoder and the file below it.
type stacked struct {
	io.ReadCloser
	file io.Closer
}

func (s stacked) Close() error { return errors.Join(s.ReadCloser.Close(), s.file.Close()) }

package steps

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds the memory of the zstd decoder, in bytes.
const maxWindow = 64 << 20

// Open opens a step file for reading; .gz and .zst files are decompressed.
func Open(path string) (io.ReadCloser, error) {
	if strings.HasSuffix(path, PackedExt) {
		return nil, &DamageError{File: path, Line: 1, Reason: "a packed file, or a damaged one: opbench layer1 convert makes JSON Lines of it, or says what is wrong"}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open step file: %w", err)
	}
	r, err := decompress(path, f)
	if err != nil {
		f.Close()
		return nil, &DamageError{File: path, Line: 1, Reason: err.Error()}
	}
	return r, nil
}

func decompress(name string, f *os.File) (io.ReadCloser, error) {
	switch {
	case strings.HasSuffix(name, ".gz"):
		z, err := gzip.NewReader(f)
		if err != nil {
			return nil, fmt.Errorf("not a gzip file: %w", err)
		}
		return stacked{z, f, z.Close}, nil
	case strings.HasSuffix(name, ".zst"):
		z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, fmt.Errorf("not a zstd file: %w", err)
		}
		return stacked{z, f, func() error { z.Close(); return nil }}, nil
	}
	return f, nil
}

// stacked closes a decoder and the file below it.
type stacked struct {
	io.Reader
	file    *os.File
	decoder func() error
}

func (s stacked) Close() error {
	err := s.decoder()
	if cerr := s.file.Close(); err == nil {
		err = cerr
	}
	return err
}

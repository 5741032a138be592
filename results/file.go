package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// WriteFile writes data durably: a temporary file, synced, renamed over path,
// and the directory synced. After a crash the file is either absent or whole.
func WriteFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	tmp := f.Name()
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close(), os.Chmod(tmp, 0o644))
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		os.Remove(tmp)
		return fmt.Errorf("write %s: %w", path, err)
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// WriteJSON writes v as indented JSON, durably.
func WriteJSON(path string, v any) error {
	data, err := encodeJSON(v)
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	return WriteFile(path, data)
}

func encodeJSON(v any) ([]byte, error) {
	data, err := json.MarshalIndent(v, "", "  ")
	return append(data, '\n'), err
}

// readJSON decodes one JSON document strictly: nothing may follow it.
func readJSON(f files, name string, v any) error {
	data, err := fs.ReadFile(f, name)
	if err != nil {
		return err
	}
	path := f.path(name)
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(v); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("the file is empty")
		}
		return fmt.Errorf("%s:%d: %w", path, 1+bytes.Count(data[:dec.InputOffset()], []byte("\n")), err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return fmt.Errorf("%s: something follows the JSON document", path)
	}
	return nil
}

// CompressFile replaces path by path.zst and returns the new name. The
// uncompressed file goes only after the compressed one is durable.
func CompressFile(path string) (string, error) {
	in, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer in.Close()
	var buf bytes.Buffer
	if err := compress(&buf, in); err != nil {
		return "", fmt.Errorf("compress %s: %w", path, err)
	}
	if err := WriteFile(path+".zst", buf.Bytes()); err != nil {
		return "", err
	}
	return path + ".zst", os.Remove(path)
}

// NewCompressor compresses to dst as the files of a run directory are.
func NewCompressor(dst io.Writer) (*zstd.Encoder, error) {
	return zstd.NewWriter(dst, zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderConcurrency(1))
}

// compressors are kept: making one takes longer than packing a short file.
var compressors sync.Pool

func compress(dst io.Writer, src io.Reader) error {
	enc, kept := compressors.Get().(*zstd.Encoder)
	if !kept {
		var err error
		if enc, err = NewCompressor(nil); err != nil {
			return err
		}
	}
	enc.Reset(dst)
	_, err := io.Copy(enc, src)
	err = errors.Join(err, enc.Close())
	compressors.Put(enc)
	return err
}

// encodeRequests makes one JSON line of each request, zstd-compressed.
func encodeRequests(requests []Request) ([]byte, error) {
	var raw, packed bytes.Buffer
	enc := json.NewEncoder(&raw)
	for i := range requests {
		if err := enc.Encode(&requests[i]); err != nil {
			return nil, fmt.Errorf("request %d: %w", i, err)
		}
	}
	err := compress(&packed, &raw)
	return packed.Bytes(), err
}

// maxRequestsBytes bounds what a requests file may unpack to: one request line
// is under 1 KB, so this is more than ten million requests.
const maxRequestsBytes = 16 << 30

// readRequests reads the requests file of a run. Errors carry file and line.
func readRequests(files files, name string) ([]Request, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return decodeRequests(files.path(name), f)
}

func decodeRequests(name string, r io.Reader) ([]Request, error) {
	zr, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(512<<20))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer zr.Close()
	dec := json.NewDecoder(io.LimitReader(zr, maxRequestsBytes))
	var out []Request
	for line := 1; ; line++ {
		var q Request
		err := dec.Decode(&q)
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		out = append(out, q)
	}
}

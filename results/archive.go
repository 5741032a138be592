package results

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// ArchiveName is the file in which a published campaign has its plan, its ledger
// and its runs: a tar of regular files, compressed with zstd.
const ArchiveName = "campaign.tar.zst"

// MaxArchive is what a published archive stays below, in bytes: it is part of
// every clone.
const MaxArchive = 15 << 20

// Bounds of what an archive may unpack to, in bytes and files. Most of what it
// holds is compressed already, so these are several times what is published.
const (
	maxUnpacked     = 256 << 20
	maxUnpackedFile = 64 << 20
	maxFiles        = 20_000
	maxName         = 255
	maxWindow       = 64 << 20 // of the decoder
)

var errTooLarge = fmt.Errorf("the archive unpacks to more than %d MiB", maxUnpacked>>20)

// head are the files that an archive begins with, in this order.
var head = []string{"plan.json", "ledger.jsonl"}

// extent is how much of an archive is read.
type extent int

const (
	whole extent = iota
	headOnly
)

// archived reports whether a run directory is that of a published campaign,
// which has its files in an archive.
func archived(dir string) bool {
	if _, err := os.Stat(filepath.Join(dir, "plan.json")); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	_, err := os.Stat(filepath.Join(dir, ArchiveName))
	return err == nil
}

// open gives the files of a run directory; of an archive all of them, or plan
// and ledger only, which come first and cost next to nothing.
func open(dir string, read extent) (files, error) {
	if !archived(dir) {
		return folder(dir), nil
	}
	return readArchive(filepath.Join(dir, ArchiveName), read)
}

// readArchive reads an archive into memory. Whatever is wrong with it is one
// error that names the file.
func readArchive(name string, read extent) (files, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read the archive of a campaign: %w", err)
	}
	defer f.Close()
	content, err := unpack(f, read)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: get or publish it again", name, err)
	}
	return &archive{at: name, content: content}, nil
}

// unpack reads the files of an archive.
func unpack(stored io.Reader, read extent) (map[string][]byte, error) {
	z, err := zstd.NewReader(stored,
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, fmt.Errorf("not a zstd file: %w", err)
	}
	defer z.Close()
	in := &io.LimitedReader{R: z, N: maxUnpacked + 1}
	content, err := untar(in, read)
	switch {
	case in.N <= 0, errors.Is(err, errTooLarge):
		return nil, errTooLarge
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("the archive is cut off after %d files", len(content))
	case err != nil:
		return nil, fmt.Errorf("the archive is damaged after %d files: %w", len(content), err)
	}
	return content, nil
}

func untar(in io.Reader, read extent) (map[string][]byte, error) {
	content, last, left := map[string][]byte{}, "", int64(maxUnpacked)
	for t := tar.NewReader(in); ; {
		if read == headOnly && len(content) == len(head) {
			return content, nil
		}
		h, err := t.Next()
		if err == io.EOF && len(content) >= len(head) {
			return content, nothingFollows(in)
		}
		if err == nil {
			err = acceptable(h, content, last)
		}
		if err == nil && h.Size > left { // a sparse file has more bytes than the tar
			err = errTooLarge
		}
		if err != nil {
			return content, err
		}
		data, err := io.ReadAll(t)
		if err != nil {
			return content, err
		}
		if len(content) >= len(head) {
			last = h.Name
		}
		content[h.Name], left = data, left-h.Size
	}
}

// acceptable refuses what no campaign's archive has. last is the file before it,
// unless that belongs to the head.
func acceptable(h *tar.Header, before map[string][]byte, last string) error {
	n := len(before)
	_, twice := before[h.Name]
	switch {
	case h.Typeflag != tar.TypeReg:
		return fmt.Errorf("%.300q is no regular file (tar type %q)", h.Name, h.Typeflag)
	case !fs.ValidPath(h.Name) || h.Name == "." || strings.Contains(h.Name, `\`) || len(h.Name) > maxName:
		return fmt.Errorf("%.300q is no path inside the archive", h.Name)
	case h.Size > maxUnpackedFile:
		return fmt.Errorf("%q has %d bytes, more than %d MiB", h.Name, h.Size, maxUnpackedFile>>20)
	case n < len(head) && h.Name != head[n]:
		return fmt.Errorf("file %d is %q, want %s: no archive of a campaign", n+1, h.Name, head[n])
	case n >= maxFiles:
		return fmt.Errorf("there are more than %d files", maxFiles)
	case twice:
		return fmt.Errorf("%q is there twice", h.Name)
	case h.Name < last:
		return fmt.Errorf("%q comes after %q: files behind the ledger are sorted", h.Name, last)
	}
	for dir := path.Dir(h.Name); dir != "."; dir = path.Dir(dir) {
		if _, file := before[dir]; file {
			return fmt.Errorf("%q is a file, and the folder of %q", dir, h.Name)
		}
	}
	return nil
}

// nothingFollows reads to the end of the compressed data, whose checksum is
// there: after the tar there may only be the zeros that some programs add.
func nothingFollows(in io.Reader) error {
	buf := make([]byte, 4<<10)
	for {
		n, err := in.Read(buf)
		if strings.Trim(string(buf[:n]), "\x00") != "" {
			return errors.New("something follows the end of the tar")
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

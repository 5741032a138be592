package preflight

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/aituner/opprof/results/steps"
)

// probeOutput looks at the folder for the campaign's files. It may not exist
// yet: then the nearest folder above it counts.
func (m *Machine) probeOutput(folder string) {
	abs, err := filepath.Abs(folder)
	if err != nil {
		m.Output, m.Recorder, m.Free.Err = folder, err, err
		return
	}
	m.Output = abs
	there, err := nearest(abs)
	if err != nil {
		m.Recorder, m.Free.Err = err, err
		return
	}
	m.Free = reading(freeBytes(there))
	m.Recorder = tryRecords(there)
}

// nearest is the closest existing ancestor of a path, or the path itself.
func nearest(path string) (string, error) {
	for {
		st, err := os.Stat(path)
		switch {
		case err == nil && st.IsDir():
			return path, nil
		case err == nil:
			return "", fmt.Errorf("%s is a file", path)
		case !errors.Is(err, fs.ErrNotExist):
			return "", err
		case filepath.Dir(path) == path:
			return "", err
		}
		path = filepath.Dir(path)
	}
}

func freeBytes(dir string) (uint64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("statfs %s: %w", dir, err)
	}
	return st.Bavail * uint64(st.Bsize), nil
}

// tryRecords does what a recorder does in a run directory, and removes it.
func tryRecords(dir string) (err error) {
	run, err := os.MkdirTemp(dir, ".opbench-doctor-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(run)) }()
	folder := filepath.Join(run, steps.Folder)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(folder, "try.jsonl"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, stepBytes))
	return errors.Join(err, f.Sync(), f.Close())
}

// pingLoopback times round trips of one byte over a TCP connection to itself.
func pingLoopback(ctx context.Context, count int) (RoundTrips, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return RoundTrips{}, fmt.Errorf("loopback: %w", err)
	}
	defer l.Close()
	go echo(l)
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", l.Addr().String())
	if err != nil {
		return RoundTrips{}, fmt.Errorf("loopback: %w", err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return RoundTrips{}, fmt.Errorf("loopback: %w", err)
	}
	times := make([]time.Duration, count)
	buf := []byte{0}
	for i := -20; i < count; i++ { // the first ones warm up
		begin := time.Now()
		if _, err := c.Write(buf); err != nil {
			return RoundTrips{}, fmt.Errorf("loopback: %w", err)
		}
		if _, err := io.ReadFull(c, buf); err != nil {
			return RoundTrips{}, fmt.Errorf("loopback: %w", err)
		}
		if i >= 0 {
			times[i] = time.Since(begin)
		}
	}
	slices.Sort(times)
	return RoundTrips{Count: count, P50: times[(count-1)/2], P99: times[(count-1)*99/100]}, nil
}

// echo answers one connection until it ends.
func echo(l net.Listener) {
	c, err := l.Accept()
	if err != nil {
		return
	}
	defer c.Close()
	// Plain reader and writer: else Go splices, which is not what a server does.
	_, _ = io.Copy(struct{ io.Writer }{c}, struct{ io.Reader }{c}) // errors show at the other end
}

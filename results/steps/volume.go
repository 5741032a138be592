package steps

import (
	"io"
	"strings"

	"github.com/aituner/opprof/results"
	"github.com/klauspost/compress/zstd"
)

// Volume is how much a recorder writes, measured from its files, and what that
// comes to at two paces.
type Volume struct {
	BytesPerStep float64 `json:"bytes_per_step"` // header and footer are shared out
	// ZstdRatio is uncompressed to compressed: of a .zst file as it is stored,
	// of any other one as a run directory would store it.
	ZstdRatio  float64 `json:"zstd_ratio"`
	AsRecorded Pace    `json:"as_recorded"`  // with the pauses that the files have
	BackToBack Pace    `json:"back_to_back"` // without them: step follows step, empty runs take no time
}

// Pace is a rate of steps of one engine, and what it writes to disk. A GB is
// 1e9 bytes.
type Pace struct {
	StepsPerSecond float64 `json:"steps_per_second"`
	RawPerHour     float64 `json:"raw_gb_per_hour"`
	RawPerDay      float64 `json:"raw_gb_per_day"`
	ZstdPerHour    float64 `json:"zstd_gb_per_hour"`
	ZstdPerDay     float64 `json:"zstd_gb_per_day"`
}

func (v *Volume) pace(steps, seconds float64) Pace {
	perHour := v.BytesPerStep * steps / seconds * 3600 / 1e9
	return Pace{
		StepsPerSecond: steps / seconds,
		RawPerHour:     perHour, RawPerDay: 24 * perHour,
		ZstdPerHour: perHour / v.ZstdRatio, ZstdPerDay: 24 * perHour / v.ZstdRatio,
	}
}

// volume is nil where the files are too short for a pace, or not whole.
func (s *surveyor) volume() *Volume {
	seconds, bytes, timed, busy := 0.0, 0.0, 0.0, 0.0
	for _, e := range s.out.Engines {
		seconds += e.Seconds
		bytes += float64(e.Bytes)
	}
	for _, t := range s.times {
		timed += float64(t.N)
		busy += t.Sum / 1e9
	}
	records := float64(s.out.Records)
	if damaged(s.out.Checks) || seconds <= 0 || busy <= 0 || s.zstd.n == 0 {
		return nil
	}
	v := &Volume{BytesPerStep: bytes / records, ZstdRatio: bytes / float64(s.zstd.n)}
	v.AsRecorded = v.pace(records, seconds)
	v.BackToBack = v.pace(records, busy*float64(s.levels.n)/timed) // some times are not known
	return v
}

func damaged(checks []results.Check) bool {
	for _, c := range checks {
		if c.ID == "format" && c.Failed > 0 {
			return true
		}
	}
	return false
}

// zstdSize adds up how large files are when compressed: what is stored so
// counts as it is stored, and any other file is compressed while it is read.
type zstdSize struct {
	n   int64
	enc *zstd.Encoder // of the file that is being read; nil if it is compressed
	err error
}

func isZstd(path string) bool { return strings.HasSuffix(path, ".zst") }

// measure returns the content of a file; close must follow when it is read.
func (z *zstdSize) measure(path string, content io.Reader) io.Reader {
	if isZstd(path) {
		return content
	}
	if z.enc, z.err = results.NewCompressor(z); z.err != nil {
		return content
	}
	return io.TeeReader(content, z.enc)
}

func (z *zstdSize) stored(path string, size int64) {
	if isZstd(path) {
		z.n += size
	}
}

// Write counts what the compressor writes.
func (z *zstdSize) Write(p []byte) (int, error) {
	z.n += int64(len(p))
	return len(p), nil
}

func (z *zstdSize) close() error {
	if z.enc == nil {
		return z.err
	}
	err := z.enc.Close()
	z.enc = nil
	return err
}

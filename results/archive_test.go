package results

import (
	"archive/tar"
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stored is one entry of a tar that a test makes.
type stored struct {
	name, text string
	kind       byte // of tar; 0: a regular file
}

// tarred makes an archive of entries, good or bad.
func tarred(t testing.TB, entries ...stored) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := NewCompressor(&b)
	require.NoError(t, err)
	w := tar.NewWriter(z)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Size: int64(len(e.text)), Mode: 0o644, Typeflag: e.kind}
		if e.kind != 0 && e.kind != tar.TypeReg {
			h.Size, h.Linkname = 0, "/etc/passwd"
		}
		require.NoError(t, w.WriteHeader(h))
		if h.Size > 0 {
			_, err := w.Write([]byte(e.text))
			require.NoError(t, err)
		}
	}
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	return b.Bytes()
}

func compressed(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, compress(&b, bytes.NewReader(data)))
	return b.Bytes()
}

// published puts an archive into a folder of its own.
func published(t testing.TB, data []byte) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, ArchiveName), data, 0o644))
	return dir
}

// packedCampaign is a campaign as a folder and as the archive of it.
func packedCampaign(t testing.TB) (dir, archived string) {
	t.Helper()
	dir, archived = someCampaign(t), t.TempDir()
	c, err := Load(dir)
	require.NoError(t, err)
	_, err = Pack(filepath.Join(archived, ArchiveName), c, MaxArchive)
	require.NoError(t, err)
	return dir, archived
}

// What is read from an archive is what was read from the folder, and packing it
// again gives the same bytes: nothing is lost, and no clock or order gets in.
func TestArchiveHoldsTheCampaign(t *testing.T) {
	dir, packed := packedCampaign(t)
	a, err := Load(dir)
	require.NoError(t, err)
	b, err := Load(packed)
	require.NoError(t, err)
	_, err = Pack(filepath.Join(t.TempDir(), ArchiveName), b, MaxArchive)
	require.NoError(t, err)
	again := t.TempDir()
	_, err = Pack(filepath.Join(again, ArchiveName), b, MaxArchive)
	require.NoError(t, err)
	first, err := os.ReadFile(filepath.Join(packed, ArchiveName))
	require.NoError(t, err)
	second, err := os.ReadFile(filepath.Join(again, ArchiveName))
	require.NoError(t, err)
	assert.Equal(t, first, second)
	b.Dir, b.files = a.Dir, a.files
	assert.Equal(t, a, b)
	entries, err := ReadLedger(LedgerPath(packed))
	require.NoError(t, err)
	assert.Equal(t, a.Entries, entries)
}

// The files of an archive behave as those of a folder do, wherever one looks.
func TestArchiveIsAFileSystem(t *testing.T) {
	dir, packed := packedCampaign(t)
	f, err := open(packed, whole)
	require.NoError(t, err)
	var names []string
	require.NoError(t, fs.WalkDir(f, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	}))
	assert.Contains(t, names, "blocks/0001.2/off/requests.jsonl.zst")
	assert.NoError(t, fstest.TestFS(f, names...))
	assert.NoError(t, fstest.TestFS(f.sub("blocks/0001/off"), "run.json", sumsFile))
	for _, name := range names {
		want, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		got, err := fs.ReadFile(f, name)
		require.NoError(t, err)
		assert.Equal(t, want, got, name)
	}
	_, err = f.sub("blocks/0001/off").Open("absent")
	assert.ErrorIs(t, err, fs.ErrNotExist)
	assert.ErrorContains(t, err, ArchiveName+"/blocks/0001/off/absent", "errors name the whole path")
}

// A neighbour costs the first two files of its archive: what comes after them is
// not even looked at.
func TestHeadOfAnArchiveIsEnough(t *testing.T) {
	good, err := os.ReadFile(filepath.Join(func() string { _, d := packedCampaign(t); return d }(), ArchiveName))
	require.NoError(t, err)
	content, err := unpack(bytes.NewReader(good), whole)
	require.NoError(t, err)
	dir := published(t, tarred(t, stored{name: "plan.json", text: string(content["plan.json"])},
		stored{name: ledgerFile, text: string(content[ledgerFile])}, stored{name: "../escape", text: "x"}))
	plan, err := ReadPlan(dir)
	require.NoError(t, err)
	assert.Equal(t, "toy", plan.Scenario.Name)
	entries, err := ReadLedger(LedgerPath(dir))
	require.NoError(t, err)
	assert.Equal(t, EventComplete, entries[len(entries)-1].Event)
	_, err = Load(dir)
	assert.ErrorContains(t, err, `"../escape" is no path inside the archive`)
}

// Whatever is wrong with an archive is one error that names the file and the fault.
func TestLoadRefusesArchives(t *testing.T) {
	_, packed := packedCampaign(t)
	good, err := os.ReadFile(filepath.Join(packed, ArchiveName))
	require.NoError(t, err)
	plan, ledger := stored{name: "plan.json", text: "{}"}, stored{name: ledgerFile}
	with := func(more ...stored) []byte { return tarred(t, append([]stored{plan, ledger}, more...)...) }
	flipped := bytes.Clone(good)
	flipped[len(flipped)/2] ^= 0x40
	plain := func() []byte {
		content, err := unpack(bytes.NewReader(good), whole)
		require.NoError(t, err)
		return content["plan.json"]
	}()
	large := stored{text: string(make([]byte, maxUnpackedFile))}
	var bomb []stored
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		bomb = append(bomb, stored{name: name, text: large.text})
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"an empty file":           {nil, "cut off after 0 files"},
		"no zstd":                 {plain, "damaged after 0 files: invalid input: magic number"},
		"no tar":                  {compressed(t, bytes.Repeat([]byte("x"), 4096)), "damaged after 0 files"},
		"an empty tar":            {tarred(t), "cut off after 0 files"},
		"cut off":                 {good[:len(good)/2], "the archive is cut off"},
		"without its checksum":    {good[:len(good)-4], "the archive is cut off"},
		"a flipped bit":           {flipped, "the archive is damaged"},
		"something behind it":     {append(bytes.Clone(good), compressed(t, []byte("more"))...), "something follows"},
		"rubbish behind it":       {append(bytes.Clone(good), "rubbish"...), "the archive is damaged"},
		"no plan":                 {tarred(t, ledger, stored{name: "run.json"}), `file 1 is "ledger.jsonl", want plan.json`},
		"no ledger":               {tarred(t, plan, stored{name: "run.json"}), `file 2 is "run.json", want ledger.jsonl`},
		"only a plan":             {tarred(t, plan), "cut off after 1 files"},
		"a way out":               {with(stored{name: "blocks/../../x"}), "no path inside"},
		"an absolute path":        {with(stored{name: "/etc/passwd"}), "no path inside"},
		"another system's path":   {with(stored{name: `..\x`}), "no path inside"},
		"a path without an end":   {with(stored{name: strings.Repeat("x/", 200) + "x"}), "no path inside"},
		"a symbolic link":         {with(stored{name: "x", kind: tar.TypeSymlink}), "no regular file"},
		"a hard link":             {with(stored{name: "x", kind: tar.TypeLink}), "no regular file"},
		"a folder":                {with(stored{name: "x/", kind: tar.TypeDir}), "no regular file"},
		"a device":                {with(stored{name: "x", kind: tar.TypeChar}), "no regular file"},
		"a file twice":            {with(stored{name: "x", text: "1"}, stored{name: "x", text: "2"}), `"x" is there twice`},
		"two plans":               {with(plan), `"plan.json" is there twice`},
		"another order":           {with(stored{name: "y"}, stored{name: "x"}), `"x" comes after "y"`},
		"a file that is a folder": {with(stored{name: "x"}, stored{name: "x/y"}), `"x" is a file, and the folder of`},
		"a huge file":             {with(stored{name: "x", text: large.text + "1"}), "more than 64 MiB"},
		"a bomb":                  {with(bomb...), "unpacks to more than 256 MiB"},
	} {
		dir := published(t, c.data)
		_, err := Load(dir)
		assert.ErrorContains(t, err, c.want, name)
		assert.ErrorContains(t, err, filepath.Join(dir, ArchiveName)+": ", name)
	}
}

// A sparse file has more bytes than the tar that it stands in: they count all the same.
func TestArchiveBoundsSparseFiles(t *testing.T) {
	plain := "1\n0\n0\n" // one piece of no bytes: the rest is a hole
	plain += strings.Repeat("\x00", 512-len(plain))
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range head {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg}))
	}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		// The writer makes none: its records of another vendor are renamed below.
		require.NoError(t, w.WriteHeader(&tar.Header{Name: name, Size: 512, Typeflag: tar.TypeReg, PAXRecords: map[string]string{
			"XYZ.sparse.major": "1", "XYZ.sparse.minor": "0", "XYZ.sparse.name": name,
			"XYZ.sparse.realsize": strconv.Itoa(maxUnpackedFile)}}))
		_, err := w.Write([]byte(plain))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	content, err := untar(bytes.NewReader(bytes.ReplaceAll(b.Bytes(), []byte("XYZ."), []byte("GNU."))), whole)
	assert.ErrorIs(t, err, errTooLarge)
	assert.Len(t, content["d"], maxUnpackedFile)
	assert.NotContains(t, content, "e")
}

// An archive may have so many files and no more: each costs memory, however small.
func TestArchiveBoundsItsFiles(t *testing.T) {
	content := map[string][]byte{}
	for i := range maxFiles {
		content[string(rune(i+1))] = nil
	}
	content["plan.json"], content[ledgerFile] = nil, nil
	err := acceptable(&tar.Header{Typeflag: tar.TypeReg, Name: "z"}, content, "")
	assert.ErrorContains(t, err, "more than 20000 files")
}

// A published campaign is read and never written to, and no session works on it.
func TestPublishedCampaignIsNotChanged(t *testing.T) {
	_, dir := packedCampaign(t)
	_, err := OpenLedger(LedgerPath(dir))
	assert.ErrorIs(t, err, ErrPublished)
	assert.ErrorIs(t, Changeable(dir), ErrPublished)
	busy, err := Busy(LedgerPath(dir))
	require.NoError(t, err)
	assert.False(t, busy)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, left, 1, "no ledger was made beside the archive")
	assert.NoError(t, Changeable(someCampaign(t)))
}

// A folder that has a plan of its own is that campaign, whatever lies beside it.
func TestPlanComesBeforeArchive(t *testing.T) {
	dir := someCampaign(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, ArchiveName), []byte("rubbish"), 0o644))
	_, err := Load(dir)
	assert.NoError(t, err)
}

// No input makes the reader fail in another way than by an error, or give a path
// that leads out: neither what is compressed nor what stands in it.
func FuzzUnpack(f *testing.F) {
	good := tarred(f, stored{name: "plan.json", text: "{}"}, stored{name: ledgerFile}, stored{name: "x/y", text: "z"})
	link := tarred(f, stored{name: "plan.json", text: "{}"}, stored{name: ledgerFile}, stored{name: "x", kind: tar.TypeSymlink})
	for _, data := range [][]byte{good, link, nil} {
		f.Add(data)
		f.Add(decompressed(f, data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, read := range []func() (map[string][]byte, error){
			func() (map[string][]byte, error) { return unpack(bytes.NewReader(data), whole) },
			func() (map[string][]byte, error) { return untar(bytes.NewReader(data), whole) },
		} {
			content, err := read()
			if err != nil {
				continue
			}
			for name := range content {
				require.True(t, fs.ValidPath(name), "%q", name)
			}
			_, err = hashTree(&archive{content: content})
			require.NoError(t, err)
		}
	})
}

func decompressed(t testing.TB, data []byte) []byte {
	t.Helper()
	z, err := zstd.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	defer z.Close()
	plain, err := io.ReadAll(z)
	require.NoError(t, err)
	return plain
}

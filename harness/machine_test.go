package harness

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hostWith makes a root folder with these files.
func hostWith(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return root
}

const (
	board        = "sys/class/dmi/id/product_uuid"
	installation = "etc/machine-id"
	lastStart    = "proc/sys/kernel/random/boot_id"
)

// A host keeps its name from run to run, which groups blocks: the order of the
// sources, and how each is written, must never change.
func TestHostID(t *testing.T) {
	const id = "0123456789abcdef0123456789abcdef\n"
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"root on a board", map[string]string{board: "4C4C4544-0042\n", installation: id}, "4c4c4544-0042"},
		{"a user", map[string]string{installation: id, lastStart: "B-1\n"}, "01234567-89ab-cdef-0123-456789abcdef"},
		{"an image before its first start", map[string]string{installation: "uninitialized\n", lastStart: "B-1\n"}, "b-1"},
		{"nothing", nil, ""},
	} {
		assert.Equal(t, c.want, hostID(hostWith(t, c.files)), c.name)
	}
}

// The CPU model and the memory stand in the fingerprint and the report; each kind
// of processor says its model in another place.
func TestCPUModel(t *testing.T) {
	for text, want := range map[string]string{
		"model\t\t: 143\nmodel name\t: Xeon 8468\n\nprocessor\t: 1\nmodel name\t: B\n": "Xeon 8468",
		"processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n":                 "Neoverse-V2",
		"processor\t: 0\nCPU implementer\t: 0xc0\nCPU part\t: 0xac3\n":                 "implementer 0xc0 part 0xac3",
		"processor\t: 0\ncpu\t\t: POWER9, altivec supported\n":                         "POWER9, altivec supported",
		"": "",
	} {
		assert.Equal(t, want, cpuModel(text), text)
	}
}

func TestMemoryBytes(t *testing.T) {
	assert.EqualValues(t, 4096*1024, memoryBytes("Shmem: 1 kB\nMemTotal:        4096 kB\nMemFree: 7 kB\n"))
	assert.Zero(t, memoryBytes(""))
}

// The machine that the tests run on: every fact is there, and two readings agree.
func TestReadMachine(t *testing.T) {
	e, err := readMachine("/")
	require.NoError(t, err)
	assert.Regexp(t, "^[0-9a-f]{12}$", e.Host)
	assert.NotEmpty(t, e.Kernel)
	assert.Positive(t, e.MemoryBytes)
	assert.Positive(t, e.Cores)
	again, err := readMachine("/")
	require.NoError(t, err)
	assert.Equal(t, e, again)
}

package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/aituner/opprof/results"
)

// readMachine describes the host whose /proc, /sys and /etc lie below root.
func readMachine(root string) (results.Environment, error) {
	e := results.Environment{Schema: results.Schema, Kind: "environment", Cores: runtime.NumCPU(),
		CPUModel: cpuModel(readText(root, "proc/cpuinfo")), MemoryBytes: memoryBytes(readText(root, "proc/meminfo"))}
	var uname unix.Utsname
	if err := unix.Uname(&uname); err != nil {
		return e, fmt.Errorf("describe the host: ask for the kernel: %w", err)
	}
	e.Kernel = unix.ByteSliceToString(uname.Release[:])
	name, err := os.Hostname()
	if err != nil {
		return e, fmt.Errorf("describe the host: %w", err)
	}
	sum := sha256.Sum256([]byte(hostID(root) + " " + name)) // published campaigns tell hosts apart without naming them
	e.Host = hex.EncodeToString(sum[:6])
	return e, nil
}

// readText returns what stands in a file below root, nothing if it can't be read.
func readText(root, name string) string {
	data, _ := os.ReadFile(filepath.Join(root, name))
	return string(data)
}

// hostID identifies a host by its board, which only root may read, by its
// installation, or by its last start: the first that is there. A container may
// have none.
func hostID(root string) string {
	if id := firstLine(readText(root, "sys/class/dmi/id/product_uuid")); id != "" {
		return strings.ToLower(id)
	}
	if id := firstLine(readText(root, "etc/machine-id")); len(id) == 32 {
		return strings.Join([]string{id[:8], id[8:12], id[12:16], id[16:20], id[20:]}, "-")
	}
	return strings.ToLower(firstLine(readText(root, "proc/sys/kernel/random/boot_id")))
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(line)
}

// neoverse names Arm's cores for servers, which /proc/cpuinfo has by number only
// (arch/arm64/include/asm/cputype.h): NVIDIA's Grace is a Neoverse-V2.
var neoverse = map[string]string{"0xd0c": "Neoverse-N1", "0xd40": "Neoverse-V1", "0xd49": "Neoverse-N2",
	"0xd4a": "Neoverse-E1", "0xd4f": "Neoverse-V2", "0xd84": "Neoverse-V3", "0xd8e": "Neoverse-N3"}

// cpuModel returns the model of the first processor of a /proc/cpuinfo.
func cpuModel(cpuinfo string) string {
	first, _, _ := strings.Cut(cpuinfo, "\n\n")
	facts := map[string]string{}
	for line := range strings.Lines(first) {
		key, value, _ := strings.Cut(line, ":")
		facts[strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	for _, key := range []string{"model name", "cpu", "uarch"} { // the last two: POWER, RISC-V
		if facts[key] != "" {
			return facts[key]
		}
	}
	maker, part := facts["CPU implementer"], facts["CPU part"]
	if name := neoverse[part]; maker == "0x41" && name != "" {
		return name
	}
	if maker == "" {
		return ""
	}
	return "implementer " + maker + " part " + part
}

// memoryBytes returns the MemTotal of a /proc/meminfo, 0 if there is none.
func memoryBytes(meminfo string) uint64 {
	for line := range strings.Lines(meminfo) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "MemTotal:" {
			kib, _ := strconv.ParseUint(f[1], 10, 64)
			return kib << 10
		}
	}
	return 0
}
